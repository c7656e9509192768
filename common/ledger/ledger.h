// The one account of all server connections, in shared memory: which child holds how many for whom, who waits, who is asked
// to give one up. lease_rules.h decides; this keeps the books.
//
// Rows: every child has lease rows and waiting rows. The steps of a row from free and to free are made under one robust
// mutex; all others by its owner alone, with a plain atomic store. Sums (per pool, database, user and node) are a summary of
// the rows; when the owner of the mutex died they are made anew from the rows. Nobody ever waits for the mutex: an operation
// that finds it taken returns Busy and is repeated by a timer of the caller. What gives something back never fails: it is
// noted in the row and settled by whoever has the mutex next. A connection that a child holds already is taken from its
// cache and given to a client without any of this: mark_idle and mark_in_use are single stores.
//
// All moments are milliseconds of the monotonic clock (base/clock.h). Slots are child slots, 0 ... children - 1. A name longer
// than 63 bytes is cut, as servers do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/effective.h"
#include "common/ledger/lease_rules.h"

namespace weir::ledger {

namespace detail {
struct Header;
struct WaitRow;
class Books;
// Places at which tests kill a process that has the mutex.
enum class Step : std::uint8_t { Locked, NameWritten, RowFilled, RowHeld, Summed, Settling, Adopting, OverrideHalf };
using StepHook = void (*)(Step);
}  // namespace detail

struct LedgerPlan {
  int children = 1;
  int leases_per_child = 1024;
};

struct PoolName {
  std::string_view database;
  std::string_view user;  // config::pool_user()
  int node = 0;
};

// A lease row of a child; -1 none. Good until it is returned.
using LeaseId = std::int32_t;
// A waiting row of a child; -1 none.
using WaitId = std::int32_t;

enum class Outcome : std::uint8_t {
  Done,
  Refused,  // see refused_by
  Busy,     // somebody has the mutex: again in a moment
  Stale,    // limits were set at run time since the caller read them: read_overrides() and again
  Full      // no row or no room for another name: an error for this client
};
BOOST_DESCRIBE_ENUM(Outcome, Done, Refused, Busy, Stale, Full)

// Children that the caller wakes: one is asked for a lease, or something became free for it.
struct Wakes {
  std::int32_t children[4] = {-1, -1, -1, -1};
  int count = 0;
  void add(int child);
};

struct AcquireRequest {
  PoolName pool;
  Limits limits;                     // limits_of(effective_pool(...), node_ceiling(...))
  std::uint64_t overrides_epoch = 0;  // at which the limits were computed
  std::int64_t since_ms = 0;         // since when the oldest client waits
  Demand demand;                     // of this child in that pool
  WaitId wait = -1;                  // the row that an earlier refusal gave
  bool may_wait = true;              // false: a try (min_pool_size, a standby: rule 12): no row, nobody is asked for anything
};

struct AcquireResult {
  Outcome outcome = Outcome::Refused;
  Limit refused_by = Limit::None;
  LeaseId lease = -1;        // Done: held from now on; the waiting row is gone
  bool from_reserve = false;
  WaitId wait = -1;          // Refused or Busy or Stale: to be given with the next try, or to stop_waiting()
  std::int64_t ask_again_ms = 0;  // Refused: at this moment somebody will have to give one up; 0: not known
  Wakes wakes;
};

// A lease of mine that is to go to somebody else, who has less: choose_victim(). Give up any lease of that pool, at best this
// one: an idle one at once, one in use when it comes free, whoever waits for it here.
struct CallIn {
  LeaseId lease = -1;
  bool same_pool = false;      // the waiter could use the connection itself: hand_over()
  int waiter_child = -1;
  WaitId waiter_wait = -1;
  std::int64_t since_ms = 0;   // since when the other waits
  std::int64_t called_ms = 0;  // when it was asked for
  // What was given for one of them is not given for the other again.
  bool is_same(const CallIn& other) const {
    return waiter_child == other.waiter_child && waiter_wait == other.waiter_wait && called_ms == other.called_ms;
  }
};

// A lease of mine that is over a limit that was lowered: close it once it is idle, by force after a time from `since_ms` on.
struct Eviction {
  LeaseId lease = -1;
  std::int64_t since_ms = 0;
};

// A lease of a child that died: its server connection may live on.
struct Orphan {
  int slot = -1;
  LeaseId lease = -1;
  int node = -1;
  std::int32_t backend_pid = 0;  // 0: not known, it was not logged in
  std::int64_t since_ms = 0;
};

// Sums of a pool, for SHOW.
struct PoolRow {
  std::string database;
  std::string user;
  int node = -1;
  std::int32_t leased = 0;  // held or closing
  std::int32_t waiting = 0;  // children that wait for it
};

enum class OverrideKind : std::uint8_t { None, Pool, User, Database };
BOOST_DESCRIBE_ENUM(OverrideKind, None, Pool, User, Database)

struct Override {
  OverrideKind kind = OverrideKind::None;
  std::string database;  // of Pool and Database
  std::string user;      // of Pool and User
  config::RuntimeLimits limits;
};

class Ledger {
 public:
  static constexpr int kMaxDatabases = 1024;
  static constexpr int kMaxUsers = 2048;
  static constexpr int kMaxPools = 8192;
  static constexpr int kMaxOverrides = 256;
  static constexpr int kWaitsPerChild = 256;

  // Of the region that `create` needs, for shmem::MappingPlan::ledger_bytes.
  static std::size_t bytes(const LedgerPlan& plan);
  // The parent, before its first fork: MEMORY are zeros, page-aligned, at least bytes(plan).
  static Ledger create(std::span<std::byte> memory, const LedgerPlan& plan);

  // ---- a child, for itself (SLOT is its own) ----
  // Asks for a lease before a server connection is opened.
  AcquireResult acquire(int slot, const AcquireRequest& request, std::int64_t now_ms);
  // Its client gave up, or was served by a connection that came back. Never fails. The row must not be used any more.
  void stop_waiting(int slot, WaitId wait);
  // Another client is the oldest now, or DEMAND has changed.
  void set_waiting_since(int slot, WaitId wait, std::int64_t since_ms, const Demand& demand);

  // One store each; a new lease is in use.
  void mark_idle(int slot, LeaseId lease, std::int64_t now_ms);
  void mark_in_use(int slot, LeaseId lease, std::int64_t now_ms);
  // After the login, for the case that this child dies.
  void set_backend_pid(int slot, LeaseId lease, std::int32_t pid);
  // The login is over: from now on its holder makes use of it.
  void mark_ready(int slot, LeaseId lease, std::int64_t now_ms);
  // The connection is being closed: it counts until give_back().
  void begin_closing(int slot, LeaseId lease, std::int64_t now_ms);
  // The server has ended that backend (EOF, or its pid is no longer seen), or it never came to be. Never fails; the lease must not be used
  // any more. Returns whom to wake.
  Wakes give_back(int slot, LeaseId lease, std::int64_t now_ms);

  // Grows when something is asked of this child: one load. Then look at call_ins() and evictions().
  std::uint32_t calls(int slot) const;
  // False: Busy.
  bool call_ins(int slot, std::int64_t now_ms, std::vector<CallIn>& into);
  void evictions(int slot, std::vector<Eviction>& into);
  // Is LEASE marked to go? One load.
  bool is_evicted(int slot, LeaseId lease) const;

  // Handing a connection to a sibling: the giver marks the lease, then sends the descriptor; the taker adopts it when it has got it and has
  // thereby the lease that WAIT waited for (-1: none). The giver asks adopted() until it is true: from then on the lease is no more. When
  // that takes too long it goes on with begin_closing(), after which adopt() is refused.
  void hand_over(int slot, LeaseId lease, std::int64_t now_ms);
  bool adopted(int slot, LeaseId lease);
  // It took too long: held again, and nobody can adopt it any more. False: somebody has just done so.
  bool take_back(int slot, LeaseId lease, std::int64_t now_ms);
  // Done, Busy, Full, or Refused: it is not (any more) on its way, or not one of POOL.
  AcquireResult adopt(int slot, int giver, LeaseId lease, const PoolName& pool, WaitId wait, std::int64_t now_ms);

  // ---- limits set at run time ----
  std::uint64_t overrides_epoch() const;
  // All of them, and the epoch they are of. False: Busy.
  bool read_overrides(std::vector<Override>& into, std::uint64_t& epoch);
  // Done, Busy or Full; Stale: READ_AT is given, and they have changed since they were of that epoch. All -1 takes the entry
  // away. The caller then wakes all children.
  Outcome set_override(const Override& override, std::optional<std::uint64_t> read_at = std::nullopt);

  // ---- anybody, once a second or when limits changed ----
  // Marks what is over a limit (evictions()) and unmarks what no longer is. LIMITS_OF: of (database, user, node) as the caller knows them.
  using LimitsOf = std::function<Limits(const PoolName&)>;
  struct SurplusResult {
    Outcome outcome = Outcome::Done;
    std::vector<int> wake;  // children with something to evict
    bool again = false;     // some were on their way from child to child: they are judged the next time
  };
  SurplusResult mark_surplus(const LimitsOf& limits_of, std::int64_t now_ms);

  // ---- the parent ----
  // The child of SLOT is gone: its leases become orphans, its waiting ends. Done or Busy (again later; a new child may start meanwhile only
  // after Done).
  Outcome reclaim(int slot, std::int64_t now_ms, Wakes& wakes);
  std::vector<Orphan> orphans();
  // Its backend is gone.
  Wakes free_orphan(int slot, LeaseId lease, std::int64_t now_ms);
  // The process that has had the mutex for longer than that, because it is stopped; 0: nobody. The parent makes sure that it is a living
  // child of its own before it kills it: a dead owner's pid stands here until the next one comes.
  std::int32_t stuck_holder(std::int64_t now_ms, std::int64_t longer_than_ms) const;

  // ---- SHOW, and tests ----
  // Nothing while the mutex is taken.
  std::vector<PoolRow> pools();
  std::int32_t leased_on(int node) const;
  // Compares sums and rows, for tests: empty if they agree, else what differs, or "busy".
  std::string audit();

 private:
  friend struct LedgerTest;

  explicit Ledger(detail::Header* header) : header_(header) {}
  void wait_for(detail::Books& books, int slot, const AcquireRequest& request, const Waiter& me, std::uint32_t pool, std::int64_t now_ms,
                AcquireResult& result);
  void call_in(detail::Books& books, const Waiter& me, Limit limit, detail::WaitRow& row, std::int64_t now_ms, AcquireResult& result);
  void collect_held(Limit limit, PoolKey pool, const detail::WaitRow& mine, std::int64_t now_ms);

  detail::Header* header_;
  detail::StepHook hook_ = nullptr;
  // Room that is kept: these are filled under the mutex.
  std::vector<Waiter> waiters_;
  std::vector<detail::WaitRow*> wait_rows_;
  std::vector<Held> held_;
  std::vector<LeaseId> held_rows_;
};

}  // namespace weir::ledger
