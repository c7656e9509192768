#include "child/time_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/base/sqlstate.h"
#include "common/config/effective.h"

namespace weir::child {
namespace {

using std::chrono::seconds;

// Collects verdicts: the first one that is over counts, else the earliest of those to come.
class Judge {
 public:
  explicit Judge(Monotonic now) : now_(now) {}
  void limit(TimeOver what, seconds limit, Monotonic since) {
    if (limit.count() <= 0 || verdict_.over != TimeOver::Nothing) return;
    const Monotonic end = since + limit;
    if (end <= now_) {
      verdict_ = {what, now_};
    } else {
      verdict_.next = std::min(verdict_.next, end);
    }
  }
  TimeVerdict verdict() const { return verdict_; }

 private:
  Monotonic now_;
  TimeVerdict verdict_;
};

// A limit as its error tells it.
struct Told {
  std::string_view sqlstate;
  std::string_view message;
  std::string_view name;
  seconds limit;
};

Told told(TimeOver over, const TimeLimits& limits) {
  switch (over) {
    case TimeOver::ClientIdle: return {sqlstate::kIdleSessionTimeout, "client_idle_timeout", "client_idle_limit (client_idle_timeout)", limits.client_idle};
    case TimeOver::IdleTransaction: return {sqlstate::kIdleInTransactionTimeout, "idle transaction timeout", "idle_transaction_timeout", limits.idle_transaction};
    case TimeOver::Transaction: return {sqlstate::kTransactionTimeout, "transaction timeout", "transaction_timeout", limits.transaction};
    case TimeOver::QueryWaiting: return {sqlstate::kQueryCanceled, "query_timeout", "query_timeout", limits.query};
    case TimeOver::Query:
    case TimeOver::NotifyWaiting:
    case TimeOver::Nothing: break;
  }
  return {sqlstate::kQueryCanceled, "query timeout", "query_timeout", limits.query};
}

std::string_view what_happened(TimeOver over) {
  switch (over) {
    case TimeOver::ClientIdle: return "The client was idle for longer than that.";
    case TimeOver::IdleTransaction: return "The client was idle for longer than that within a transaction, which is rolled back.";
    case TimeOver::Transaction: return "The transaction took longer than that, and is rolled back.";
    case TimeOver::QueryWaiting: return "The query has waited longer than that for a server connection.";
    default: return "The query took longer than that, and is cancelled on the server.";
  }
}

}  // namespace

TimeLimits time_limits(const config::Config& config, std::string_view database, std::string_view user) {
  const config::EffectivePool pool = config::effective_pool(config, database, user);
  const config::EffectiveClient client = config::effective_client(config, database, user);
  TimeLimits limits;
  limits.query_wait = seconds(client.query_wait_timeout);
  limits.query_notify = seconds(config.query_wait_notify);
  limits.query = seconds(pool.query_timeout);
  limits.transaction = seconds(pool.transaction_timeout);
  limits.idle_transaction = seconds(pool.idle_transaction_timeout);
  limits.client_idle = seconds(client.client_idle_timeout);
  return limits;
}

TimeVerdict judge_time(const TimeState& state, const TimeLimits& limits, Monotonic now) {
  using Phase = TimeState::Phase;
  Judge judge(now);
  if (state.phase == Phase::Running) judge.limit(TimeOver::Query, limits.query, state.query_since);
  if (state.phase == Phase::Waiting) judge.limit(TimeOver::QueryWaiting, limits.query, state.query_since);
  // A client that waits for its first server connection has no transaction that would hold up anybody.
  if (state.in_transaction || state.phase == Phase::Running) judge.limit(TimeOver::Transaction, limits.transaction, state.transaction_since);
  if (state.phase == Phase::Waiting && !state.notified) judge.limit(TimeOver::NotifyWaiting, limits.query_notify, state.query_since);
  if (state.phase == Phase::Idle && state.in_transaction) judge.limit(TimeOver::IdleTransaction, limits.idle_transaction, state.active_at);
  if (state.phase == Phase::Idle) judge.limit(TimeOver::ClientIdle, limits.client_idle, state.active_at);
  return judge.verdict();
}

Monotonic earliest_end(const TimeLimits& limits, Monotonic now) {
  seconds least = seconds::max();
  for (const seconds limit : {limits.query_notify, limits.query, limits.transaction, limits.idle_transaction, limits.client_idle}) {
    if (limit.count() > 0) least = std::min(least, limit);
  }
  return least == seconds::max() ? Monotonic::max() : now + least;
}

Error time_error(TimeOver over, const TimeLimits& limits, std::string_view user) {
  WEIR_CHECK(over != TimeOver::Nothing);
  if (over == TimeOver::NotifyWaiting) {
    Error notice = make_error(sqlstate::kSuccessfulCompletion, "No server connection available in postgres backend, client being queued",
                              fmt::format("The client has waited for query_wait_notify, which is {} s.", limits.query_notify.count()));
    notice.severity = Severity::Notice;
    return notice;
  }
  const Told what = told(over, limits);
  return make_fatal(what.sqlstate, std::string(what.message),
                    fmt::format("{} is {} s for user \"{}\". {}", what.name, what.limit.count(), user, what_happened(over)));
}

}  // namespace weir::child
