#include "common/ledger/ledger.h"

#include <algorithm>
#include <new>

#include "common/base/check.h"
#include "common/ledger/books.h"

namespace weir::ledger {
namespace {

using detail::Books;
using detail::Header;
using detail::LeaseRow;
using detail::LeaseState;
using detail::Region;
using detail::WaitRow;
using detail::WaitState;

constexpr auto kRelaxed = std::memory_order_relaxed;

LeaseRow& lease_row(Header& header, int slot, LeaseId lease) {
  WEIR_CHECK(lease >= 0 && lease < header.leases_per_child);
  return Region::leases(header, slot)[static_cast<std::size_t>(lease)];
}

// The waiting row of SLOT for POOL if WAIT is one; else null.
WaitRow* wait_row(Header& header, int slot, WaitId wait, std::uint32_t pool) {
  if (wait < 0 || wait >= Ledger::kWaitsPerChild) return nullptr;
  WaitRow& row = Region::waits(header, slot)[static_cast<std::size_t>(wait)];
  return row.state.load(kRelaxed) == WaitState::Waiting && row.pool.load(kRelaxed) == pool ? &row : nullptr;
}

void unsettled(Header& header, int slot) {
  Region::head(header, slot).unsettled.store(1, std::memory_order_release);
  header.unsettled.store(1, std::memory_order_release);
}

// The lease that was asked for last was given, or may still be.
bool is_awaited(Header& header, const WaitRow& row, std::int64_t now_ms) {
  const std::int64_t called = row.called_ms.load(kRelaxed);
  if (called == 0 || now_ms - called > kCallPatienceMs || row.called_child < 0 || row.called_child >= header.children) return false;
  const LeaseRow& lease = lease_row(header, row.called_child, row.called_lease);
  const LeaseState state = lease.state.load(kRelaxed);
  return lease.life.load(kRelaxed) == row.called_life && state != LeaseState::Free && state != LeaseState::Adopted && state != LeaseState::Returned;
}

}  // namespace

void Wakes::add(int child) {
  if (child < 0 || std::find(children, children + count, child) != children + count || count == 4) return;
  children[count++] = child;
}

std::size_t Ledger::bytes(const LedgerPlan& plan) { return Region::bytes(plan); }

Ledger Ledger::create(std::span<std::byte> memory, const LedgerPlan& plan) {
  WEIR_CHECK(plan.children >= 1 && plan.leases_per_child >= 1 && memory.size() >= bytes(plan));
  auto* header = reinterpret_cast<Header*>(memory.data());
  new (&header->mutex) shmem::RobustMutex();  // all else is valid as zeros, which cost nothing until they are touched
  header->children = plan.children;
  header->leases_per_child = plan.leases_per_child;
  return Ledger(header);
}

AcquireResult Ledger::acquire(int slot, const AcquireRequest& request, std::int64_t now_ms) {
  AcquireResult result;
  result.wait = request.wait;
  Books books(*header_, hook_);
  result.outcome = !books.held() ? Outcome::Busy : header_->overrides_epoch.load(kRelaxed) != request.overrides_epoch ? Outcome::Stale : Outcome::Refused;
  if (result.outcome != Outcome::Refused) {
    if (books.held()) books.wake_next(now_ms, result.wakes);
    return result;
  }
  const auto pool = books.pool(request.pool);
  if (!pool) {
    result.outcome = Outcome::Full;
    return result;
  }
  WaitRow* row = wait_row(*header_, slot, request.wait, *pool);
  const WaitId self = row != nullptr ? request.wait : -1;
  const Waiter me{slot, books.key_of(*pool), request.since_ms, 0, request.limits, books.counts(*pool), request.demand, header_->pools[*pool].gained_ms.load(kRelaxed)};
  books.waiters(slot, self, request.pool.node, waiters_, wait_rows_);
  const TurnVerdict turn = judge_in_turn(me, waiters_, now_ms);
  result.refused_by = turn.verdict.refused_by;
  if (turn.verdict.granted()) {
    result.lease = books.add_lease(slot, *pool, now_ms);
    result.outcome = result.lease >= 0 ? Outcome::Done : Outcome::Full;
    result.from_reserve = turn.verdict.from_reserve;
    if (result.lease >= 0 && row != nullptr) {
      books.free_wait(slot, *row);
      result.wait = -1;
    }
  } else if (request.may_wait) {
    if (turn.first) {
      if (wait_rows_[*turn.first]->offered_ms.load(kRelaxed) == 0) wait_rows_[*turn.first]->offered_ms.store(now_ms, kRelaxed);
      result.wakes.add(waiters_[*turn.first].child);
    }
    wait_for(books, slot, request, me, *pool, now_ms, result);
  }
  books.wake_next(now_ms, result.wakes);
  return result;
}

void Ledger::wait_for(Books& books, int slot, const AcquireRequest& request, const Waiter& me, std::uint32_t pool, std::int64_t now_ms,
                      AcquireResult& result) {
  WaitRow* row = wait_row(*header_, slot, request.wait, pool);
  if (row == nullptr) {
    result.wait = books.add_wait(slot, pool, request.since_ms);
    if (result.wait < 0) return;  // no room in the line: it tries again by its timer
    row = wait_row(*header_, slot, result.wait, pool);
  }
  set_waiting_since(slot, result.wait, request.since_ms, request.demand);
  row->offered_ms.store(0, kRelaxed);
  row->limits = request.limits;
  if (result.refused_by != Limit::Turn && !is_awaited(*header_, *row, now_ms)) call_in(books, me, result.refused_by, *row, now_ms, result);
}

// The held leases that LIMIT binds together with POOL, into held_ and held_rows_.
void Ledger::collect_held(Limit limit, PoolKey pool, const WaitRow& mine, std::int64_t now_ms) {
  held_.clear();
  held_rows_.clear();
  for (int child = 0; child < header_->children; ++child) {
    if (Region::head(*header_, child).leased.load(kRelaxed) == 0) continue;
    const auto rows = Region::used_leases(*header_, child);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].state.load(std::memory_order_acquire) != LeaseState::Held) continue;
      const PoolKey key = detail::pool_key(header_->pools[rows[i].pool.load(kRelaxed) % kMaxPools].key.load(kRelaxed));
      if (!share(limit, key, pool)) continue;
      held_.push_back({child, key, rows[i].idle.load(kRelaxed) != 0, rows[i].evict_ms.load(kRelaxed) != 0, rows[i].since_ms.load(kRelaxed),
                       rows[i].gained_ms.load(kRelaxed), rows[i].pool_gained_ms.load(kRelaxed)});
      held_rows_.push_back(static_cast<LeaseId>(i));
    }
  }
  const auto called = [&](const WaitRow& row) {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      if (held_[i].child != row.called_child || held_rows_[i] != row.called_lease) continue;
      if (lease_row(*header_, row.called_child, row.called_lease).life.load(kRelaxed) == row.called_life) held_[i].called = true;
    }
  };
  for (const WaitRow* other : wait_rows_) {
    const std::int64_t when = other->called_ms.load(kRelaxed);
    if (when != 0 && now_ms - when <= kCallPatienceMs) called(*other);
  }
  if (mine.called_ms.load(kRelaxed) != 0) called(mine);  // in vain: another one now
}

void Ledger::call_in(Books& books, const Waiter& me, Limit limit, WaitRow& row, std::int64_t now_ms, AcquireResult& result) {
  (void)books;  // the mutex is held
  collect_held(limit, me.pool, row, now_ms);
  const Victim victim = choose_victim(me, limit, held_, waiters_, now_ms);
  result.ask_again_ms = victim.ask_again_ms;
  if (victim.lease) {
    row.called_child = held_[*victim.lease].child;
    row.called_lease = held_rows_[*victim.lease];
    row.called_life = lease_row(*header_, row.called_child, row.called_lease).life.load(kRelaxed);
  } else if (row.called_ms.load(kRelaxed) == 0 || !is_awaited(*header_, row, row.called_ms.load(kRelaxed))) {
    row.called_ms.store(0, kRelaxed);
    return;
  }
  row.called_ms.store(now_ms, kRelaxed);
  Region::head(*header_, row.called_child).calls.fetch_add(1, std::memory_order_release);
  result.wakes.add(row.called_child);
}

void Ledger::stop_waiting(int slot, WaitId wait) {
  if (wait < 0 || wait >= kWaitsPerChild) return;
  WaitState waiting = WaitState::Waiting;
  auto& state = Region::waits(*header_, slot)[static_cast<std::size_t>(wait)].state;
  if (state.compare_exchange_strong(waiting, WaitState::Gone, std::memory_order_release)) unsettled(*header_, slot);
}

void Ledger::set_waiting_since(int slot, WaitId wait, std::int64_t since_ms, const Demand& demand) {
  if (wait < 0 || wait >= kWaitsPerChild) return;
  WaitRow& row = Region::waits(*header_, slot)[static_cast<std::size_t>(wait)];
  row.since_ms.store(since_ms, kRelaxed);
  row.held.store(demand.held, kRelaxed);
  row.clients.store(demand.clients, kRelaxed);
  row.gained_ms.store(demand.gained_ms, kRelaxed);
}

void Ledger::mark_idle(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  row.since_ms.store(now_ms, kRelaxed);
  row.idle.store(1, kRelaxed);
}

void Ledger::mark_in_use(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  row.since_ms.store(now_ms, kRelaxed);
  row.idle.store(0, kRelaxed);
}

void Ledger::set_backend_pid(int slot, LeaseId lease, std::int32_t pid) { lease_row(*header_, slot, lease).backend_pid.store(pid, kRelaxed); }

void Ledger::mark_ready(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  row.gained_ms.store(now_ms, kRelaxed);
  row.pool_gained_ms.store(now_ms, kRelaxed);
}

void Ledger::begin_closing(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  for (LeaseState from : {LeaseState::Held, LeaseState::Handed}) {
    if (!row.state.compare_exchange_strong(from, LeaseState::Closing, std::memory_order_acq_rel)) continue;
    row.since_ms.store(now_ms, kRelaxed);
    return;
  }
}

Wakes Ledger::give_back(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  const LeaseState state = row.state.load(kRelaxed);
  if (state != LeaseState::Free && state != LeaseState::Adopted && state != LeaseState::Returned) {
    LeaseState from = state;
    // A sibling may be adopting it in this moment: then it is not mine any more.
    if (row.state.compare_exchange_strong(from, LeaseState::Returned, std::memory_order_acq_rel)) unsettled(*header_, slot);
  }
  Wakes wakes;
  Books books(*header_, hook_);
  if (books.held()) books.wake_next(now_ms, wakes);
  return wakes;
}

std::uint32_t Ledger::calls(int slot) const { return Region::head(*header_, slot).calls.load(std::memory_order_acquire); }

bool Ledger::call_ins(int slot, std::int64_t now_ms, std::vector<CallIn>& into) {
  into.clear();
  Books books(*header_, hook_);
  if (!books.held()) return false;
  for (int child = 0; child < header_->children; ++child) {
    if (Region::head(*header_, child).waits.load(kRelaxed) == 0) continue;
    const auto rows = Region::used_waits(*header_, child);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const WaitRow& row = rows[i];
      const std::int64_t when = row.called_ms.load(kRelaxed);
      if (row.state.load(kRelaxed) != WaitState::Waiting || row.called_child != slot || when == 0 || now_ms - when > kCallPatienceMs) continue;
      const LeaseRow& lease = lease_row(*header_, slot, row.called_lease);
      if (lease.state.load(kRelaxed) != LeaseState::Held || lease.life.load(kRelaxed) != row.called_life) continue;
      into.push_back({row.called_lease, lease.pool.load(kRelaxed) == row.pool.load(kRelaxed), child, static_cast<WaitId>(i), row.since_ms.load(kRelaxed), when});
    }
  }
  std::sort(into.begin(), into.end(), [](const CallIn& a, const CallIn& b) { return a.since_ms < b.since_ms; });
  return true;
}

void Ledger::evictions(int slot, std::vector<Eviction>& into) {
  into.clear();
  const auto rows = Region::used_leases(*header_, slot);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t since = rows[i].evict_ms.load(kRelaxed);
    if (since != 0 && rows[i].state.load(kRelaxed) == LeaseState::Held) into.push_back({static_cast<LeaseId>(i), since});
  }
}

bool Ledger::is_evicted(int slot, LeaseId lease) const { return lease >= 0 && lease_row(*header_, slot, lease).evict_ms.load(kRelaxed) != 0; }

void Ledger::hand_over(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  row.since_ms.store(now_ms, kRelaxed);
  LeaseState held = LeaseState::Held;
  row.state.compare_exchange_strong(held, LeaseState::Handed, std::memory_order_acq_rel);
}

bool Ledger::adopted(int slot, LeaseId lease) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  if (row.state.load(std::memory_order_acquire) != LeaseState::Adopted) return false;
  row.state.store(LeaseState::Free, std::memory_order_release);
  return true;
}

bool Ledger::take_back(int slot, LeaseId lease, std::int64_t now_ms) {
  LeaseRow& row = lease_row(*header_, slot, lease);
  LeaseState handed = LeaseState::Handed;
  if (!row.state.compare_exchange_strong(handed, LeaseState::Held, std::memory_order_acq_rel)) return false;
  row.since_ms.store(now_ms, kRelaxed);
  return true;
}

AcquireResult Ledger::adopt(int slot, int giver, LeaseId lease, const PoolName& wanted, WaitId wait, std::int64_t now_ms) {
  AcquireResult result;
  result.wait = wait;
  Books books(*header_, hook_);
  if (!books.held()) {
    result.outcome = Outcome::Busy;
    return result;
  }
  if (giver < 0 || giver >= header_->children || lease < 0 || lease >= header_->leases_per_child) return result;
  LeaseRow& given = lease_row(*header_, giver, lease);
  if (given.state.load(std::memory_order_acquire) != LeaseState::Handed) return result;
  const std::uint32_t pool = given.pool.load(kRelaxed) % kMaxPools;
  if (books.pool(wanted) != pool) return result;
  // Both count for a moment: should I die here, one too many is better than one too few.
  const LeaseId mine = books.copy_lease(slot, given, now_ms);
  books.step(detail::Step::Adopting);
  result.outcome = mine >= 0 ? Outcome::Done : Outcome::Full;
  if (mine < 0) return result;
  LeaseState handed = LeaseState::Handed;
  if (!given.state.compare_exchange_strong(handed, LeaseState::Adopted, std::memory_order_acq_rel)) {
    books.free_lease(slot, lease_row(*header_, slot, mine));  // the giver has just taken it back
    result.outcome = Outcome::Refused;
    return result;
  }
  books.uncount(giver, given);
  result.lease = mine;
  if (WaitRow* row = wait_row(*header_, slot, wait, pool)) {
    books.free_wait(slot, *row);
    result.wait = -1;
  }
  books.wake_next(now_ms, result.wakes);
  return result;
}

}  // namespace weir::ledger
