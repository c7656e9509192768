#include "child/hand_over.h"

#include <algorithm>
#include <utility>

#include "child/backend_cache.h"
#include "child/leases.h"
#include "child/siblings.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/process/role_context.h"

namespace weir::child {
namespace {

constexpr Milliseconds kBusyRetry{2};
constexpr Milliseconds kCheck{20};

}  // namespace

HandOver::HandOver(Worker& worker) : worker_(worker) {
  timer_.set(worker.loop(), [this] {
    take_in();
    check();
  });
}

HandOver::~HandOver() = default;

void HandOver::start() {
  worker_.siblings().take(Siblings::Kind::Connection, [this](Bytes bytes, UniqueFd fd) { receive(bytes, std::move(fd)); });
}

// -------------------------------------------------------------------------------------------------------------- giving

bool HandOver::may_give(const Backend& backend) const {
  const bool named = backend.prepared.size() > (backend.prepared.contains(std::string_view()) ? 1U : 0U);
  return backend.alive() && backend.quiet() && backend.lease >= 0 && backend.pid > 0 && backend.state() == BackendState::Idle && backend.status == 'I' &&
         !backend.tainted && !named && backend.key().replication.empty() && backend.key().fixed.empty();
}

bool HandOver::give(std::unique_ptr<Backend>& backend, const ledger::CallIn& call) {
  const process::RoleContext& context = worker_.context();
  if (worker_.leases().is_evicted(*backend)) return false;
  if (!call.same_pool || call.waiter_child == context.slot || !may_give(*backend)) return false;
  Parcel parcel;
  parcel.giver = context.slot;
  parcel.lease = backend->lease;
  parcel.node = backend->node();
  parcel.database = backend->key().database;
  parcel.user = backend->key().user;
  parcel.backend_pid = backend->pid;
  parcel.cancel_key = backend->cancel_key;
  parcel.method = worker_.login_info(parcel.database, parcel.user).method;
  parcel.has_statements = !backend->shared.empty();
  parcel.has_drawn = backend->drawn_by != 0;
  parcel.connected_ms = monotonic_milliseconds(backend->connected_at);
  parcel.sent_ms = monotonic_milliseconds(worker_.loop().now());
  parcel.uses = backend->uses;
  parcel.login_change = backend->login_change;
  parcel.parameters.assign(backend->parameters.begin(), backend->parameters.end());
  if (backend->image != nullptr) parcel.image = *backend->image;
  const std::string bytes = encode_parcel(parcel);
  if (bytes.size() > kMaxParcelBytes) return false;
  backend->set_user(nullptr);
  backend->pause_reading();
  worker_.leases().begin_handing(*backend);
  if (!worker_.siblings().send(call.waiter_child, Siblings::Kind::Connection, bytes, backend->fd())) {
    worker_.leases().take_back(*backend);
    return false;
  }
  given_.push_back({std::move(backend), worker_.loop().now()});
  if (!timer_.armed()) timer_.arm(kCheck);
  return true;
}

void HandOver::check() {
  for (std::size_t i = 0; i < given_.size();) {
    Given& one = given_[i];
    const bool over = worker_.loop().now() - one.at >= kPatience;
    // Taken back, nobody can adopt it any more; if that fails, somebody just has.
    if (!worker_.leases().is_adopted(*one.backend) && !(over && worker_.leases().take_back(*one.backend))) {
      ++i;
      continue;
    }
    std::unique_ptr<Backend> backend = std::move(one.backend);
    given_.erase(given_.begin() + static_cast<std::ptrdiff_t>(i));
    if (backend->lease < 0) backend->leave_to_another();
    worker_.backends().handed_away(std::move(backend));
  }
  if (!given_.empty() && !timer_.armed()) timer_.arm(kCheck);
}

// -------------------------------------------------------------------------------------------------------------- taking

void HandOver::receive(Bytes bytes, UniqueFd fd) {
  auto parcel = decode_parcel(bytes);
  // What is refused here its giver closes after a while.
  if (!parcel || !fd.valid() || worker_.draining() || !worker_.node_accepts(parcel->node)) return;
  arrived_.push_back({std::move(*parcel), std::move(fd)});
  take_in();
}

void HandOver::take_in() {
  while (!arrived_.empty()) {
    // By the clock itself: this process may just have been stopped.
    const std::int64_t age = monotonic_milliseconds(monotonic_now()) - arrived_.front().parcel.sent_ms;
    if (age >= 0 && age < kPatience.count() && !adopt(arrived_.front())) return timer_.arm(kBusyRetry);
    arrived_.pop_front();
  }
}

bool HandOver::adopt(Arrived& arrived) {
  Parcel& parcel = arrived.parcel;
  auto backend = std::make_unique<Backend>(worker_, parcel.node, BackendKey{parcel.database, parcel.user, {}, {}});
  for (const auto& [name, value] : parcel.parameters) {
    if (!backend->parameters.note(name, value)) return true;
  }
  switch (worker_.leases().adopt(parcel.giver, parcel.lease, worker_.backends().group_for(*backend), backend->lease)) {
    case Leases::Answer::Wait: return false;
    case Leases::Answer::NoRoom: return true;
    case Leases::Answer::Granted: break;
  }
  worker_.wake_child(parcel.giver);
  backend->pid = parcel.backend_pid;
  backend->cancel_key = std::move(parcel.cancel_key);
  backend->connected_at = std::min(worker_.loop().now(), Monotonic(Milliseconds(std::min(parcel.connected_ms, monotonic_milliseconds(worker_.loop().now())))));
  backend->uses = parcel.uses;
  backend->login_change = parcel.login_change;
  backend->generation = worker_.backends().group_for(*backend).generation;
  backend->drawn_by = parcel.has_drawn ? Backend::kSeveral : 0;
  backend->image = worker_.images().intern(std::move(parcel.image));
  backend->applied = backend->image != nullptr ? Backend::kAsImage : 0;
  backend->take_over(std::move(arrived.fd));
  worker_.leases().bind(*backend);
  worker_.learn_from_sibling(*backend, parcel.method);
  worker_.backends().take_in(std::move(backend), parcel.has_statements);
  return true;
}

}  // namespace weir::child
