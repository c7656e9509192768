// When a server connection has served long enough, when it is to be looked at before its next use, and when a server that
// could not be reached is tried again. Pure: moments in, decisions out. The settings are PgBouncer's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/config/config.h"

namespace weir::child {

// What the configuration says of the connections of one database and user.
struct ConnectionTimes {
  std::chrono::seconds lifetime{0};  // 0: for ever
  Milliseconds gap{0};               // between two that are closed for their age
  std::string connect_query;
  bool operator==(const ConnectionTimes&) const = default;
};
ConnectionTimes connection_times(const config::Config& config, std::string_view database, std::string_view user);

// Is the lifetime of a connection that is not in use over? Those that were opened together are not closed together:
// LAST_CLOSED is when the last one was closed for its age; Monotonic{} if none was.
bool lifetime_is_over(const ConnectionTimes& times, Monotonic connected_at, Monotonic last_closed, Monotonic now);

// Is a connection that is taken at NOW looked at with server_check_query first?
inline bool check_is_due(const config::Config& config, Monotonic released_at, Monotonic now) {
  return now - released_at >= std::chrono::seconds(config.server_check_delay) && !config.server_check_query.empty();
}
// The text to send.
std::string_view check_query(const config::Config& config);

// server_login_retry: whether a server may be asked for a connection. While it cannot be reached it is asked by one at a
// time, with pauses that grow from a quarter of a second to server_login_retry.
class LoginGate {
 public:
  enum class Answer {
    Open,  // try
    Hold,  // not now: whoever asks may wait a moment and ask again
    Fail,  // not now, and it has failed for server_login_retry: nobody waits
  };

  Answer ask(Monotonic now, std::chrono::seconds retry) const;
  void begun(Monotonic now) { under_way_since_ = now; }
  // LUCK in [0, 1) spreads those who have failed together. STARTING: the server answers that it cannot be used yet (57P03),
  // which makes nobody give up.
  void failed(Error error, bool starting, Monotonic now, std::chrono::seconds retry, double luck);
  void succeeded() { *this = {}; }
  bool failing() const { return failures_ > 0; }
  // Has it failed for so long that whoever waits is told?
  bool gives_up(Monotonic now, std::chrono::seconds retry) const { return failing() && !starting_ && now - failing_since_ >= retry; }
  const Error& last_error() const { return error_; }

 private:
  int failures_ = 0;  // those that came while a pause was running count as one
  bool starting_ = false;
  Monotonic failing_since_{};
  Monotonic next_{};
  Monotonic under_way_since_{};
  Error error_;
};

// What a client is told that is not made to wait.
Error login_has_been_failing(const Error& last);

}  // namespace weir::child
