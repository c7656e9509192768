// What a session may take its time for: see client_session.h, time_limits.h and time_sweep.h.
#include <algorithm>

#include "child/cancel.h"
#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/time_sweep.h"
#include "child/worker.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

constexpr Milliseconds kLookAgain{333};

}  // namespace

TimeLimits ClientSession::time_limits() const {
  TimeLimits limits = info_->limits;
  const config::Config* own = settings_.config();
  if (own != nullptr && own->client_idle_limit != worker_.config().client_idle_limit) limits.client_idle = std::chrono::seconds(own->client_idle_limit);
  if (identity_.is_replication()) limits.query = limits.transaction = limits.idle_transaction = std::chrono::seconds(0);
  return limits;
}

// A limit has come, has changed or is gone.
void ClientSession::expect_times() {
  if (info_ != nullptr) worker_.times().expect(earliest_end(time_limits(), worker_.loop().now()));
}

Monotonic ClientSession::idle_until() const {
  const std::chrono::seconds limit = time_limits().client_idle;
  return limit.count() > 0 ? active_at_ + limit : Monotonic::max();
}

void ClientSession::query_begins() {
  if (query_since_ != Monotonic{}) return;
  query_since_ = worker_.loop().now();
  if (transaction_since_ == Monotonic{}) transaction_since_ = query_since_;
}

// What was asked first is answered; of a pipeline the next one begins.
void ClientSession::query_ends() {
  query_since_ = tracker_.idle() ? Monotonic{} : worker_.loop().now();
  if (status_ == 'I') transaction_since_ = query_since_;
  wait_notified_ = false;
}

TimeState ClientSession::time_state() const {
  using Phase = TimeState::Phase;
  TimeState state;
  if (state_ == ClientState::AwaitBackend || state_ == ClientState::AwaitPrimary) {
    state.phase = Phase::Waiting;
  } else if (state_ != ClientState::Idle || query_since_ != Monotonic{}) {
    state.phase = Phase::Running;
  }
  state.in_transaction = status_ != 'I';
  state.notified = wait_notified_;
  state.query_since = query_since_;
  state.transaction_since = transaction_since_;
  state.active_at = active_at_;
  return state;
}

Monotonic ClientSession::check_times(Monotonic now) {
  if (login_ != nullptr || info_ == nullptr || state_ == ClientState::Startup || state_ == ClientState::Closing) return Monotonic::max();
  const TimeLimits limits = time_limits();
  const TimeState state = time_state();
  const TimeVerdict verdict = judge_time(state, limits, now);
  if (verdict.over != TimeOver::Nothing) time_is_over(verdict.over, limits);
  if (state_ == ClientState::Closing) return Monotonic::max();
  if (!worker_.config().server_fast_close || pool_mode_ != PoolMode::Session) return std::min(verdict.next, earliest_end(limits, now));
  const bool out_of_date = std::any_of(set_.begin(), set_.end(), [](const auto& backend) { return BackendCache::is_out_of_date(*backend); });
  if (!out_of_date) return std::min(verdict.next, earliest_end(limits, now));
  if (state.phase != TimeState::Phase::Idle || state.in_transaction || !tracker_.idle()) return now + kLookAgain;
  fail(make_fatal(sqlstate::kAdminShutdown, "database configuration changed", "The session's server connection was opened by settings that have changed since.",
                  "server_fast_close is on."));
  return Monotonic::max();
}

void ClientSession::time_is_over(TimeOver over, const TimeLimits& limits) {
  Error error = time_error(over, limits, identity_.user);
  if (over == TimeOver::NotifyWaiting) {
    wait_notified_ = true;
    if (server_left_ > 0) return;  // not into the middle of a message
    std::string out;
    wire::encode_notice(out, error);
    stream_.write(out);
    return;
  }
  // The server would go on with it for nobody. The connection is closed: it is no other client's that the cancel may hit.
  const Backend* at_work = internal_ != nullptr ? internal_backend_ : active_;
  const bool works = internal_ != nullptr || !tracker_.idle() || tracker_.unsynced();
  if (works && at_work != nullptr) worker_.cancel_before_exit(at_work->node(), at_work->pid, at_work->cancel_key);
  fail(std::move(error));
}

}  // namespace weir::child
