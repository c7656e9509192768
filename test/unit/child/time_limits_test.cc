// Whose time is over: a table of states and limits.
#include "child/time_limits.h"

#include <gtest/gtest.h>

#include <string>

#include "common/config/loader.h"

namespace weir::child {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Phase = TimeState::Phase;

// Moments in seconds since the client asked, had its first query, and was last heard or answered.
struct Row {
  const char* what;
  Phase phase;
  bool in_transaction;
  int query;
  int transaction;
  int silent;
  TimeLimits limits;
  TimeOver over;
  int next;  // seconds from now on; -1: never
};

TimeLimits limits_of(int notify, int query, int transaction, int idle_transaction, int client_idle) {
  return {seconds(0), seconds(notify), seconds(query), seconds(transaction), seconds(idle_transaction), seconds(client_idle)};
}

const Row kRows[] = {
    {"nothing is limited", Phase::Running, true, 900, 900, 900, limits_of(0, 0, 0, 0, 0), TimeOver::Nothing, -1},
    {"a query in time", Phase::Running, false, 4, 4, 9, limits_of(0, 5, 0, 0, 0), TimeOver::Nothing, 1},
    {"a query that is not", Phase::Running, false, 5, 5, 9, limits_of(0, 5, 0, 0, 0), TimeOver::Query, 0},
    {"one that waits for a server", Phase::Waiting, false, 5, 5, 9, limits_of(0, 5, 0, 0, 0), TimeOver::QueryWaiting, 0},
    {"nobody asks", Phase::Idle, false, 0, 0, 90, limits_of(5, 5, 5, 5, 0), TimeOver::Nothing, -1},
    {"a transaction's query in time, the transaction not", Phase::Running, true, 1, 7, 1, limits_of(0, 5, 7, 0, 0), TimeOver::Transaction, 0},
    {"a transaction between two queries", Phase::Idle, true, 0, 7, 1, limits_of(0, 5, 7, 0, 0), TimeOver::Transaction, 0},
    {"a single statement is a transaction", Phase::Running, false, 7, 7, 7, limits_of(0, 0, 7, 0, 0), TimeOver::Transaction, 0},
    {"the query goes before the transaction", Phase::Running, true, 7, 7, 7, limits_of(0, 7, 7, 0, 0), TimeOver::Query, 0},
    {"the first statement waits for a server", Phase::Waiting, false, 8, 8, 8, limits_of(0, 0, 7, 0, 0), TimeOver::Nothing, -1},
    {"a later one does", Phase::Waiting, true, 1, 8, 8, limits_of(0, 0, 7, 0, 0), TimeOver::Transaction, 0},
    {"idle in a transaction", Phase::Idle, true, 0, 60, 3, limits_of(0, 0, 0, 3, 0), TimeOver::IdleTransaction, 0},
    {"... not yet", Phase::Idle, true, 0, 60, 1, limits_of(0, 0, 0, 3, 0), TimeOver::Nothing, 2},
    {"idle, but in none", Phase::Idle, false, 0, 0, 60, limits_of(0, 0, 0, 3, 0), TimeOver::Nothing, -1},
    {"a statement of a transaction is no idleness", Phase::Running, true, 60, 60, 60, limits_of(0, 0, 0, 3, 3), TimeOver::Nothing, -1},
    {"idle too long", Phase::Idle, false, 0, 0, 9, limits_of(0, 0, 0, 0, 9), TimeOver::ClientIdle, 0},
    {"... in a transaction too", Phase::Idle, true, 0, 9, 9, limits_of(0, 0, 0, 0, 9), TimeOver::ClientIdle, 0},
    {"the transaction's own limit first", Phase::Idle, true, 0, 9, 9, limits_of(0, 0, 0, 9, 9), TimeOver::IdleTransaction, 0},
    {"waits, and is told so", Phase::Waiting, false, 5, 5, 5, limits_of(5, 0, 0, 0, 0), TimeOver::NotifyWaiting, 0},
    {"... soon", Phase::Waiting, false, 4, 4, 4, limits_of(5, 0, 0, 0, 0), TimeOver::Nothing, 1},
    {"the end goes before the notice", Phase::Waiting, false, 6, 6, 6, limits_of(5, 6, 0, 0, 0), TimeOver::QueryWaiting, 0},
    {"the nearest of several", Phase::Idle, true, 0, 4, 1, limits_of(0, 0, 6, 4, 5), TimeOver::Nothing, 2},
};

TEST(TimeLimits, whose_time_is_over) {
  const Monotonic now = Monotonic{} + seconds(100000);
  for (const Row& row : kRows) {
    TimeState state;
    state.phase = row.phase;
    state.in_transaction = row.in_transaction;
    state.query_since = now - seconds(row.query);
    state.transaction_since = now - seconds(row.transaction);
    state.active_at = now - seconds(row.silent);
    const TimeVerdict verdict = judge_time(state, row.limits, now);
    EXPECT_EQ(static_cast<int>(verdict.over), static_cast<int>(row.over)) << row.what;
    EXPECT_EQ(verdict.next, row.next < 0 ? Monotonic::max() : now + seconds(row.next)) << row.what;
  }
}

TEST(TimeLimits, who_waits_is_told_once) {
  const Monotonic now = Monotonic{} + seconds(1000);
  TimeState state;
  state.phase = Phase::Waiting;
  state.notified = true;
  state.query_since = now - seconds(50);
  EXPECT_EQ(judge_time(state, limits_of(5, 0, 0, 0, 0), now).over, TimeOver::Nothing);
  EXPECT_EQ(judge_time(state, limits_of(5, 60, 0, 0, 0), now).next, now + seconds(10));
}

TEST(TimeLimits, not_a_millisecond_early) {
  const Monotonic now = Monotonic{} + seconds(1000);
  TimeState state;
  state.phase = Phase::Running;
  state.query_since = now - milliseconds(2999);
  EXPECT_EQ(judge_time(state, limits_of(0, 3, 0, 0, 0), now).over, TimeOver::Nothing);
  EXPECT_EQ(judge_time(state, limits_of(0, 3, 0, 0, 0), now + milliseconds(1)).over, TimeOver::Query);
}

TEST(TimeLimits, the_longest_that_can_be_set) {
  const Monotonic now = monotonic_now();
  const int longest = 2147483647;
  TimeState state;
  state.phase = Phase::Running;
  state.query_since = state.transaction_since = state.active_at = now;
  const TimeLimits limits = limits_of(longest, longest, longest, longest, longest);
  EXPECT_EQ(judge_time(state, limits, now).over, TimeOver::Nothing);
  EXPECT_GT(earliest_end(limits, now), now);
}

TEST(TimeLimits, what_begins_now_cannot_end_before) {
  const Monotonic now = Monotonic{} + seconds(1000);
  EXPECT_EQ(earliest_end(limits_of(0, 0, 0, 0, 0), now), Monotonic::max());
  EXPECT_EQ(earliest_end(limits_of(5, 9, 0, 3, 7), now), now + seconds(3));
}

TEST(TimeLimits, of_the_configuration) {
  const char* text = "query_timeout = 1min\nidle_transaction_timeout = 5\ntransaction_timeout = 9\nclient_idle_limit = 7\n"
                                    "query_wait_timeout = 8\nquery_wait_notify = 2\n"
                                    "[databases]\nd = query_wait_timeout=4\n"
                                    "[users]\nu = query_timeout=1 transaction_timeout=2 idle_transaction_timeout=3 client_idle_timeout=0\n";
  const auto config = config::load_with({"/c/main.conf", {}, {}}, [&](const std::string&) -> Result<std::string> { return text; }).config;
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(time_limits(*config, "x", "y"), (TimeLimits{seconds(8), seconds(2), seconds(60), seconds(9), seconds(5), seconds(7)}));
  EXPECT_EQ(time_limits(*config, "d", "u"), (TimeLimits{seconds(4), seconds(2), seconds(1), seconds(2), seconds(3), seconds(0)}));
}

TEST(TimeLimits, errors_name_the_setting) {
  const TimeLimits limits = limits_of(1, 2, 3, 4, 5);
  struct Told {
    TimeOver over;
    const char* sqlstate;
    const char* message;
    const char* detail;
  };
  for (const Told& told : {Told{TimeOver::Query, "57014", "query timeout", "query_timeout is 2 s for user \"u\"."},
                           Told{TimeOver::QueryWaiting, "57014", "query_timeout", "query_timeout is 2 s for user \"u\"."},
                           Told{TimeOver::Transaction, "25P04", "transaction timeout", "transaction_timeout is 3 s for user \"u\"."},
                           Told{TimeOver::IdleTransaction, "25P03", "idle transaction timeout", "idle_transaction_timeout is 4 s for user \"u\"."},
                           Told{TimeOver::ClientIdle, "57P05", "client_idle_timeout", "client_idle_limit (client_idle_timeout) is 5 s for user \"u\"."}}) {
    const Error error = time_error(told.over, limits, "u");
    EXPECT_EQ(error.severity, Severity::Fatal) << told.message;
    EXPECT_EQ(error.sqlstate, told.sqlstate);
    EXPECT_EQ(error.message, told.message);
    EXPECT_EQ(error.detail.substr(0, std::string(told.detail).size()), told.detail);
  }
  const Error notice = time_error(TimeOver::NotifyWaiting, limits, "u");
  EXPECT_EQ(notice.severity, Severity::Notice);
  EXPECT_EQ(notice.sqlstate, "00000");
  EXPECT_EQ(notice.message, "No server connection available in postgres backend, client being queued");
}

}  // namespace
}  // namespace weir::child
