// Limits set at run time, what is over them, and what the parent and SHOW do: see ledger.h.
#include <algorithm>

#include "common/base/check.h"
#include "common/ledger/books.h"
#include "common/ledger/ledger.h"

namespace weir::ledger {
namespace {

using detail::Books;
using detail::Header;
using detail::LeaseRow;
using detail::LeaseState;
using detail::Name;
using detail::OverrideEntry;
using detail::Region;
using detail::WaitRow;
using detail::WaitState;

constexpr auto kRelaxed = std::memory_order_relaxed;

bool is_for(const OverrideEntry& entry, OverrideKind kind, const Name& database, const Name& user) {
  return entry.kind.load(kRelaxed) == kind && entry.database.chars == database.chars && entry.user.chars == user.chars;
}

// A pool in use, with the limits that its caller gives it outside of the mutex.
struct Counted {
  std::uint64_t key = 0;
  std::string database;
  std::string user;
  Limits limits;
};

}  // namespace

std::uint64_t Ledger::overrides_epoch() const { return header_->overrides_epoch.load(std::memory_order_acquire); }

bool Ledger::read_overrides(std::vector<Override>& into, std::uint64_t& epoch) {
  into.clear();
  Books books(*header_, hook_);
  if (!books.held()) return false;
  for (const OverrideEntry& entry : header_->overrides) {
    const OverrideKind kind = entry.kind.load(kRelaxed);
    if (kind == OverrideKind::None) continue;
    into.push_back({kind, std::string(entry.database.view()), std::string(entry.user.view()), entry.limits});
  }
  epoch = header_->overrides_epoch.load(kRelaxed);
  return true;
}

Outcome Ledger::set_override(const Override& wanted, std::optional<std::uint64_t> read_at) {
  WEIR_CHECK(wanted.kind != OverrideKind::None);
  Name database;
  Name user;
  if (wanted.kind != OverrideKind::User) database.assign(wanted.database);
  if (wanted.kind != OverrideKind::Database) user.assign(wanted.user);
  const bool take_away = wanted.limits == config::RuntimeLimits{};
  Books books(*header_, hook_);
  if (!books.held()) return Outcome::Busy;
  if (read_at && *read_at != header_->overrides_epoch.load(kRelaxed)) return Outcome::Stale;
  OverrideEntry* entry = nullptr;
  for (OverrideEntry& there : header_->overrides) {
    if (is_for(there, wanted.kind, database, user)) {
      entry = &there;
      break;
    }
    if (entry == nullptr && there.kind.load(kRelaxed) == OverrideKind::None) entry = &there;
  }
  const bool known = entry != nullptr && is_for(*entry, wanted.kind, database, user);
  if (take_away && !known) return Outcome::Done;
  if (entry == nullptr) return Outcome::Full;
  if (take_away) {
    entry->kind.store(OverrideKind::None, kRelaxed);
  } else {
    entry->database = database;
    entry->user = user;
    entry->limits = wanted.limits;
    books.step(detail::Step::OverrideHalf);
    entry->kind.store(wanted.kind, std::memory_order_release);
  }
  header_->overrides_epoch.fetch_add(1, std::memory_order_release);
  return Outcome::Done;
}

Ledger::SurplusResult Ledger::mark_surplus(const LimitsOf& limits_of, std::int64_t now_ms) {
  SurplusResult result;
  std::vector<Counted> pools;
  {
    Books books(*header_, hook_);
    if (!books.held()) return {Outcome::Busy, {}};
    const std::uint32_t used = std::min<std::uint32_t>(header_->pools_used.load(kRelaxed), kMaxPools);
    pools.resize(used);
    for (std::uint32_t i = 0; i < used; ++i) {
      if (header_->pools[i].leased.load(kRelaxed) == 0) continue;
      const PoolKey key = books.key_of(i);
      pools[i] = {header_->pools[i].key.load(kRelaxed), std::string(books.database_name(key)), std::string(books.user_name(key)), {}};
    }
  }
  for (Counted& pool : pools) {
    if (pool.key != 0) pool.limits = limits_of({pool.database, pool.user, detail::pool_key(pool.key).node});
  }
  Books books(*header_, hook_);
  if (!books.held()) return {Outcome::Busy, {}};
  std::vector<Held> held;
  std::vector<Limits> limits;
  std::vector<LeaseRow*> rows;
  for (int child = 0; child < header_->children; ++child) {
    if (Region::head(*header_, child).leased.load(kRelaxed) == 0) continue;
    for (LeaseRow& row : Region::used_leases(*header_, child)) {
      const LeaseState state = row.state.load(std::memory_order_acquire);
      if (state == LeaseState::Handed) result.again = true;
      if (state != LeaseState::Held) continue;
      const std::uint32_t pool = row.pool.load(kRelaxed) % kMaxPools;
      // One that came meanwhile is judged the next time.
      const bool known = pool < pools.size() && pools[pool].key == header_->pools[pool].key.load(kRelaxed);
      held.push_back({child, books.key_of(pool), row.idle.load(kRelaxed) != 0, false, row.since_ms.load(kRelaxed), 0, 0});
      limits.push_back(known ? pools[pool].limits : Limits{});
      rows.push_back(&row);
    }
  }
  std::vector<bool> goes(held.size(), false);
  for (const std::size_t i : surplus(held, limits)) goes[i] = true;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!goes[i]) {
      rows[i]->evict_ms.store(0, kRelaxed);
    } else if (rows[i]->evict_ms.load(kRelaxed) == 0) {
      rows[i]->evict_ms.store(now_ms, kRelaxed);
    }
    if (!goes[i] || std::find(result.wake.begin(), result.wake.end(), held[i].child) != result.wake.end()) continue;
    Region::head(*header_, held[i].child).calls.fetch_add(1, std::memory_order_release);
    result.wake.push_back(held[i].child);
  }
  return result;
}

Outcome Ledger::reclaim(int slot, std::int64_t now_ms, Wakes& wakes) {
  Books books(*header_, hook_);
  if (!books.held()) return Outcome::Busy;
  detail::ChildHead& head = Region::head(*header_, slot);
  for (LeaseRow& row : Region::used_leases(*header_, slot)) {
    const LeaseState state = row.state.load(std::memory_order_acquire);
    if (state == LeaseState::Returned) books.free_lease(slot, row);
    if (state == LeaseState::Adopted) row.state.store(LeaseState::Free, std::memory_order_release);
    if (state != LeaseState::Held && state != LeaseState::Closing && state != LeaseState::Handed) continue;
    row.since_ms.store(now_ms, kRelaxed);
    row.state.store(LeaseState::Orphan, std::memory_order_release);
    head.orphans.fetch_add(1, kRelaxed);
  }
  for (WaitRow& row : Region::used_waits(*header_, slot)) {
    if (row.state.load(std::memory_order_acquire) != WaitState::Free) books.free_wait(slot, row);
  }
  books.wake_next(now_ms, wakes);
  return Outcome::Done;
}

std::vector<Orphan> Ledger::orphans() {
  std::vector<Orphan> all;
  for (int slot = 0; slot < header_->children; ++slot) {
    if (Region::head(*header_, slot).orphans.load(kRelaxed) == 0) continue;
    const auto rows = Region::used_leases(*header_, slot);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].state.load(std::memory_order_acquire) != LeaseState::Orphan) continue;
      const PoolKey key = detail::pool_key(header_->pools[rows[i].pool.load(kRelaxed) % kMaxPools].key.load(kRelaxed));
      all.push_back({slot, static_cast<LeaseId>(i), key.node, rows[i].backend_pid.load(kRelaxed), rows[i].since_ms.load(kRelaxed)});
    }
  }
  return all;
}

Wakes Ledger::free_orphan(int slot, LeaseId lease, std::int64_t now_ms) {
  WEIR_CHECK(lease >= 0 && lease < header_->leases_per_child);
  if (Region::leases(*header_, slot)[static_cast<std::size_t>(lease)].state.load(kRelaxed) != LeaseState::Orphan) return {};
  Region::head(*header_, slot).orphans.fetch_sub(1, kRelaxed);
  return give_back(slot, lease, now_ms);
}

std::int32_t Ledger::stuck_holder(std::int64_t now_ms, std::int64_t longer_than_ms) const {
  const std::int64_t since = header_->held_since_ms.load(std::memory_order_acquire);
  if (since == 0 || now_ms - since <= longer_than_ms) return 0;
  const std::int32_t pid = header_->holder.load(std::memory_order_acquire);
  return header_->held_since_ms.load(std::memory_order_acquire) == since ? pid : 0;
}

std::vector<PoolRow> Ledger::pools() {
  std::vector<PoolRow> all;
  Books books(*header_, hook_);
  if (!books.held()) return all;
  const std::uint32_t used = std::min<std::uint32_t>(header_->pools_used.load(kRelaxed), kMaxPools);
  for (std::uint32_t i = 0; i < used; ++i) {
    const auto& entry = header_->pools[i];
    if (entry.key.load(kRelaxed) == 0) continue;
    const PoolKey key = books.key_of(i);
    all.push_back({std::string(books.database_name(key)), std::string(books.user_name(key)), key.node, entry.leased.load(kRelaxed), entry.waits.load(kRelaxed)});
  }
  return all;
}

std::int32_t Ledger::leased_on(int node) const { return header_->leased.at(static_cast<std::size_t>(node)).load(kRelaxed); }

std::string Ledger::audit() {
  Books books(*header_, hook_);
  return books.held() ? books.differences() : "busy";
}

}  // namespace weir::ledger
