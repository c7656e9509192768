#include "child/leases.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "child/cancel.h"
#include "child/worker.h"
#include "common/admin/console_view.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

// Of an answer that nobody reads any more; a server that goes on for longer is asked to stop, as it would notice by
// itself if the socket were closed.
constexpr std::size_t kReadInVain = 256U << 10U;
// A server that cannot be reached: what it had accepted is over by then.
constexpr std::chrono::seconds kUnreachable{30};
constexpr int kAsks = 3;
constexpr std::int64_t kBusyAgainMs = 2;
// A wish of another child is good for so long.
constexpr std::int64_t kCallsGoodMs = ledger::kCallPatienceMs;
// Who holds a connection over a limit that was lowered has so long to end its transaction.
constexpr std::int64_t kEvictionGraceMs = 10'000;

}  // namespace

// A connection that pgweir has closed, until the server has.
class Leases::Ending final : public StreamHandler {
 public:
  Ending(Leases& owner, Backend& backend, std::unique_ptr<Stream> stream)
      : lease(backend.lease), node(backend.node()), since(owner.worker_.loop().now()), owner_(owner), pid_(backend.pid), key_(backend.cancel_key), stream_(std::move(stream)) {
    stream_->set_handler(*this);
    stream_->uncork();
    if (stream_->pending() == 0) say_end();
    stream_->resume_reading();
  }
  ~Ending() {
    if (stream_ != nullptr) stream_->close();
  }
  void abandon() {
    stream_->close();
    owner_.worker_.loop().destroy_later(std::move(stream_));
    if (cancel_ != nullptr) owner_.worker_.loop().destroy_later(std::move(cancel_));
  }

  const ledger::LeaseId lease;
  const int node;
  const Monotonic since;

 private:
  void say_end() { ::shutdown(stream_->fd(), SHUT_WR); }
  void on_drained() override { say_end(); }
  void on_readable() override {
    const Stream::ReadResult got = stream_->read(owner_.worker_.scratch().first(Worker::kReadSize));
    if (got.outcome == Stream::Outcome::WouldBlock) return;
    if (got.outcome != Stream::Outcome::Data) return owner_.end(*this);
    in_vain_ += got.count;
    if (in_vain_ < kReadInVain || cancelled_) return;
    cancelled_ = true;
    cancel_ = CancelRequest::start(owner_.worker_, node, pid_, key_, [this](bool) { owner_.worker_.loop().destroy_later(std::move(cancel_)); });
  }

  Leases& owner_;
  const std::int32_t pid_;
  const std::string key_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<CancelRequest> cancel_;
  std::size_t in_vain_ = 0;
  bool cancelled_ = false;
};

Leases::Leases(Worker& worker) : worker_(worker), ledger_(*worker.context().ledger), slot_(worker.context().slot) {}

Leases::~Leases() = default;

std::int64_t Leases::now_ms() const { return monotonic_milliseconds(worker_.loop().now()); }

void Leases::notify(const ledger::Wakes& wakes) {
  for (int i = 0; i < wakes.count; ++i) worker_.wake_child(wakes.children[i]);
}

// -------------------------------------------------------------------------------------------------------------- limits

config::RuntimeOverrides Leases::overrides_for(const ledger::PoolName& pool) const {
  return admin::select_overrides(overrides_, pool.database, pool.user);
}

ledger::Limits Leases::limits_for(const ledger::PoolName& pool) const {
  shmem::Mapping& mapping = *worker_.context().mapping;
  shmem::Observation node;
  std::int32_t ceiling = config::kNoLimit;
  if (pool.node >= 0 && pool.node < shmem::kMaxNodes && mapping.observations().read(pool.node, node)) {
    // Each child looks up the catalogue over one connection to the primary, health has one to each node,
    // and one is for the next probe of health, which opens a new connection.
    const std::int32_t service = 2 + (pool.node == worker_.nodes().primary ? static_cast<std::int32_t>(worker_.config().num_init_children) : 0);
    ceiling = ledger::node_ceiling(node.max_connections, node.reserved_connections, 0, service);
  }
  return ledger::limits_of(config::effective_pool(worker_.config(), pool.database, pool.user, overrides_for(pool)), ceiling);
}

config::RuntimeOverrides Leases::overrides_for(std::string_view database, std::string_view user) {
  if (ledger_.overrides_epoch() != epoch_) read_overrides();
  return admin::select_overrides(overrides_, database, user);
}

const ledger::Limits& Leases::limits(BackendGroup& group) {
  if (group.limits_version != version_) {
    group.limits_version = version_;
    group.limits = limits_for({std::get<0>(group.key), std::get<1>(group.key), std::get<2>(group.key)});
  }
  return group.limits;
}

void Leases::limits_changed() {
  ++version_;
  surplus_due_ = true;
}

void Leases::read_overrides() {
  if (ledger_.read_overrides(overrides_, epoch_)) limits_changed();
}

// ----------------------------------------------------------------------------------------------------- asking and giving

Leases::Answer Leases::ask(BackendGroup& group, Monotonic since, bool may_wait, ledger::LeaseId& lease) {
  for (int i = 0; i < kAsks; ++i) {
    ledger::AcquireRequest request;
    request.pool = {std::get<0>(group.key), std::get<1>(group.key), std::get<2>(group.key)};
    request.limits = limits(group);
    request.overrides_epoch = epoch_;
    request.since_ms = monotonic_milliseconds(since);
    request.demand = demand(group);
    ++request.demand.clients;  // who asks is in no queue yet
    request.wait = group.wait;
    request.may_wait = may_wait;
    const ledger::AcquireResult result = ledger_.acquire(slot_, request, now_ms());
    notify(result.wakes);
    group.wait = result.wait;
    switch (result.outcome) {
      case ledger::Outcome::Done:
        lease = result.lease;
        gained(group, lease);
        if (result.from_reserve) {
          log::warning("taking connection from reserve_pool (database \"{}\", user \"{}\", node {})", request.pool.database, request.pool.user, request.pool.node);
        }
        return Answer::Granted;
      case ledger::Outcome::Refused:
        if (result.refused_by != ledger::Limit::Turn) group.refused_by = result.refused_by;
        group.ask_again_ms = result.ask_again_ms;
        return Answer::Wait;
      case ledger::Outcome::Full: return Answer::NoRoom;
      case ledger::Outcome::Stale: read_overrides(); break;
      case ledger::Outcome::Busy: break;
    }
  }
  group.ask_again_ms = now_ms() + kBusyAgainMs;
  return Answer::Wait;
}

bool Leases::ask_minimum(BackendGroup& group, std::int32_t min, ledger::LeaseId& lease) {
  ledger::AcquireRequest request;
  request.pool = {std::get<0>(group.key), std::get<1>(group.key), std::get<2>(group.key)};
  request.limits = limits(group);
  request.limits.pool_size = std::min(request.limits.pool_size, min);
  request.limits.reserve_pool_size = 0;
  request.overrides_epoch = epoch_;
  request.since_ms = now_ms();
  request.may_wait = false;
  const ledger::AcquireResult result = ledger_.acquire(slot_, request, now_ms());
  notify(result.wakes);
  if (result.outcome != ledger::Outcome::Done) return false;
  lease = result.lease;
  gained(group, lease);
  return true;
}

std::int32_t Leases::minimum(const BackendGroup& group) const {
  const ledger::PoolName pool{std::get<0>(group.key), std::get<1>(group.key), std::get<2>(group.key)};
  return config::effective_pool(worker_.config(), pool.database, pool.user, overrides_for(pool)).min_pool_size;
}

void Leases::bind(Backend& backend) {
  const auto index = static_cast<std::size_t>(backend.lease);
  if (backends_.size() <= index) backends_.resize(index + 1);
  backends_[index] = &backend;
}

void Leases::unbind(ledger::LeaseId lease) {
  if (lease >= 0 && static_cast<std::size_t>(lease) < backends_.size()) backends_[static_cast<std::size_t>(lease)] = nullptr;
}

// What is over a limit that was lowered some time ago ends, whoever uses it.
void Leases::enforce_evictions() {
  ledger_.evictions(slot_, evictions_);
  if (!evictions_.empty()) surplus_due_ = true;  // enough may have gone by themselves
  const std::vector<ledger::Eviction> due(evictions_);
  for (const ledger::Eviction& one : due) {
    const auto index = static_cast<std::size_t>(one.lease);
    if (now_ms() - one.since_ms < kEvictionGraceMs || index >= backends_.size() || backends_[index] == nullptr) continue;
    Backend& backend = *backends_[index];
    if (backend.state() != BackendState::Busy) continue;
    log::warning("closing a connection to node {} that is in use: there are more than a limit that was lowered allows", backend.node());
    backend.give_up(make_error(sqlstate::kAdminShutdown, "terminating connection: there are more server connections than a limit that was lowered allows",
                               fmt::format("Database \"{}\", user \"{}\", node {}.", backend.key().database, backend.key().user, backend.node()),
                               "See pool_size, max_db_connections and max_user_connections."));
  }
}

void Leases::gained(BackendGroup& group, ledger::LeaseId lease) {
  if (groups_.size() <= static_cast<std::size_t>(lease)) groups_.resize(static_cast<std::size_t>(lease) + 1);
  groups_[static_cast<std::size_t>(lease)] = &group;
  group.gained_ms = now_ms();
}

ledger::Demand Leases::demand(const BackendGroup& group) {
  const auto in_use = static_cast<std::int32_t>(group.total) - static_cast<std::int32_t>(group.idle.size());
  return {group.total, in_use + static_cast<std::int32_t>(group.waiters.size()), group.gained_ms};
}

std::int64_t Leases::own_since(const BackendGroup& group) {
  return group.waiters.empty() ? 0 : monotonic_milliseconds(group.waiters.front().since);
}

void Leases::waiters_changed(BackendGroup& group) {
  if (group.wait < 0) return;
  if (const std::int64_t since = own_since(group); since > 0) return ledger_.set_waiting_since(slot_, group.wait, since, demand(group));
  ledger_.stop_waiting(slot_, group.wait);
  group.wait = -1;
}

void Leases::note_idle(const Backend& backend) {
  if (backend.lease >= 0) ledger_.mark_idle(slot_, backend.lease, now_ms());
}

void Leases::note_in_use(const Backend& backend) {
  if (backend.lease >= 0) ledger_.mark_in_use(slot_, backend.lease, now_ms());
}

void Leases::note_pid(const Backend& backend) {
  if (backend.lease < 0) return;
  ledger_.set_backend_pid(slot_, backend.lease, backend.pid);
  ledger_.mark_ready(slot_, backend.lease, now_ms());
}

void Leases::ended(Backend& backend) {
  if (backend.lease < 0) return;
  const ledger::LeaseId lease = std::exchange(backend.lease, -1);
  unbind(lease);
  BackendGroup* group = group_of(lease);
  give_back(lease);
  if (group != nullptr) worker_.backends().lease_is_back(*group);
}

void Leases::give_back(ledger::LeaseId lease) {
  groups_[static_cast<std::size_t>(lease)] = nullptr;
  notify(ledger_.give_back(slot_, lease, now_ms()));
}

void Leases::close(Backend& backend, std::unique_ptr<Stream> stream) {
  unbind(backend.lease);
  ledger_.begin_closing(slot_, backend.lease, now_ms());
  if (BackendGroup* group = group_of(backend.lease)) ++group->ending;
  ending_.push_back(std::make_unique<Ending>(*this, backend, std::move(stream)));
  backend.lease = -1;
}

void Leases::end(Ending& ending) {
  const auto it = std::find_if(ending_.begin(), ending_.end(), [&](const auto& one) { return one.get() == &ending; });
  if (it == ending_.end()) return;
  std::unique_ptr<Ending> done = std::move(*it);
  ending_.erase(it);
  const ledger::LeaseId lease = done->lease;
  done->abandon();
  worker_.loop().destroy_later(std::move(done));
  BackendGroup* group = group_of(lease);
  give_back(lease);
  if (group == nullptr) return;
  --group->ending;
  worker_.backends().lease_is_back(*group);
}

// ------------------------------------------------------------------------------------------------ what others ask of this

BackendGroup* Leases::group_of(ledger::LeaseId lease) const {
  return lease >= 0 && static_cast<std::size_t>(lease) < groups_.size() ? groups_[static_cast<std::size_t>(lease)] : nullptr;
}

void Leases::look() {
  const std::uint32_t calls = ledger_.calls(slot_);
  if (calls == calls_seen_ && !look_again_) return;
  look_again_ = !ledger_.call_ins(slot_, now_ms(), calls_);
  calls_at_ms_ = now_ms();
  std::erase_if(fulfilled_, [&](const ledger::CallIn& done) { return calls_at_ms_ - done.called_ms > kCallsGoodMs; });
  std::erase_if(calls_, [&](const ledger::CallIn& call) {
    return std::any_of(fulfilled_.begin(), fulfilled_.end(), [&](const ledger::CallIn& done) { return done.is_same(call); });
  });
  if (!look_again_) calls_seen_ = calls;
  ledger_.evictions(slot_, evictions_);
}

void Leases::fulfil(const ledger::CallIn& call) {
  fulfilled_.push_back(call);
  std::erase_if(calls_, [&](const ledger::CallIn& one) { return one.is_same(fulfilled_.back()); });
}

Leases::Fate Leases::fate_of(const BackendGroup& group, const Backend& backend) {
  notice_limits();
  if (is_evicted(backend)) return {true, std::nullopt};
  if (calls_.empty()) return {};
  const auto wish = [&] { return std::find_if(calls_.begin(), calls_.end(), [&](const auto& call) { return group_of(call.lease) == &group; }); };
  if (now_ms() - calls_at_ms_ <= kCallsGoodMs && wish() == calls_.end()) return {};
  // The one who asked may have got another meanwhile.
  look_again_ = true;
  look();
  const auto still = wish();
  if (still == calls_.end()) return {};
  const ledger::CallIn call = *still;
  fulfil(call);
  return {true, call};
}

void Leases::begin_handing(const Backend& backend) { ledger_.hand_over(slot_, backend.lease, now_ms()); }

bool Leases::is_adopted(Backend& backend) {
  if (!ledger_.adopted(slot_, backend.lease)) return false;
  unbind(backend.lease);
  groups_[static_cast<std::size_t>(backend.lease)] = nullptr;
  backend.lease = -1;
  return true;
}

bool Leases::take_back(const Backend& backend) { return ledger_.take_back(slot_, backend.lease, now_ms()); }

Leases::Answer Leases::adopt(int giver, ledger::LeaseId given, BackendGroup& group, ledger::LeaseId& lease) {
  const ledger::PoolName pool{std::get<0>(group.key), std::get<1>(group.key), std::get<2>(group.key)};
  notice_limits();
  for (int i = 0; i < kAsks; ++i) {
    const ledger::AcquireResult result = ledger_.adopt(slot_, giver, given, pool, group.wait, now_ms());
    notify(result.wakes);
    if (result.outcome == ledger::Outcome::Busy) continue;
    group.wait = result.wait;
    if (result.outcome != ledger::Outcome::Done) return Answer::NoRoom;
    lease = result.lease;
    gained(group, lease);
    if (surplus_due_) mark_surplus();  // while it was on its way it was not judged
    return Answer::Granted;
  }
  return Answer::Wait;
}

void Leases::mark_surplus() {
  const ledger::Ledger::SurplusResult result = ledger_.mark_surplus([this](const ledger::PoolName& pool) { return limits_for(pool); }, now_ms());
  surplus_due_ = result.outcome == ledger::Outcome::Busy || result.again;
  for (const int child : result.wake) worker_.wake_child(child);
}

bool Leases::notice_limits() {
  if (ledger_.overrides_epoch() == epoch_) return false;
  read_overrides();
  mark_surplus();
  ledger_.evictions(slot_, evictions_);
  return !evictions_.empty();
}

bool Leases::is_evicted(const Backend& backend) const { return ledger_.is_evicted(slot_, backend.lease); }

void Leases::sweep() {
  ++version_;  // max_connections of a node
  if (ledger_.overrides_epoch() != epoch_) read_overrides();
  if (surplus_due_) mark_surplus();
  enforce_evictions();
  std::vector<Ending*> over;
  for (const auto& ending : ending_) {
    if (!worker_.node_accepts(ending->node) && worker_.loop().now() - ending->since > kUnreachable) over.push_back(ending.get());
  }
  for (Ending* ending : over) end(*ending);
}

}  // namespace weir::child
