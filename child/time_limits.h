// How long a client may be silent, and how long what it has asked for may take. Pure: moments in, a verdict out. The names
// and their meaning are PgBouncer's (client_idle_timeout is client_idle_limit of Pgpool-II, and like that ends clients that
// have a server connection of their own too).
#pragma once

#include <chrono>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/config/config.h"

namespace weir::child {

// What binds a client of one database and user; 0 is no limit.
struct TimeLimits {
  std::chrono::seconds query_wait{0};   // for a server connection or a primary; kept by whoever waits
  std::chrono::seconds query_notify{0}; // waiting, until the client is told that it waits
  std::chrono::seconds query{0};
  std::chrono::seconds transaction{0};
  std::chrono::seconds idle_transaction{0};
  std::chrono::seconds client_idle{0};
  bool operator==(const TimeLimits&) const = default;
};

TimeLimits time_limits(const config::Config& config, std::string_view database, std::string_view user);

// The client as it is at one moment.
struct TimeState {
  enum class Phase { Idle, Waiting, Running } phase = Phase::Idle;  // Waiting: for a server, nothing is sent yet
  bool in_transaction = false;  // as the client was last told
  bool notified = false;        // it knows that it waits
  Monotonic query_since{};        // since it asked; with Waiting and Running
  Monotonic transaction_since{};  // since the first query of the transaction; with in_transaction and Running
  Monotonic active_at{};          // when the client was last heard or answered
};

enum class TimeOver { Nothing, NotifyWaiting, ClientIdle, IdleTransaction, Transaction, Query, QueryWaiting };

struct TimeVerdict {
  TimeOver over = TimeOver::Nothing;
  Monotonic next = Monotonic::max();  // when to ask again, if nothing happens till then
};

TimeVerdict judge_time(const TimeState& state, const TimeLimits& limits, Monotonic now);
// The earliest moment at which something that begins at NOW may be over; max if nothing is limited.
Monotonic earliest_end(const TimeLimits& limits, Monotonic now);

// What the client is told, as FATAL (NotifyWaiting: as a notice). The message is PgBouncer's.
Error time_error(TimeOver over, const TimeLimits& limits, std::string_view user);

}  // namespace weir::child
