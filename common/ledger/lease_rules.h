// Who may get a server connection, which limit says no, who must give one up, and what is too much once a limit was
// lowered. Pure: counts and limits in, verdicts out; no clock, no shared memory. ledger.h applies it.
//
// A lease is the right to one server connection. It counts from before the connection is opened until the server has ended
// its backend (semantics, rule 21). A pool is a (database, user, node); the limits of a database and of a user hold on each
// node by itself, since a node's slots are what they protect.
//
// Order: the longest waiting comes first, over all children and all pools that a limit binds together. Moments that are
// less than kNearlySame apart count as one, so that a connection does not change hands for nothing (rule 22). Nobody is
// passed over but who was offered a lease and did not come for it within kOfferPatience: it may be stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/enum_text.h"
#include "common/config/effective.h"

namespace weir::ledger {

using config::kNoLimit;

inline constexpr std::int64_t kNearlySameMs = 20;
inline constexpr std::int64_t kOfferPatienceMs = 100;
// A child that was called in and did not give anything is left alone for so long, and another is called.
inline constexpr std::int64_t kCallPatienceMs = 1000;
// A waiter that needs slots of two limits never sees both free while others are quicker: once it has waited this long, a
// slot of each is kept for it during the first quarter of every second.
inline constexpr std::int64_t kClaimAfterMs = 1000;

// Turn: it would be allowed, but others have waited longer for the same slots.
enum class Limit : std::uint8_t { None, Pool, Database, User, Node, Turn };
BOOST_DESCRIBE_ENUM(Limit, None, Pool, Database, User, Node, Turn)

// kNoLimit or how many; 0 lets nobody in.
struct Limits {
  std::int32_t pool_size = kNoLimit;
  std::int32_t reserve_pool_size = 0;
  std::int32_t reserve_after_ms = 0;  // 0: the reserve is not used
  std::int32_t database = kNoLimit;
  std::int32_t user = kNoLimit;
  std::int32_t node = kNoLimit;
  bool operator==(const Limits&) const = default;
};

// Leases that are not free, on the node in question.
struct Counts {
  std::int32_t pool = 0;
  std::int32_t database = 0;
  std::int32_t user = 0;
  std::int32_t node = 0;
};

// Numbers that stand for names: equal if and only if the names are.
struct PoolKey {
  std::uint16_t database = 0;
  std::uint16_t user = 0;
  std::uint16_t node = 0;
  bool operator==(const PoolKey&) const = default;
};

// Do pools A and B draw on the same slots of LIMIT?
bool share(Limit limit, PoolKey a, PoolKey b);

// Limits of (database, user) as the configuration has them; NODE_CEILING from node_ceiling().
Limits limits_of(const config::EffectivePool& pool, std::int32_t node_ceiling);

// How many leases a node can give. MAX_CONNECTIONS and RESERVED as the server has them (0: not known, so no ceiling), SEEN_OTHERS
// connections that are not pgweir's, SERVICE those of pgweir that are no leases. At least 1: with 0 nothing would ever be
// tried again.
std::int32_t node_ceiling(std::int32_t max_connections, std::int32_t reserved, std::int32_t seen_others, std::int32_t service);

struct Verdict {
  Limit refused_by = Limit::None;
  bool from_reserve = false;  // granted beyond pool_size
  bool granted() const { return refused_by == Limit::None; }
  bool operator==(const Verdict&) const = default;
};

// May one more be had by somebody who has waited for WAITED_MS? The order of tests is pool, database, user, node.
Verdict judge(const Counts& counts, const Limits& limits, std::int64_t waited_ms);

// One child that waits for one pool. SINCE is that of its oldest client.
struct Waiter {
  int child = -1;
  PoolKey pool;
  std::int64_t since_ms = 0;
  std::int64_t offered_ms = 0;  // 0: was not offered a lease since it last asked
  Limits limits;
  Counts counts;  // of its pool now
};

// Was it offered a lease that it did not come for?
bool passed_over(const Waiter& waiter, std::int64_t now_ms);

// The verdict on ME among OTHERS (all waiters but me, in any order). Refused by Turn: FIRST is the one of OTHERS who has waited longest.
struct TurnVerdict {
  Verdict verdict;
  std::optional<std::size_t> first;
};
TurnVerdict judge_in_turn(const Waiter& me, std::span<const Waiter> others, std::int64_t now_ms);

// Who of WAITERS should come now, since something became free: the longest waiting of those who would be granted one.
std::optional<std::size_t> next_in_line(std::span<const Waiter> waiters, std::int64_t now_ms);

// A lease that is held (not one that is closing already).
struct Held {
  int child = -1;
  PoolKey pool;
  bool idle = false;
  bool called = false;        // somebody has asked for it already, or it is to go because a limit was lowered
  std::int64_t since_ms = 0;  // idle, or in use, since
};

// Whose lease is asked for, when LIMIT refused ME. An idle one, the longest idle first. Else one in use, to be given when its
// exchange or transaction ends, of the pool (for the limit of one pool: of the child) that holds most, if that is more than
// what ME has; so that those who share a limit come to equal shares. Nothing: all has been asked for, or nobody has more.
std::optional<std::size_t> choose_victim(const Waiter& me, Limit limit, std::span<const Held> held);

// A child was asked for a lease of a pool that its own clients wait for too, the oldest since OWN_SINCE_MS (0: none waits):
// does it give it to the one who waits since SINCE_MS?
bool gives_up(std::int64_t own_since_ms, std::int64_t since_ms);

// Which of HELD must go so that none of the limits is exceeded: indexes, in the order in which they should go. Of each limit
// that is exceeded the longest idle first, then those longest in use. LIMITS_AT gives for each of HELD its pool's limits; the reserve is
// allowed. What is `called` counts as gone already.
std::vector<std::size_t> surplus(std::span<const Held> held, std::span<const Limits> limits_at);

}  // namespace weir::ledger
