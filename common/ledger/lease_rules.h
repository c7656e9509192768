// Who may get a server connection, which limit says no, who must give one up, and what is too much once a limit was
// lowered. Pure: counts and limits in, verdicts out; no clock, no shared memory. ledger.h applies it.
//
// A lease is the right to one server connection. It counts from before the connection is opened until the server has ended
// its backend (semantics, rule 21). A pool is a (database, user, node); the limits of a database and of a user hold on each
// node by itself, since a node's slots are what they protect.
//
// Shares: pools that a limit binds together come to equal shares, and of one pool the children to what their clients ask for. A
// share is what is held, not what was served: who has two more gives one at once, who has one more only when it has had it for a
// slice of time, and then they take turns. That somebody has waited a little longer, or that a connection lies idle for an
// instant between two transactions, moves nothing: a change of hands costs a login, or at least a message.
//
// Order: what came free is for the pool that has least; of equals, for the one whose last gain is the longest ago; in it, for the
// child that has none or least for its clients. Nobody is passed over but who was offered a lease and did not come for it within
// kOfferPatience: it may be stopped.
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

// After a lease has gone from child to child because one had more than the other, the two are left alone for so long.
inline constexpr std::int64_t kSettleMs = 20;
// What lies idle for so long is not in use, whoever holds it.
inline constexpr std::int64_t kUnusedMs = 20;
// How long a pool keeps its only lease, while another has none; and its last one, while another has one less.
inline constexpr std::int64_t kSliceMs = 50;
inline constexpr std::int64_t kEvenOutMs = 250;
// How long a child keeps its only lease of a pool, while another that has as many clients has none: it goes from hand to hand
// without a login.
inline constexpr std::int64_t kChildSliceMs = 10;
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

// What a child has and wants of one pool, as it says itself.
struct Demand {
  std::int32_t held = 0;       // leases
  std::int32_t clients = 1;    // that are served or wait
  std::int64_t gained_ms = 0;  // when it last got a lease; 0: never
};

// One child that waits for one pool. SINCE is that of its oldest client.
struct Waiter {
  int child = -1;
  PoolKey pool;
  std::int64_t since_ms = 0;
  std::int64_t offered_ms = 0;  // 0: was not offered a lease since it last asked
  Limits limits;
  Counts counts;  // of its pool now
  Demand demand = {};
  std::int64_t pool_gained_ms = 0;  // when its pool last got a lease, in whatever child; 0: never
};

// Is what comes free for A rather than for B, who both could have it? A strict order of all who wait: were there a circle, each
// would leave it to another.
bool precedes(const Waiter& a, const Waiter& b);

// Was it offered a lease that it did not come for?
bool passed_over(const Waiter& waiter, std::int64_t now_ms);

// The verdict on ME among OTHERS (all waiters but me, in any order). Refused by Turn: FIRST is the one of OTHERS whose turn it is.
struct TurnVerdict {
  Verdict verdict;
  std::optional<std::size_t> first;
};
TurnVerdict judge_in_turn(const Waiter& me, std::span<const Waiter> others, std::int64_t now_ms);

// Who of WAITERS should come now, since something became free: the first in line of those who would be granted one.
std::optional<std::size_t> next_in_line(std::span<const Waiter> waiters, std::int64_t now_ms);

// A lease that is held (not one that is closing already).
struct Held {
  int child = -1;
  PoolKey pool;
  bool idle = false;
  bool called = false;          // somebody has asked for it already, or it is to go because a limit was lowered
  std::int64_t since_ms = 0;    // idle, or in use, since
  std::int64_t gained_ms = 0;       // since when its child has it, ready for use
  std::int64_t pool_gained_ms = 0;  // since when its pool has it
};

// Whose lease is asked for, when LIMIT refused ME, who has waited beside OTHERS. One that is in use is given when its exchange or
// transaction ends. In this order: what is not in use, the longest idle first; of the pool that has most, if it has more than mine
// for long enough; of the child that has most of my own pool, likewise.
struct Victim {
  std::optional<std::size_t> lease;  // nothing: nobody has more, or not for long enough
  std::int64_t ask_again_ms = 0;     // nothing: when that will be otherwise, as a moment; 0: not by time alone
};
Victim choose_victim(const Waiter& me, Limit limit, std::span<const Held> held, std::span<const Waiter> others, std::int64_t now_ms);

// Which of HELD must go so that none of the limits is exceeded: indexes, in the order in which they should go. Of each limit
// that is exceeded the longest idle first, then those longest in use. LIMITS_AT gives for each of HELD its pool's limits; the reserve is
// allowed. What is `called` counts as gone already.
std::vector<std::size_t> surplus(std::span<const Held> held, std::span<const Limits> limits_at);

}  // namespace weir::ledger
