// The region of the ledger and what is done to it under its mutex: names, sums, rows from free and to free, repair.
// Only ledger*.cc use it.
//
//   part                 changed by                          kept right by
//   Header               whoever has the mutex               sums are made anew from the rows after an owner's death
//   ChildHead, LeaseRow  Free -> Held, Handed -> Adopted, Returned -> Free under the mutex; else that child, or the parent once it is dead
//   WaitRow              Free -> Waiting, Gone -> Free and who is called under the mutex; else that child
//
// All zeros but the mutex is an empty ledger. A row counts by its `state`, which is written last when it comes to life.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/ledger/ledger.h"
#include "common/shmem/node_view.h"
#include "common/shmem/robust_mutex.h"

namespace weir::ledger::detail {

using Name = shmem::FixedText<64>;

// Held: open or being opened. Closing: its server connection is being closed. Handed: on its way to a sibling. Adopted:
// it got there and counts there; the row waits until the giver has seen that. Returned: free but for the sums. Orphan: its
// child died, the parent looks after it.
enum class LeaseState : std::uint32_t { Free, Held, Closing, Handed, Adopted, Returned, Orphan };
enum class WaitState : std::uint32_t { Free, Waiting, Gone };

struct LeaseRow {
  std::atomic<LeaseState> state{LeaseState::Free};
  std::atomic<std::uint32_t> pool{0};        // index in Header::pools
  std::atomic<std::int64_t> since_ms{0};     // idle, in use, closing or orphaned since
  std::atomic<std::int64_t> evict_ms{0};     // to go, since a limit was lowered; 0: no
  std::atomic<std::int32_t> backend_pid{0};
  std::atomic<std::uint32_t> idle{0};
  std::atomic<std::uint32_t> life{0};        // grows with each: what was asked of one must not hit the next
  std::atomic<std::int64_t> gained_ms{0};       // ready for use here since
  std::atomic<std::int64_t> pool_gained_ms{0};  // and since when its pool has it, in whatever child
};

struct WaitRow {
  std::atomic<WaitState> state{WaitState::Free};
  std::atomic<std::uint32_t> pool{0};
  std::atomic<std::int64_t> since_ms{0};
  std::atomic<std::int64_t> offered_ms{0};
  std::atomic<std::int32_t> held{0};  // these three: Demand
  std::atomic<std::int32_t> clients{0};
  std::atomic<std::int64_t> gained_ms{0};
  std::atomic<std::int64_t> called_ms{0};  // when a lease was last asked for; 0: none is
  std::int32_t called_child = -1;          // these only under the mutex
  LeaseId called_lease = -1;
  std::uint32_t called_life = 0;
  Limits limits;
};

struct ChildHead {
  std::atomic<std::uint32_t> leases_used{0};  // rows ever used: those beyond were never touched
  std::atomic<std::uint32_t> waits_used{0};
  std::atomic<std::int32_t> leased{0};        // rows not free
  std::atomic<std::int32_t> waits{0};
  std::atomic<std::uint32_t> unsettled{0};    // rows are Returned or Gone
  std::atomic<std::uint32_t> calls{0};
  std::atomic<std::uint32_t> orphans{0};      // the parent's
};

struct NameRow {
  Name name;
  std::atomic<std::int32_t> pools{0};  // entries of Header::pools that name it
  std::array<std::atomic<std::int32_t>, shmem::kMaxNodes> leased{};
};

struct PoolEntry {
  std::atomic<std::uint64_t> key{0};  // 0: free
  std::atomic<std::int32_t> leased{0};
  std::atomic<std::int32_t> waits{0};
  std::atomic<std::int64_t> gained_ms{0};  // when it last got a lease
};

template <int N>
struct NameTable {
  std::atomic<std::uint32_t> used{0};
  std::array<std::atomic<std::uint64_t>, N> hashes{};  // 0: free
  std::array<NameRow, N> rows{};
};

struct OverrideEntry {
  std::atomic<OverrideKind> kind{OverrideKind::None};
  Name database;
  Name user;
  config::RuntimeLimits limits;
};

struct Header {
  shmem::RobustMutex mutex;
  std::atomic<std::int32_t> holder{0};         // pid
  std::atomic<std::int64_t> held_since_ms{0};  // 0: nobody
  std::int32_t children = 0;
  std::int32_t leases_per_child = 0;
  std::atomic<std::uint32_t> unsettled{0};
  std::atomic<std::uint64_t> overrides_epoch{0};
  std::array<OverrideEntry, Ledger::kMaxOverrides> overrides{};
  std::array<std::atomic<std::int32_t>, shmem::kMaxNodes> leased{};
  std::atomic<std::uint32_t> pools_used{0};
  std::array<PoolEntry, Ledger::kMaxPools> pools{};
  NameTable<Ledger::kMaxDatabases> databases;
  NameTable<Ledger::kMaxUsers> users;
};

struct Region {
  static std::size_t bytes(const LedgerPlan& plan);
  static ChildHead& head(Header& header, int slot);
  static std::span<LeaseRow> leases(Header& header, int slot);
  static std::span<WaitRow> waits(Header& header, int slot);
  // Rows ever used; what a process that went wrong has counted is cut to the table's length.
  static std::span<LeaseRow> used_leases(Header& header, int slot);
  static std::span<WaitRow> used_waits(Header& header, int slot);
};

PoolKey pool_key(std::uint64_t packed);

// The mutex, for a scope, and the books while it is held. The first thing that is done is to repair (after an owner's
// death) and to settle what was returned.
class Books {
 public:
  Books(Header& header, StepHook hook);
  ~Books();
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  bool held() const { return lock_.held(); }
  // Leases that came free by settling.
  int freed() const { return freed_; }

  // Nothing: there is no room for the names, although unused ones were forgotten.
  std::optional<std::uint32_t> pool(const PoolName& name);
  PoolKey key_of(std::uint32_t pool) const { return pool_key(header_.pools[pool].key.load(std::memory_order_relaxed)); }
  Counts counts(std::uint32_t pool) const;
  std::string_view database_name(PoolKey key) const { return header_.databases.rows[key.database].name.view(); }
  std::string_view user_name(PoolKey key) const { return header_.users.rows[key.user].name.view(); }

  // A row of SLOT comes to life, in use; -1: there is none.
  LeaseId add_lease(int slot, std::uint32_t pool, std::int64_t now_ms);
  // The lease GIVEN of a sibling comes to life in a row of SLOT; both rows count.
  LeaseId copy_lease(int slot, const LeaseRow& given, std::int64_t now_ms);
  void free_lease(int slot, LeaseRow& row);
  // Out of the sums, for a row that is in a state that does not count any more.
  void uncount(int slot, const LeaseRow& row);
  WaitId add_wait(int slot, std::uint32_t pool, std::int64_t since_ms);
  void free_wait(int slot, WaitRow& row);

  // All that wait, but for row SELF of SLOT; on NODE, or on all (-1). ROWS: where they stand.
  void waiters(int slot, WaitId self, int node, std::vector<Waiter>& into, std::vector<WaitRow*>& rows) const;
  // Marks those who should come now as offered, as many as became free.
  void wake_next(std::int64_t now_ms, Wakes& wakes);

  void recount();
  std::string differences();
  void step(Step step) const {
    if (hook_ != nullptr) hook_(step);
  }

 private:
  LeaseId fill_lease(int slot, std::uint32_t pool, std::int64_t now_ms, std::int64_t pool_gained_ms, std::int32_t backend_pid);
  template <int N>
  std::optional<std::uint16_t> name(NameTable<N>& table, std::string_view text);
  std::optional<std::uint32_t> try_pool(const PoolName& name);
  void forget_unused();
  void settle();
  void settle_child(int slot);
  void add_to_sums(std::uint32_t pool, int change);

  Header& header_;
  StepHook hook_;
  shmem::RobustLock lock_;
  int freed_ = 0;
};

}  // namespace weir::ledger::detail
