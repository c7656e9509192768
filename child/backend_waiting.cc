// Those who wait for a connection of the cache, and connections that go to other children: see backend_cache.h.
#include <algorithm>

#include "child/backend_cache.h"
#include "child/hand_over.h"
#include "child/internal_query.h"
#include "child/leases.h"
#include "child/worker.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

// Timers are not exact, and many who wait share one.
constexpr Milliseconds kShortest{1};

}  // namespace

void BackendCache::withdraw(BackendWaiter& waiter) {
  for (auto& attempt : attempts_) {
    if (attempt->waiting.waiter == &waiter) {
      attempt->waiting.waiter = nullptr;  // the login goes on: the connection will be cached
      --waiting_;
    }
  }
  for (auto& [key, group] : groups_) {
    const auto gone = std::erase_if(group->waiters, [&](const Waiting& w) { return w.waiter == &waiter; });
    if (gone == 0) continue;
    waiting_ -= static_cast<std::size_t>(gone);
    worker_.leases().waiters_changed(*group);
  }
  worker_.publish_waiting(waiting_);
}

// From the queue, since nobody is told of anything while it still asks.
void BackendCache::refuse_at_once(Waiting& waiting) {
  waiting.no_room = true;
  waiting.request.deadline = worker_.loop().now();
}

void BackendCache::serve_waiters(Group& group, bool ask) {
  notice_limits();
  // Who was told to wait asks again when there is news, and not whenever somebody else is served.
  bool may_ask = ask || worker_.loop().now() >= group.ask_at;
  for (std::size_t i = 0; i < group.waiters.size();) {
    // Who wants a new login has a password to be tried: no other's connection will do.
    auto backend = group.waiters[i].request.fresh ? nullptr : take_idle(group, group.waiters[i].key, group.waiters[i].request);
    if (backend != nullptr) {
      Waiting waiting = std::move(group.waiters[i]);
      group.waiters.erase(group.waiters.begin() + static_cast<std::ptrdiff_t>(i));
      if (check_is_due(worker_.config(), backend->released_at, worker_.loop().now())) {
        check(group, std::move(waiting), std::move(backend));
        continue;
      }
      --waiting_;
      worker_.publish_waiting(waiting_);
      waiting.waiter->on_backend(std::move(backend));
      continue;
    }
    ledger::LeaseId lease = -1;
    if (may_ask && !group.waiters[i].no_room) {
      const Opening opening = may_open(group, group.waiters[i].request, group.waiters[i].since, lease);
      may_ask = opening == Opening::Open;
      if (opening == Opening::NoRoom) refuse_at_once(group.waiters[i]);
    }
    if (lease < 0) {
      ++i;
      continue;
    }
    Waiting waiting = std::move(group.waiters[i]);
    group.waiters.erase(group.waiters.begin() + static_cast<std::ptrdiff_t>(i));
    open(group, std::move(waiting), lease);
  }
  worker_.leases().waiters_changed(group);
  if (!group.waiters.empty()) arm_deadlines(group);
}

void BackendCache::gone(Group& group) {
  --group.total;
  serve_waiters(group);
}

void BackendCache::lease_is_back(Group& group) {
  if (!group.waiters.empty()) serve_later();
}

void BackendCache::serve_later() {
  // Not here: the one who closed it may be in the middle of its work.
  if (!serve_soon_) worker_.loop().defer([this] {
    serve_soon_ = false;
    serve_all();
  });
  serve_soon_ = true;
}

void BackendCache::serve_all() {
  if (waiting_ == 0) return;
  for (auto& [key, group] : groups_) {
    if (!group->waiters.empty()) serve_waiters(*group, true);
  }
}

void BackendCache::obey_ledger() {
  Leases& leases = worker_.leases();
  leases.look();
  // Copies: what is given changes the lists.
  for (const ledger::CallIn& call : std::vector<ledger::CallIn>(leases.calls())) {
    Group* group = leases.group_of(call.lease);
    if (group == nullptr || group->idle.empty()) continue;
    auto which = std::find_if(group->idle.begin(), group->idle.end(), [&](const auto& backend) { return backend->lease == call.lease; });
    if (which == group->idle.end()) which = group->idle.begin();
    leases.fulfil(call);
    part_with(take_out(*group, which), call);
  }
  close_evicted();
  serve_all();
}

void BackendCache::notice_limits() {
  if (worker_.leases().notice_limits()) close_evicted();
}

void BackendCache::close_evicted() {
  Leases& leases = worker_.leases();
  for (const ledger::Eviction& eviction : std::vector<ledger::Eviction>(leases.evictions())) {
    Group* group = leases.group_of(eviction.lease);
    if (group == nullptr) continue;
    const auto it = std::find_if(group->idle.begin(), group->idle.end(), [&](const auto& backend) { return backend->lease == eviction.lease; });
    if (it == group->idle.end() || !leases.is_evicted(**it)) continue;
    std::iter_swap(group->idle.begin(), it);
    make_room(*group);
  }
}

// min_pool_size, one login a second and pool, of those whose user has logged in here before.
void BackendCache::keep_minimum(Monotonic now) {
  if (worker_.draining()) return;
  for (auto& [key, group] : groups_) {
    const int node = std::get<2>(key);
    if (!group->secret_known || !group->waiters.empty() || now < group->saturated_until || !worker_.node_accepts(node)) continue;
    const std::int32_t minimum = worker_.leases().minimum(*group);
    ledger::LeaseId lease = -1;
    if (minimum <= 0 || !worker_.leases().ask_minimum(*group, minimum, lease)) continue;
    Waiting nobody;
    nobody.key.database = std::get<0>(key);
    nobody.key.user = std::get<1>(key);
    nobody.secret = group->secret;
    open(*group, std::move(nobody), lease);
  }
}

// BACKEND is in no list any more. CALL: of the sibling that it is for; nothing: nobody's.
void BackendCache::part_with(std::unique_ptr<Backend> backend, const std::optional<ledger::CallIn>& call) {
  Group& owner = *backend->home;
  if (backend->state() != BackendState::Idle || !call || !worker_.hand_over().give(backend, *call)) return discard(std::move(backend));
  --owner.total;
  if (!owner.waiters.empty()) serve_waiters(owner);
}

void BackendCache::handed_away(std::unique_ptr<Backend> backend) {
  if (backend->alive()) {  // nobody took it
    ++backend->home->total;
    return discard(std::move(backend));
  }
  worker_.loop().destroy_later(std::move(backend));
}

BackendGroup& BackendCache::group_for(const Backend& backend) { return group(backend.key(), backend.node()); }

void BackendCache::take_in(std::unique_ptr<Backend> backend, bool has_statements) {
  Group& owner = group_for(*backend);
  backend->home = &owner;
  ++owner.total;
  if (!has_statements) {
    backend->set_state(BackendState::Idle);
    return store(owner, std::move(backend));
  }
  std::string message;
  wire::encode_query(message, "DEALLOCATE ALL");
  backend->set_state(BackendState::Resetting);
  Backend* raw = backend.get();
  resetting_.push_back(std::move(backend));
  InternalQuery::start(worker_, *raw, std::move(message), 1, [this, raw](InternalResult& result) {
    reset_done(raw, !result.lost && !result.error && result.status == 'I');
  });
  raw->resume_reading();
}

void BackendCache::arm_deadlines(const Group& group) {
  const Monotonic now = worker_.loop().now();
  const Monotonic next = std::max(group.waiters.back().no_room ? now : std::min(group.ask_at, now + kLedgerRetry), now + kShortest);
  if (deadline_timer_.armed() && deadline_at_ <= next) return;
  deadline_at_ = next;
  deadline_timer_.arm(next - now);
}

void BackendCache::check_deadlines() {
  const Monotonic now = worker_.loop().now();
  struct Expired {
    BackendWaiter* waiter;
    int node;
    AcquireFailure failure;
  };
  std::vector<Expired> expired;
  for (auto& [key, group] : groups_) {
    for (auto it = group->waiters.begin(); it != group->waiters.end();) {
      if (it->request.deadline <= now) {
        expired.push_back({it->waiter, std::get<2>(key), {it->no_room ? AcquireFailure::Kind::NoRoom : AcquireFailure::Kind::Timeout, {}, group->refused_by}});
        it = group->waiters.erase(it);
        --waiting_;
      } else {
        ++it;
      }
    }
    worker_.leases().waiters_changed(*group);
    if (group->waiters.empty()) continue;
    serve_waiters(*group);  // which arms the timer again
  }
  worker_.publish_waiting(waiting_);
  for (const Expired& one : expired) one.waiter->on_backend_failed(one.node, one.failure);
}

}  // namespace weir::child
