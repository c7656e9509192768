// Upkeep of server connections: what is asked of them before they are used, how long they are kept, and when a server that
// cannot be reached is tried again: see backend_cache.h and upkeep.h.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "child/backend_cache.h"
#include "child/internal_query.h"
#include "child/leases.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

// Logins under way to one node, of one child: more at a time would only take the server's cores from each other.
constexpr std::ptrdiff_t kMaxLogins = 16;
constexpr Milliseconds kUsualTimeout{10000};

bool says_nothing_of_the_server(const LoginFailure& failure) {
  return failure.kind != LoginFailure::Kind::Unreachable && failure.kind != LoginFailure::Kind::Timeout && failure.kind != LoginFailure::Kind::NotUsable;
}

bool is_elsewhere(const config::Config& before, const config::Config& now, std::size_t node) {
  if (node >= before.backends.size() || node >= now.backends.size()) return node < before.backends.size() || node < now.backends.size();
  return before.backends[node].hostname != now.backends[node].hostname || before.backends[node].port != now.backends[node].port;
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- lifetimes

bool BackendCache::retires(const Backend& backend, Monotonic now) {
  Group& group = *backend.home;
  if (!lifetime_is_over(group.times, backend.connected_at, group.last_aged, now)) return false;
  group.last_aged = now;
  return true;
}

void BackendCache::sweep(Monotonic now) {
  keep_minimum(now);
  const auto life = worker_.config().connection_life_time;
  for (auto& [key, group] : groups_) {
    for (auto it = group->idle.begin(); it != group->idle.end();) {
      const bool idle_long = life > 0 && now - (*it)->released_at >= std::chrono::seconds(life);
      if (!idle_long && !retires(**it, now)) {
        ++it;
        continue;
      }
      (*it)->close();
      worker_.loop().destroy_later(std::move(*it));
      it = group->idle.erase(it);
      --group->total;
    }
  }
}

void BackendCache::config_changed(const config::Config& before) {
  const config::Config& config = worker_.config();
  for (auto& [key, group] : groups_) {
    ConnectionTimes times = connection_times(config, std::get<0>(key), std::get<1>(key));
    const bool out_of_date = times.connect_query != group->times.connect_query || is_elsewhere(before, config, static_cast<std::size_t>(std::get<2>(key)));
    group->times = std::move(times);
    if (!out_of_date) continue;
    ++group->generation;
    while (make_room(*group)) {
    }
  }
  serve_later();
}

// ---------------------------------------------------------------------------------------------------------------- logins

std::unique_ptr<BackendCache::Attempt> BackendCache::take_attempt(Attempt* attempt) {
  const auto it = std::find_if(attempts_.begin(), attempts_.end(), [&](const auto& a) { return a.get() == attempt; });
  if (it == attempts_.end()) return nullptr;
  std::unique_ptr<Attempt> taken = std::move(*it);
  attempts_.erase(it);
  return taken;
}

bool BackendCache::may_login(int node) const {
  const LoginGate& gate = gates_.at(static_cast<std::size_t>(node));
  const std::chrono::seconds retry(worker_.config().server_login_retry);
  if (gate.failing() && gate.ask(worker_.loop().now(), retry) != LoginGate::Answer::Open) return false;
  return std::count_if(attempts_.begin(), attempts_.end(), [&](const auto& one) { return one->login != nullptr && one->backend->node() == node; }) < kMaxLogins;
}

// A login to NODE is over. FAILURE may be one of the login alone: then the server was reached.
void BackendCache::note_login(int node, const LoginFailure* failure) {
  LoginGate& gate = gates_.at(static_cast<std::size_t>(node));
  if (failure == nullptr || says_nothing_of_the_server(*failure)) {
    if (gate.failing()) gate.succeeded();
    if (waiting_ > 0) serve_later();
    return;
  }
  const std::chrono::seconds retry(worker_.config().server_login_retry);
  gate.failed(failure->error, failure->kind == LoginFailure::Kind::NotUsable, worker_.loop().now(), retry, worker_.random().unit());
  // One that does not answer is left alone by the others meanwhile.
  if (failure->kind != LoginFailure::Kind::NotUsable) worker_.suspect(node);
}

void BackendCache::node_is_back(int node) { gates_.at(static_cast<std::size_t>(node)).succeeded(); }

std::optional<AcquireFailure> BackendCache::refused_by_gate(const Group& group) const {
  const LoginGate& gate = gates_.at(static_cast<std::size_t>(std::get<2>(group.key)));
  if (!gate.failing()) return std::nullopt;
  const LoginGate::Answer answer = gate.ask(worker_.loop().now(), std::chrono::seconds(worker_.config().server_login_retry));
  if (answer == LoginGate::Answer::Open) return std::nullopt;
  AcquireFailure failure;
  failure.kind = AcquireFailure::Kind::Login;
  failure.login.error = login_has_been_failing(gate.last_error());
  failure.give_up = answer == LoginGate::Answer::Fail && group.total == 0;
  return failure;
}

// Those who wait for a connection to NODE that nobody has: they ask again, or go elsewhere.
void BackendCache::tell_waiters(int node, const LoginFailure& failure) {
  AcquireFailure told{AcquireFailure::Kind::Login, failure};
  const LoginGate& gate = gates_.at(static_cast<std::size_t>(node));
  told.give_up = gate.gives_up(worker_.loop().now(), std::chrono::seconds(worker_.config().server_login_retry));
  if (told.give_up) told.login.error = login_has_been_failing(failure.error);
  std::vector<BackendWaiter*> waiters;
  for (auto& [key, group] : groups_) {
    if (std::get<2>(key) != node || group->total > 0 || group->waiters.empty()) continue;
    for (const Waiting& waiting : group->waiters) waiters.push_back(waiting.waiter);
    group->waiters.clear();
    worker_.leases().waiters_changed(*group);
  }
  waiting_ -= waiters.size();
  worker_.publish_waiting(waiting_);
  for (BackendWaiter* waiter : waiters) waiter->on_backend_failed(node, told);
}

void BackendCache::login_failed(std::unique_ptr<Attempt> attempt, const LoginFailure& failure) {
  Group& group = *attempt->group;
  if (failure.kind == LoginFailure::Kind::NeedPassword || failure.kind == LoginFailure::Kind::Refused) group.secret_known = false;
  attempt->backend->close();
  worker_.loop().destroy_later(std::move(attempt->backend));
  --group.total;
  Waiting waiting = std::move(attempt->waiting);
  const int node = std::get<2>(group.key);
  if (waiting.waiter == nullptr) {
    serve_waiters(group);
  } else {
    attempt_failed(group, std::move(waiting), failure);
  }
  if (!says_nothing_of_the_server(failure)) tell_waiters(node, failure);
}

// A connection that was just opened is somebody's, or is cached for the next one.
void BackendCache::attempt_ready(std::unique_ptr<Attempt> attempt) {
  if (must_compare(*attempt)) return compare_defaults(std::move(attempt));
  Backend& backend = *attempt->backend;
  worker_.learn_login(backend, attempt->method);
  backend.set_user(nullptr);
  if (attempt->waiting.waiter == nullptr) {
    backend.set_state(BackendState::Idle);
    return store(*attempt->group, std::move(attempt->backend));
  }
  --waiting_;
  worker_.publish_waiting(waiting_);
  backend.set_state(BackendState::Busy);
  ++backend.uses;
  attempt->waiting.waiter->on_backend(std::move(attempt->backend));
}

// ------------------------------------------------------------------------------------------- asked before they are used

// Runs TEXT on the attempt's connection; THEN gets the result, null if there was none in the time that a login may take.
void BackendCache::ask_first(std::unique_ptr<Attempt> attempt, std::string_view text, std::function<void(std::unique_ptr<Attempt>&, InternalResult*)> then) {
  Attempt* raw = attempt.get();
  attempts_.push_back(std::move(attempt));
  const auto finish = [this, raw, then = std::move(then)](InternalResult* result) {
    std::unique_ptr<Attempt> done = take_attempt(raw);
    if (done == nullptr) return;
    done->query = nullptr;
    done->deadline.disarm();
    then(done, result);
    if (done != nullptr) worker_.loop().destroy_later(std::move(done));  // its timer may be what calls
  };
  raw->deadline.set(worker_.loop(), [raw, finish] {
    raw->query->abandon();
    finish(nullptr);
  });
  const Milliseconds limit(worker_.connect_timeout(raw->backend->node()));
  raw->deadline.arm(limit.count() > 0 ? limit : kUsualTimeout);
  std::string message;
  wire::encode_query(message, text);
  raw->query = InternalQuery::start(worker_, *raw->backend, std::move(message), 1, [finish](InternalResult& result) { finish(&result); });
}

void BackendCache::lost_while_asked(std::unique_ptr<Attempt>& attempt, bool answered, std::string_view what) {
  LoginFailure failure;
  failure.kind = answered ? LoginFailure::Kind::Unreachable : LoginFailure::Kind::Timeout;
  failure.error = make_error(sqlstate::kConnectionFailure, fmt::format("node {} {} {}", attempt->backend->node(), answered ? "closed the connection at" : "did not answer", what));
  note_login(attempt->backend->node(), &failure);
  login_failed(std::move(attempt), failure);
}

// connect_query of the database. Its error is nobody's; a transaction that it leaves open is rolled back.
void BackendCache::run_connect_query(std::unique_ptr<Attempt> attempt) {
  const std::string& text = attempt->group->times.connect_query;
  if (text.empty() || !attempt->backend->key().replication.empty()) return attempt_ready(std::move(attempt));
  const auto lost = [this](std::unique_ptr<Attempt>& done, const InternalResult* result) { lost_while_asked(done, result != nullptr, "connect_query"); };
  ask_first(std::move(attempt), text, [this, lost](std::unique_ptr<Attempt>& done, InternalResult* result) {
    if (result != nullptr && result->error && !result->lost) {
      log::warning("connect_query of database \"{}\" failed on node {}: {}", done->backend->key().database, done->backend->node(), result->error->one_line());
    }
    if (result == nullptr || result->lost) return lost(done, result);
    if (result->status == 'I') return attempt_ready(std::move(done));
    ask_first(std::move(done), "ROLLBACK", [this, lost](std::unique_ptr<Attempt>& again, InternalResult* end) {
      if (end == nullptr || end->lost || end->status != 'I') return lost(again, end);
      attempt_ready(std::move(again));
    });
  });
}

// server_check_query, for somebody who is to get BACKEND.
void BackendCache::check(Group& group, Waiting waiting, std::unique_ptr<Backend> backend) {
  auto attempt = std::make_unique<Attempt>();
  attempt->group = &group;
  attempt->waiting = std::move(waiting);
  attempt->backend = std::move(backend);
  ask_first(std::move(attempt), check_query(worker_.config()), [this](std::unique_ptr<Attempt>& done, InternalResult* result) {
    const bool good = result != nullptr && !result->lost && !result->error && result->status == 'I';
    if (!good) {
      log::info("a connection to node {} is closed: server_check_query {}", done->backend->node(), result == nullptr ? "was not answered" : result->error ? result->error->one_line() : "left a transaction open");
      worker_.suspect(done->backend->node());
    }
    checked(done, good);
  });
}

void BackendCache::checked(std::unique_ptr<Attempt>& attempt, bool good) {
  Group& group = *attempt->group;
  std::unique_ptr<Backend> backend = std::move(attempt->backend);
  Waiting waiting = std::move(attempt->waiting);
  if (good && waiting.waiter == nullptr) {
    backend->set_state(BackendState::Idle);
    return store(group, std::move(backend));
  }
  if (!good && waiting.waiter != nullptr && waiting.request.may_wait) {
    group.waiters.push_front(std::move(waiting));
    arm_deadlines(group);
    return discard(std::move(backend));
  }
  if (!good) discard(std::move(backend));
  if (waiting.waiter == nullptr) return;
  --waiting_;
  worker_.publish_waiting(waiting_);
  if (good) return waiting.waiter->on_backend(std::move(backend));
  waiting.waiter->on_backend_failed(std::get<2>(group.key), {});
}

}  // namespace weir::child
