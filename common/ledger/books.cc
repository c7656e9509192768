#include "common/ledger/books.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "common/base/check.h"
#include "common/base/clock.h"

namespace weir::ledger::detail {
namespace {

constexpr std::size_t kPage = 4096;
// What the mutex guards takes microseconds; longer than this it is not waited for.
constexpr int kLockTries = 300;
constexpr auto kRelaxed = std::memory_order_relaxed;

constexpr std::size_t whole_pages(std::size_t value) { return (value + kPage - 1) / kPage * kPage; }

std::size_t leases_offset(int children) { return whole_pages(sizeof(Header)) + whole_pages(sizeof(ChildHead) * static_cast<std::size_t>(children)); }
std::size_t leases_size(int leases) { return whole_pages(sizeof(LeaseRow) * static_cast<std::size_t>(leases)); }
constexpr std::size_t kWaitsSize = whole_pages(sizeof(WaitRow) * Ledger::kWaitsPerChild);

std::byte* rows_of(Header& header, int slot) {
  WEIR_CHECK(slot >= 0 && slot < header.children);
  auto* base = reinterpret_cast<std::byte*>(&header) + leases_offset(header.children);
  return base + (leases_size(header.leases_per_child) + kWaitsSize) * static_cast<std::size_t>(slot);
}

// FNV-1a; never 0.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return hash != 0 ? hash : 1;
}

std::uint64_t packed(PoolKey key) { return (std::uint64_t{1} << 63U) | std::uint64_t{key.database} << 32U | std::uint64_t{key.user} << 16U | key.node; }

template <typename Row>
std::uint32_t pool_of(const Row& row) {
  return row.pool.load(kRelaxed) % static_cast<std::uint32_t>(Ledger::kMaxPools);
}

bool is_counted(LeaseState state) { return state != LeaseState::Free && state != LeaseState::Adopted; }

}  // namespace

PoolKey pool_key(std::uint64_t packed) {
  // Cut to the tables: a process whose memory went wrong must not take others along.
  const auto part = [&](unsigned shift, int size) { return static_cast<std::uint16_t>((packed >> shift & 0xffffU) % static_cast<unsigned>(size)); };
  return {part(32, Ledger::kMaxDatabases), part(16, Ledger::kMaxUsers), part(0, shmem::kMaxNodes)};
}

std::size_t Region::bytes(const LedgerPlan& plan) {
  return leases_offset(plan.children) + (leases_size(plan.leases_per_child) + kWaitsSize) * static_cast<std::size_t>(plan.children);
}

ChildHead& Region::head(Header& header, int slot) {
  WEIR_CHECK(slot >= 0 && slot < header.children);
  auto* heads = reinterpret_cast<std::byte*>(&header) + whole_pages(sizeof(Header));
  return *std::launder(reinterpret_cast<ChildHead*>(heads + sizeof(ChildHead) * static_cast<std::size_t>(slot)));
}

std::span<LeaseRow> Region::leases(Header& header, int slot) {
  return {std::launder(reinterpret_cast<LeaseRow*>(rows_of(header, slot))), static_cast<std::size_t>(header.leases_per_child)};
}

std::span<WaitRow> Region::waits(Header& header, int slot) {
  auto* rows = rows_of(header, slot) + leases_size(header.leases_per_child);
  return {std::launder(reinterpret_cast<WaitRow*>(rows)), static_cast<std::size_t>(Ledger::kWaitsPerChild)};
}

std::span<LeaseRow> Region::used_leases(Header& header, int slot) {
  const auto rows = leases(header, slot);
  return rows.first(std::min<std::size_t>(rows.size(), head(header, slot).leases_used.load(std::memory_order_acquire)));
}

std::span<WaitRow> Region::used_waits(Header& header, int slot) {
  const auto rows = waits(header, slot);
  return rows.first(std::min<std::size_t>(rows.size(), head(header, slot).waits_used.load(std::memory_order_acquire)));
}

Books::Books(Header& header, StepHook hook) : header_(header), hook_(hook), lock_(header.mutex, kLockTries) {
  if (!held()) return;
  // In this order: stuck_holder() must never take the time of one for that of another.
  header_.held_since_ms.store(0, std::memory_order_release);
  header_.holder.store(::getpid(), std::memory_order_release);
  header_.held_since_ms.store(monotonic_milliseconds(monotonic_now()), std::memory_order_release);
  if (lock_.owner_died()) {
    recount();
    header_.unsettled.store(1, kRelaxed);
    for (int slot = 0; slot < header_.children; ++slot) Region::head(header_, slot).unsettled.store(1, kRelaxed);
    header_.overrides_epoch.fetch_add(1, std::memory_order_release);  // it may have died while it changed one
  }
  step(Step::Locked);
  settle();
}

Books::~Books() {
  if (held()) header_.held_since_ms.store(0, std::memory_order_release);
}

void Books::settle() {
  if (header_.unsettled.exchange(0, std::memory_order_acq_rel) == 0) return;
  step(Step::Settling);
  for (int slot = 0; slot < header_.children; ++slot) {
    if (Region::head(header_, slot).unsettled.exchange(0, std::memory_order_acq_rel) != 0) settle_child(slot);
  }
}

void Books::settle_child(int slot) {
  for (LeaseRow& row : Region::used_leases(header_, slot)) {
    if (row.state.load(std::memory_order_acquire) != LeaseState::Returned) continue;
    free_lease(slot, row);
    ++freed_;
  }
  for (WaitRow& row : Region::used_waits(header_, slot)) {
    if (row.state.load(std::memory_order_acquire) == WaitState::Gone) free_wait(slot, row);
  }
}

void Books::add_to_sums(std::uint32_t pool, int change) {
  const PoolKey key = key_of(pool);
  header_.pools[pool].leased.fetch_add(change, kRelaxed);
  header_.databases.rows[key.database].leased[key.node].fetch_add(change, kRelaxed);
  header_.users.rows[key.user].leased[key.node].fetch_add(change, kRelaxed);
  header_.leased[key.node].fetch_add(change, kRelaxed);
}

Counts Books::counts(std::uint32_t pool) const {
  const PoolKey key = key_of(pool);
  return {header_.pools[pool].leased.load(kRelaxed), header_.databases.rows[key.database].leased[key.node].load(kRelaxed),
          header_.users.rows[key.user].leased[key.node].load(kRelaxed), header_.leased[key.node].load(kRelaxed)};
}

LeaseId Books::add_lease(int slot, std::uint32_t pool, std::int64_t now_ms) {
  header_.pools[pool].gained_ms.store(now_ms, kRelaxed);
  return fill_lease(slot, pool, now_ms, now_ms, 0);
}

LeaseId Books::copy_lease(int slot, const LeaseRow& given, std::int64_t now_ms) {
  return fill_lease(slot, pool_of(given), now_ms, given.pool_gained_ms.load(kRelaxed), given.backend_pid.load(kRelaxed));
}

LeaseId Books::fill_lease(int slot, std::uint32_t pool, std::int64_t now_ms, std::int64_t pool_gained_ms, std::int32_t backend_pid) {
  ChildHead& head = Region::head(header_, slot);
  const auto rows = Region::leases(header_, slot);
  const auto free = std::find_if(rows.begin(), rows.end(), [](const LeaseRow& row) { return row.state.load(kRelaxed) == LeaseState::Free; });
  if (free == rows.end()) return -1;
  const auto index = static_cast<std::uint32_t>(free - rows.begin());
  free->pool.store(pool, kRelaxed);
  free->since_ms.store(now_ms, kRelaxed);
  free->evict_ms.store(0, kRelaxed);
  free->backend_pid.store(backend_pid, kRelaxed);
  free->idle.store(0, kRelaxed);
  free->life.fetch_add(1, kRelaxed);
  free->gained_ms.store(now_ms, kRelaxed);
  free->pool_gained_ms.store(pool_gained_ms, kRelaxed);
  if (index >= head.leases_used.load(kRelaxed)) head.leases_used.store(index + 1, std::memory_order_release);
  step(Step::RowFilled);
  free->state.store(LeaseState::Held, std::memory_order_release);
  step(Step::RowHeld);
  add_to_sums(pool, 1);
  head.leased.fetch_add(1, kRelaxed);
  step(Step::Summed);
  return static_cast<LeaseId>(index);
}

void Books::free_lease(int slot, LeaseRow& row) {
  row.state.store(LeaseState::Free, std::memory_order_release);
  uncount(slot, row);
}

void Books::uncount(int slot, const LeaseRow& row) {
  add_to_sums(pool_of(row), -1);
  Region::head(header_, slot).leased.fetch_sub(1, kRelaxed);
}

WaitId Books::add_wait(int slot, std::uint32_t pool, std::int64_t since_ms) {
  ChildHead& head = Region::head(header_, slot);
  const auto rows = Region::waits(header_, slot);
  const auto free = std::find_if(rows.begin(), rows.end(), [](const WaitRow& row) { return row.state.load(kRelaxed) == WaitState::Free; });
  if (free == rows.end()) return -1;
  const auto index = static_cast<std::uint32_t>(free - rows.begin());
  free->pool.store(pool, kRelaxed);
  free->since_ms.store(since_ms, kRelaxed);
  free->offered_ms.store(0, kRelaxed);
  free->called_ms.store(0, kRelaxed);
  free->called_child = -1;
  free->called_lease = -1;
  if (index >= head.waits_used.load(kRelaxed)) head.waits_used.store(index + 1, std::memory_order_release);
  free->state.store(WaitState::Waiting, std::memory_order_release);
  header_.pools[pool].waits.fetch_add(1, kRelaxed);
  head.waits.fetch_add(1, kRelaxed);
  return static_cast<WaitId>(index);
}

void Books::free_wait(int slot, WaitRow& row) {
  row.state.store(WaitState::Free, std::memory_order_release);
  header_.pools[pool_of(row)].waits.fetch_sub(1, kRelaxed);
  Region::head(header_, slot).waits.fetch_sub(1, kRelaxed);
}

void Books::waiters(int slot, WaitId self, int node, std::vector<Waiter>& into, std::vector<WaitRow*>& rows) const {
  into.clear();
  rows.clear();
  for (int child = 0; child < header_.children; ++child) {
    if (Region::head(header_, child).waits.load(kRelaxed) == 0) continue;
    const auto used = Region::used_waits(header_, child);
    for (std::size_t i = 0; i < used.size(); ++i) {
      WaitRow& row = used[i];
      if (row.state.load(std::memory_order_acquire) != WaitState::Waiting || (child == slot && static_cast<WaitId>(i) == self)) continue;
      const std::uint32_t pool = pool_of(row);
      const PoolKey key = key_of(pool);
      if (node >= 0 && key.node != node) continue;
      into.push_back({child, key, row.since_ms.load(kRelaxed), row.offered_ms.load(kRelaxed), row.limits, counts(pool),
                      {row.held.load(kRelaxed), row.clients.load(kRelaxed), row.gained_ms.load(kRelaxed)}, header_.pools[pool].gained_ms.load(kRelaxed)});
      rows.push_back(&row);
    }
  }
}

void Books::wake_next(std::int64_t now_ms, Wakes& wakes) {
  if (freed_ == 0) return;
  std::vector<Waiter> waiting;
  std::vector<WaitRow*> rows;
  waiters(-1, -1, -1, waiting, rows);
  for (int left = std::min(freed_, 3); left > 0; --left) {
    const auto next = next_in_line(waiting, now_ms);
    if (!next) return;
    if (rows[*next]->offered_ms.load(kRelaxed) == 0) rows[*next]->offered_ms.store(now_ms, kRelaxed);
    wakes.add(waiting[*next].child);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(*next));
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(*next));
  }
}

template <int N>
std::optional<std::uint16_t> Books::name(NameTable<N>& table, std::string_view text) {
  Name wanted;
  wanted.assign(text);
  const std::uint64_t hash = hash_of(wanted.view());
  const std::uint32_t used = std::min<std::uint32_t>(table.used.load(kRelaxed), N);
  std::uint32_t free = used;
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t there = table.hashes[i].load(kRelaxed);
    if (there == hash && table.rows[i].name.chars == wanted.chars) return static_cast<std::uint16_t>(i);
    if (there == 0) free = std::min(free, i);
  }
  if (free >= N) return std::nullopt;
  table.rows[free].name = wanted;
  step(Step::NameWritten);
  table.hashes[free].store(hash, std::memory_order_release);
  if (free == used) table.used.store(used + 1, std::memory_order_release);
  return static_cast<std::uint16_t>(free);
}

std::optional<std::uint32_t> Books::try_pool(const PoolName& wanted) {
  const auto database = name(header_.databases, wanted.database);
  const auto user = name(header_.users, wanted.user);
  if (!database || !user) return std::nullopt;
  const std::uint64_t key = packed({*database, *user, static_cast<std::uint16_t>(wanted.node)});
  const std::uint32_t used = std::min<std::uint32_t>(header_.pools_used.load(kRelaxed), Ledger::kMaxPools);
  std::uint32_t free = used;
  for (std::uint32_t i = 0; i < used; ++i) {
    const std::uint64_t there = header_.pools[i].key.load(kRelaxed);
    if (there == key) return i;
    if (there == 0) free = std::min(free, i);
  }
  if (free >= static_cast<std::uint32_t>(Ledger::kMaxPools)) return std::nullopt;
  header_.databases.rows[*database].pools.fetch_add(1, kRelaxed);
  header_.users.rows[*user].pools.fetch_add(1, kRelaxed);
  header_.pools[free].gained_ms.store(0, kRelaxed);
  header_.pools[free].key.store(key, std::memory_order_release);
  if (free == used) header_.pools_used.store(used + 1, std::memory_order_release);
  return free;
}

std::optional<std::uint32_t> Books::pool(const PoolName& wanted) {
  if (wanted.node < 0 || wanted.node >= shmem::kMaxNodes) return std::nullopt;
  if (const auto found = try_pool(wanted)) return found;
  forget_unused();
  return try_pool(wanted);
}

// Pools without leases and waiters, and names without pools.
void Books::forget_unused() {
  const std::uint32_t used = std::min<std::uint32_t>(header_.pools_used.load(kRelaxed), Ledger::kMaxPools);
  for (std::uint32_t i = 0; i < used; ++i) {
    PoolEntry& entry = header_.pools[i];
    if (entry.key.load(kRelaxed) == 0 || entry.leased.load(kRelaxed) != 0 || entry.waits.load(kRelaxed) != 0) continue;
    const PoolKey key = key_of(i);
    entry.key.store(0, kRelaxed);
    header_.databases.rows[key.database].pools.fetch_sub(1, kRelaxed);
    header_.users.rows[key.user].pools.fetch_sub(1, kRelaxed);
  }
  const auto forget = [](auto& table) {
    const std::uint32_t count = std::min<std::uint32_t>(table.used.load(kRelaxed), static_cast<std::uint32_t>(table.rows.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (table.rows[i].pools.load(kRelaxed) == 0) table.hashes[i].store(0, kRelaxed);
    }
  };
  forget(header_.databases);
  forget(header_.users);
}

void Books::recount() {
  for (auto& sum : header_.leased) sum.store(0, kRelaxed);
  const auto clear = [](auto& table) {
    const std::uint32_t count = std::min<std::uint32_t>(table.used.load(kRelaxed) + 1, static_cast<std::uint32_t>(table.rows.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
      table.rows[i].pools.store(0, kRelaxed);
      for (auto& sum : table.rows[i].leased) sum.store(0, kRelaxed);
    }
  };
  clear(header_.databases);
  clear(header_.users);
  const std::uint32_t used = std::min<std::uint32_t>(header_.pools_used.load(kRelaxed), Ledger::kMaxPools);
  // Its owner may have died between the entry and the count: then it never came to be.
  if (used < header_.pools.size()) header_.pools[used].key.store(0, kRelaxed);
  for (std::uint32_t i = 0; i < used; ++i) {
    header_.pools[i].leased.store(0, kRelaxed);
    header_.pools[i].waits.store(0, kRelaxed);
    if (header_.pools[i].key.load(kRelaxed) == 0) continue;
    header_.databases.rows[key_of(i).database].pools.fetch_add(1, kRelaxed);
    header_.users.rows[key_of(i).user].pools.fetch_add(1, kRelaxed);
  }
  for (int slot = 0; slot < header_.children; ++slot) {
    ChildHead& head = Region::head(header_, slot);
    head.leased.store(0, kRelaxed);
    head.waits.store(0, kRelaxed);
    for (const LeaseRow& row : Region::used_leases(header_, slot)) {
      if (!is_counted(row.state.load(kRelaxed))) continue;
      add_to_sums(pool_of(row), 1);
      head.leased.fetch_add(1, kRelaxed);
    }
    for (const WaitRow& row : Region::used_waits(header_, slot)) {
      if (row.state.load(kRelaxed) == WaitState::Free) continue;
      header_.pools[pool_of(row)].waits.fetch_add(1, kRelaxed);
      head.waits.fetch_add(1, kRelaxed);
    }
  }
}

std::string Books::differences() {
  const auto all = [&] {
    std::vector<std::int64_t> values;
    for (const auto& sum : header_.leased) values.push_back(sum.load(kRelaxed));
    for (std::uint32_t i = 0; i < header_.pools_used.load(kRelaxed); ++i) {
      const PoolKey key = key_of(i);
      const Counts sums = counts(i);
      for (const std::int32_t sum : {sums.pool, sums.database, sums.user, header_.pools[i].waits.load(kRelaxed),
                                     header_.databases.rows[key.database].pools.load(kRelaxed), header_.users.rows[key.user].pools.load(kRelaxed)}) {
        values.push_back(sum);
      }
    }
    for (int slot = 0; slot < header_.children; ++slot) {
      values.push_back(Region::head(header_, slot).leased.load(kRelaxed));
      values.push_back(Region::head(header_, slot).waits.load(kRelaxed));
    }
    return values;
  };
  const auto before = all();
  recount();
  const auto after = all();
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) return fmt::format("sum {} was {}, by the rows it is {}", i, before[i], after[i]);
  }
  return {};
}

}  // namespace weir::ledger::detail
