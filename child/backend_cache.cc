#include "child/backend_cache.h"

#include <algorithm>

#include "child/internal_query.h"
#include "child/leases.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/wire/backend.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"

namespace weir::child {
namespace {

constexpr std::chrono::seconds kSaturatedPause{1};
// At idle connections of which the server has something to say, before one is opened instead.
constexpr int kLooks = 16;

}  // namespace

// The user of every idle connection: anything but a harmless notice means that the connection is of no use any more.
class BackendCache::IdleWatch final : public BackendUser {
 public:
  explicit IdleWatch(BackendCache& cache) : cache_(cache) {}

 private:
  std::size_t on_backend_bytes(Backend& backend, Bytes bytes) override {
    std::size_t taken = 0;
    while (true) {
      const Bytes rest = bytes.subspan(taken);
      const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromServer, rest);
      if (header.status == wire::FrameStatus::NeedMore) return taken;
      const bool harmless = header.status == wire::FrameStatus::Ok &&
                            (header.tag == 'N' || header.tag == 'S' || header.tag == 'A') &&
                            header.total() <= Worker::kReadSize;
      if (!harmless) {
        drop(backend);
        return bytes.size();
      }
      if (header.total() > rest.size()) return taken;
      if (header.tag == 'S') {
        if (const auto parameter = wire::parse_parameter_status(rest.subspan(5, header.total() - 5))) {
          backend.parameters.note(parameter->name, parameter->value);
        }
      }
      taken += header.total();
    }
  }
  void on_backend_drained(Backend&) override {}
  void on_backend_lost(Backend& backend, const Error&) override { drop(backend); }

  void drop(Backend& backend) {
    for (auto& [key, group] : cache_.groups_) {
      for (auto it = group->idle.begin(); it != group->idle.end(); ++it) {
        if (it->get() != &backend) continue;
        std::unique_ptr<Backend> dead = std::move(*it);
        group->idle.erase(it);
        dead->close();
        cache_.worker_.loop().destroy_later(std::move(dead));
        if (cache_.looking_) {
          --group->total;
        } else {
          cache_.gone(*group);
        }
        return;
      }
    }
  }

  BackendCache& cache_;
};

BackendCache::BackendCache(Worker& worker) : worker_(worker), idle_watch_(std::make_unique<IdleWatch>(*this)) {
  deadline_timer_.set(worker.loop(), [this] { check_deadlines(); });
}

BackendCache::~BackendCache() = default;

BackendGroup& BackendCache::group(const BackendKey& key, int node) {
  Group::Key group_key(key.database, key.user, node);
  auto& slot = groups_[group_key];
  if (!slot) {
    slot = std::make_unique<Group>();
    slot->key = std::move(group_key);
    slot->times = connection_times(worker_.config(), key.database, key.user);
    slot->oldest_change = worker_.login_info(key.database, key.user).oldest_change;
  }
  return *slot;
}

int BackendCache::limit() const {
  const auto max_pool = worker_.config().max_pool;
  return max_pool > 0 ? static_cast<int>(max_pool) : 1 << 30;  // 0: the node's own ceiling, which answers 53300
}

std::unique_ptr<Backend> BackendCache::take_out(Group& group, std::vector<std::unique_ptr<Backend>>::iterator which) {
  std::unique_ptr<Backend> backend = std::move(*which);
  group.idle.erase(which);
  return backend;
}

// The one with the wanted state, else a fresh one, else the one that was not used for longest: the others may find theirs
// again.
std::vector<std::unique_ptr<Backend>>::iterator BackendCache::best_idle(Group& group, const BackendKey& key, const AcquireRequest& request) {
  const auto count = static_cast<std::ptrdiff_t>(group.idle.size());
  const bool oldest_first = worker_.config().server_round_robin;
  auto best = group.idle.end();
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto it = group.idle.begin() + (oldest_first ? i : count - 1 - i);
    // Half of a message that nobody has asked for is nobody's: the rest of it would be taken for an answer.
    if ((*it)->key() != key || !(*it)->quiet() || worker_.leases().is_evicted(**it)) continue;
    if ((*it)->image == request.image) return it;
    // Of those with a state of their own the one that was not used for longest, a fresh one before them.
    const bool fresh = (*it)->image == nullptr;
    if (best == group.idle.end() || (oldest_first ? fresh && (*best)->image != nullptr : (*best)->image != nullptr)) best = it;
  }
  return best;
}

std::unique_ptr<Backend> BackendCache::take_idle(Group& group, const BackendKey& key, const AcquireRequest& request) {
  for (int i = 0; i < kLooks; ++i) {
    const auto best = best_idle(group, key, request);
    if (best == group.idle.end()) return nullptr;
    // What the server has said since must not be taken for the answer to what is asked next, and its end is seen here too.
    // One that was given back in this very turn has just been read to its end.
    if ((*best)->released_at != worker_.loop().now()) {
      looking_ = true;
      const bool said = (*best)->look();
      looking_ = false;
      if (said) continue;
    }
    std::unique_ptr<Backend> backend = take_out(group, best);
    backend->set_user(nullptr);
    backend->set_state(BackendState::Busy, request.lent);
    worker_.leases().note_in_use(*backend);
    ++backend->uses;
    return backend;
  }
  return nullptr;
}

BackendCache::Acquired BackendCache::acquire(AcquireRequest request, BackendWaiter& waiter) {
  Group& wanted = request.group != nullptr && *request.group != nullptr ? **request.group : group(*request.key, request.node);
  if (request.group != nullptr) *request.group = &wanted;
  notice_limits();
  std::unique_ptr<Backend> idle;
  if (!request.fresh && request.key->replication.empty() && wanted.waiters.empty()) idle = take_idle(wanted, *request.key, request);
  if (idle != nullptr && !check_is_due(worker_.config(), idle->released_at, worker_.loop().now())) return {std::move(idle)};
  if (idle == nullptr) {
    if (auto refused = refused_by_gate(wanted)) return {nullptr, false, std::move(refused)};
  }
  Waiting waiting{request, *request.key, &waiter, request.secret != nullptr ? *request.secret : std::nullopt};
  waiting.request.secret = nullptr;
  waiting.request.key = nullptr;
  waiting.request.group = nullptr;
  if (!request.may_wait && worker_.loop().now() < wanted.saturated_until) return {nullptr, true};
  waiting.since = worker_.loop().now();
  if (idle != nullptr) {
    ++waiting_;
    check(wanted, std::move(waiting), std::move(idle));
    worker_.publish_waiting(waiting_);
    return {};
  }
  ledger::LeaseId lease = -1;
  const Opening opening = wanted.waiters.empty() ? may_open(wanted, waiting.request, waiting.since, lease) : Opening::Wait;
  if (opening != Opening::Open && !request.may_wait) return {nullptr, true};
  ++waiting_;
  if (opening == Opening::Open) {
    open(wanted, std::move(waiting), lease);
  } else {
    if (opening == Opening::NoRoom) refuse_at_once(waiting);
    wanted.waiters.push_back(std::move(waiting));
    arm_deadlines(wanted);
  }
  worker_.publish_waiting(waiting_);
  return {nullptr, false};
}

// A connection of other startup parameters that lies idle in a full group makes room.
bool BackendCache::make_room(Group& group) {
  if (group.idle.empty()) return false;
  std::unique_ptr<Backend> oldest = take_out(group, group.idle.begin());
  oldest->close();
  worker_.loop().destroy_later(std::move(oldest));
  --group.total;
  return true;
}

// Whether a connection may be opened now, with the LEASE for it.
BackendCache::Opening BackendCache::may_open(Group& group, const AcquireRequest& request, Monotonic since, ledger::LeaseId& lease) {
  group.ask_at = worker_.loop().now() + kLedgerRetry;
  if (group.total >= limit() && !make_room(group)) {
    group.refused_by = ledger::Limit::None;
    return Opening::Wait;
  }
  if (!may_login(std::get<2>(group.key))) return Opening::Wait;
  switch (worker_.leases().ask(group, since, request.may_wait, lease)) {
    case Leases::Answer::Granted: return Opening::Open;
    case Leases::Answer::NoRoom: return Opening::NoRoom;
    case Leases::Answer::Wait: break;
  }
  if (group.ask_again_ms != 0) {
    const Milliseconds later(std::max<std::int64_t>(group.ask_again_ms - monotonic_milliseconds(worker_.loop().now()), 1));
    group.ask_at = std::min(group.ask_at, worker_.loop().now() + later);
  }
  // What lies idle here does not fit: its place is free when the server has ended it.
  if (group.ending == 0) make_room(group);
  return Opening::Wait;
}

// The least recently used idle connection to NODE, of whomever, is closed: the server has no slot left.
bool BackendCache::evict_on_node(int node) {
  Group* victim = nullptr;
  for (auto& [key, group] : groups_) {
    if (std::get<2>(key) != node || group->idle.empty()) continue;
    if (victim == nullptr || group->idle.front()->released_at < victim->idle.front()->released_at) victim = group.get();
  }
  if (victim == nullptr) return false;
  return make_room(*victim);
}

void BackendCache::open(Group& group, Waiting waiting, ledger::LeaseId lease) {
  auto attempt = std::make_unique<Attempt>();
  Attempt* raw = attempt.get();
  ++group.total;
  attempt->group = &group;
  attempt->waiting = std::move(waiting);
  attempt->backend = std::make_unique<Backend>(worker_, std::get<2>(group.key), attempt->waiting.key);
  attempt->backend->home = &group;
  attempt->backend->generation = group.generation;
  attempt->backend->login_change = worker_.login_changes();
  attempt->backend->lease = lease;
  worker_.leases().bind(*attempt->backend);
  if (attempt->waiting.waiter != nullptr && attempt->waiting.key.fixed.empty() && attempt->waiting.key.replication.empty()) {
    group.secret = attempt->waiting.secret;
    group.secret_known = true;
  }
  gates_.at(static_cast<std::size_t>(std::get<2>(group.key))).begun(worker_.loop().now());
  worker_.register_backend(*attempt->backend);
  attempt->login = std::make_unique<BackendLogin>(worker_, *attempt->backend, attempt->waiting.secret,
                                                  [this, raw](const LoginFailure* failure) { attempt_done(raw, failure); });
  attempts_.push_back(std::move(attempt));
  const shmem::Node& node = worker_.nodes().nodes.at(static_cast<std::size_t>(std::get<2>(group.key)));
  const std::string_view address = node.address.view().empty() ? node.hostname.view() : node.address.view();
  raw->login->start(address, node.port, Milliseconds(worker_.connect_timeout(std::get<2>(group.key))));
}

void BackendCache::attempt_done(Attempt* attempt, const LoginFailure* failure) {
  std::unique_ptr<Attempt> done = take_attempt(attempt);
  if (done == nullptr) return;
  done->method = done->login->method();
  worker_.loop().destroy_later(std::move(done->login));
  note_login(done->backend->node(), failure);
  if (failure != nullptr) return login_failed(std::move(done), *failure);
  run_connect_query(std::move(done));
}

void BackendCache::attempt_failed(Group& group, Waiting waiting, const LoginFailure& failure) {
  const int node = std::get<2>(group.key);
  AcquireFailure told{AcquireFailure::Kind::Login, failure};
  told.give_up = gates_.at(static_cast<std::size_t>(node)).gives_up(worker_.loop().now(), std::chrono::seconds(worker_.config().server_login_retry));
  if (told.give_up) told.login.error = login_has_been_failing(failure.error);
  if (failure.kind == LoginFailure::Kind::Saturated) {
    // A slot that is given up is free only once the server has noticed: whoever may wait tries again shortly.
    evict_on_node(node);
    group.saturated_until = worker_.loop().now() + kSaturatedPause;
    if (waiting.request.may_wait && waiting.request.deadline > worker_.loop().now()) {
      worker_.recall_idle(node);
      group.waiters.push_front(std::move(waiting));
      group.ask_at = worker_.loop().now() + kSaturatedRetry;
      worker_.leases().waiters_changed(group);
      return arm_deadlines(group);
    }
    if (!waiting.request.may_wait) told.kind = AcquireFailure::Kind::Full;
  }
  --waiting_;
  worker_.publish_waiting(waiting_);
  waiting.waiter->on_backend_failed(node, told);
  serve_waiters(group);
}

bool BackendCache::may_keep(const Backend& backend) const {
  return backend.alive() && !backend.tainted && worker_.config().connection_cache && backend.key().replication.empty() &&
         !is_out_of_date(backend) && worker_.node_accepts(backend.node()) && !retires(backend, worker_.loop().now());
}

void BackendCache::release(std::unique_ptr<Backend> backend) {
  if (!may_keep(*backend)) return discard(std::move(backend));
  reset(std::move(backend));
}

void BackendCache::give_back(std::unique_ptr<Backend> backend) {
  if (worker_.config().server_reset_query_always) return release(std::move(backend));
  if (!may_keep(*backend)) return discard(std::move(backend));
  backend->set_state(BackendState::Idle, true);
  Group& owner = *backend->home;
  store(owner, std::move(backend));
}

void BackendCache::reset(std::unique_ptr<Backend> backend) {
  std::string messages;
  int queries = 0;
  for (const std::string& query : worker_.reset_queries()) {
    if (query == "ABORT" && backend->status == 'I') continue;
    wire::encode_query(messages, query);
    ++queries;
  }
  // What it has set is gone by DISCARD ALL, or may be changed.
  if (const std::string& made_by = backend->home->times.connect_query; !made_by.empty()) {
    wire::encode_query(messages, made_by);
    ++queries;
  }
  backend->set_state(BackendState::Resetting);
  backend->applied = 0;
  backend->image = nullptr;
  backend->drawn_by = 0;
  backend->forget_statements();
  Backend* raw = backend.get();
  resetting_.push_back(std::move(backend));
  if (queries == 0) return reset_done(raw, raw->status == 'I');
  InternalQuery::start(worker_, *raw, std::move(messages), queries, [this, raw](InternalResult& result) {
    if (result.error && !result.lost) {
      log::warning("reset of a connection to node {} failed, closing it: {}", raw->node(), result.error->one_line());
    }
    reset_done(raw, !result.lost && !result.error && result.status == 'I');
  });
}

void BackendCache::reset_done(Backend* backend, bool clean) {
  const auto it = std::find_if(resetting_.begin(), resetting_.end(), [&](const auto& b) { return b.get() == backend; });
  if (it == resetting_.end()) return;
  std::unique_ptr<Backend> owned = std::move(*it);
  resetting_.erase(it);
  if (!clean) return discard(std::move(owned));
  owned->set_state(BackendState::Idle);
  Group& owner = *owned->home;
  store(owner, std::move(owned));
}

void BackendCache::store(Group& group, std::unique_ptr<Backend> backend) {
  if (is_out_of_date(*backend)) return discard(std::move(backend));  // since it was reset, asked or sent here
  if (const Leases::Fate fate = worker_.leases().fate_of(group, *backend); fate.goes) return part_with(std::move(backend), fate.call);
  backend->released_at = worker_.loop().now();
  worker_.leases().note_idle(*backend);
  backend->set_user(idle_watch_.get());
  backend->resume_reading();
  Backend& stored = *backend;
  group.idle.push_back(std::move(backend));
  stored.poke();  // what arrived behind the last answer
  serve_waiters(group);
}

void BackendCache::discard(std::unique_ptr<Backend> backend) {
  Group& owner = *backend->home;
  backend->set_user(nullptr);
  backend->close();
  worker_.loop().destroy_later(std::move(backend));
  gone(owner);
}

void BackendCache::drop_node(int node) {
  for (auto& [key, group] : groups_) {
    if (std::get<2>(key) != node) continue;
    while (make_room(*group)) {
    }
  }
}

void BackendCache::drop_idle() {
  for (auto& [key, group] : groups_) {
    while (make_room(*group)) {
    }
  }
}

bool BackendCache::has_idle() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const auto& g) { return !g.second->idle.empty(); });
}

void BackendCache::each_closing(const std::function<void(const std::string&, const std::string&, int)>& tell) const {
  for (const auto& [key, group] : groups_) {
    if (group->ending > 0) tell(std::get<0>(key), std::get<1>(key), group->ending);
  }
}

}  // namespace weir::child
