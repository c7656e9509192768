#include "child/leases.h"

#include <sys/socket.h>

#include <algorithm>
#include <string>

#include "child/cancel.h"
#include "child/worker.h"
#include "common/base/log.h"
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
// A wish of another child is good for so long.
constexpr std::int64_t kCallsGoodMs = ledger::kCallPatienceMs;

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

ledger::Limits Leases::limits_for(const ledger::PoolName& pool) const {
  config::RuntimeOverrides said;
  for (const ledger::Override& one : overrides_) {
    const bool database = one.database == pool.database;
    const bool user = one.user == pool.user;
    if (one.kind == ledger::OverrideKind::Pool && database && user) said.pool = one.limits;
    if (one.kind == ledger::OverrideKind::User && user) said.user = one.limits;
    if (one.kind == ledger::OverrideKind::Database && database) said.database = one.limits;
  }
  shmem::Mapping& mapping = *worker_.context().mapping;
  shmem::Observation node;
  std::int32_t ceiling = config::kNoLimit;
  if (pool.node >= 0 && pool.node < shmem::kMaxNodes && mapping.observations().read(pool.node, node)) {
    // Each child looks up the catalogue over one connection to the primary, and health has one to each node.
    const std::int32_t service = 1 + (pool.node == worker_.nodes().primary ? static_cast<std::int32_t>(worker_.config().num_init_children) : 0);
    ceiling = ledger::node_ceiling(node.max_connections, node.reserved_connections, 0, service);
  }
  return ledger::limits_of(config::effective_pool(worker_.config(), pool.database, pool.user, said), ceiling);
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
    request.wait = group.wait;
    request.may_wait = may_wait;
    const ledger::AcquireResult result = ledger_.acquire(slot_, request, now_ms());
    notify(result.wakes);
    group.wait = result.wait;
    switch (result.outcome) {
      case ledger::Outcome::Done:
        lease = result.lease;
        if (groups_.size() <= static_cast<std::size_t>(lease)) groups_.resize(static_cast<std::size_t>(lease) + 1);
        groups_[static_cast<std::size_t>(lease)] = &group;
        if (result.from_reserve) {
          log::warning("taking connection from reserve_pool (database \"{}\", user \"{}\", node {})", request.pool.database, request.pool.user, request.pool.node);
        }
        return Answer::Granted;
      case ledger::Outcome::Refused:
        if (result.refused_by != ledger::Limit::Turn) group.refused_by = result.refused_by;
        return Answer::Wait;
      case ledger::Outcome::Full: return Answer::NoRoom;
      case ledger::Outcome::Stale: read_overrides(); break;
      case ledger::Outcome::Busy: break;
    }
  }
  return Answer::Wait;
}

std::int64_t Leases::own_since(const BackendGroup& group) {
  return group.waiters.empty() ? 0 : monotonic_milliseconds(group.waiters.front().since);
}

void Leases::waiters_changed(BackendGroup& group) {
  if (group.wait < 0) return;
  if (const std::int64_t since = own_since(group); since > 0) return ledger_.set_waiting_since(slot_, group.wait, since);
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
  if (backend.lease >= 0) ledger_.set_backend_pid(slot_, backend.lease, backend.pid);
}

void Leases::ended(Backend& backend) {
  if (backend.lease < 0) return;
  const ledger::LeaseId lease = std::exchange(backend.lease, -1);
  BackendGroup* group = group_of(lease);
  give_back(lease);
  if (group != nullptr) worker_.backends().lease_is_back(*group);
}

void Leases::give_back(ledger::LeaseId lease) {
  groups_[static_cast<std::size_t>(lease)] = nullptr;
  notify(ledger_.give_back(slot_, lease, now_ms()));
}

void Leases::close(Backend& backend, std::unique_ptr<Stream> stream) {
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
  if (!look_again_) calls_seen_ = calls;
  ledger_.evictions(slot_, evictions_);
}

bool Leases::must_go(const BackendGroup& group, const Backend& backend) {
  const auto evicted = std::find_if(evictions_.begin(), evictions_.end(), [&](const auto& one) { return one.lease == backend.lease; });
  if (evicted != evictions_.end()) {
    evictions_.erase(evicted);
    return true;
  }
  if (calls_.empty()) return false;
  const auto wish = [&] {
    return std::find_if(calls_.begin(), calls_.end(), [&](const auto& call) { return group_of(call.lease) == &group && ledger::gives_up(own_since(group), call.since_ms); });
  };
  if (now_ms() - calls_at_ms_ <= kCallsGoodMs && wish() == calls_.end()) return false;
  // The one who asked may have got another meanwhile.
  look_again_ = true;
  look();
  const auto still = wish();
  if (still == calls_.end()) return false;
  calls_.erase(still);
  return true;
}

void Leases::sweep() {
  ++version_;  // max_connections of a node
  if (ledger_.overrides_epoch() != epoch_) read_overrides();
  if (surplus_due_) {
    const ledger::Ledger::SurplusResult result = ledger_.mark_surplus([this](const ledger::PoolName& pool) { return limits_for(pool); }, now_ms());
    surplus_due_ = result.outcome == ledger::Outcome::Busy;
    for (const int child : result.wake) worker_.wake_child(child);
  }
  std::vector<Ending*> over;
  for (const auto& ending : ending_) {
    if (!worker_.node_accepts(ending->node) && worker_.loop().now() - ending->since > kUnreachable) over.push_back(ending.get());
  }
  for (Ending* ending : over) end(*ending);
}

}  // namespace weir::child
