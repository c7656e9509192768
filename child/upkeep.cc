#include "child/upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/sqlstate.h"
#include "common/config/effective.h"

namespace weir::child {
namespace {

using std::chrono::seconds;

constexpr Milliseconds kFirstPause{250};
constexpr int kMostDoublings = 16;
// As many connections as PgBouncer has in a pool unless told otherwise.
constexpr std::int64_t kUsualSize = 20;
// An attempt that nobody has told the end of does not bar the way for ever.
constexpr seconds kLongestAttempt{60};

}  // namespace

ConnectionTimes connection_times(const config::Config& config, std::string_view database, std::string_view user) {
  const config::EffectivePool pool = config::effective_pool(config, database, user);
  ConnectionTimes times;
  times.lifetime = seconds(pool.server_lifetime);
  const std::int64_t size = pool.pool_size == config::kNoLimit ? kUsualSize : std::max<std::int64_t>(pool.pool_size, 1);
  times.gap = Milliseconds(times.lifetime) / size;
  const config::SectionSettings* line = config::database_settings(config, database);
  if (line != nullptr) times.connect_query = line->connect_query.value_or("");
  return times;
}

bool lifetime_is_over(const ConnectionTimes& times, Monotonic connected_at, Monotonic last_closed, Monotonic now) {
  if (times.lifetime.count() <= 0 || now - connected_at < times.lifetime) return false;
  return last_closed == Monotonic{} || now - last_closed >= times.gap;
}

std::string_view check_query(const config::Config& config) {
  return config.server_check_query == "<empty>" ? std::string_view() : std::string_view(config.server_check_query);
}

LoginGate::Answer LoginGate::ask(Monotonic now, seconds retry) const {
  if (!failing()) return Answer::Open;
  if (under_way_since_ != Monotonic{} && now - under_way_since_ < kLongestAttempt) return Answer::Hold;
  if (now >= next_) return Answer::Open;
  return gives_up(now, retry) ? Answer::Fail : Answer::Hold;
}

void LoginGate::failed(Error error, bool starting, Monotonic now, seconds retry, double luck) {
  error_ = std::move(error);
  starting_ = starting;
  if (failing() && now < next_) return;  // one of several that were under way at the same time
  if (!failing()) failing_since_ = now;
  const Milliseconds pause = std::min<Milliseconds>(kFirstPause * (1LL << std::min(failures_, kMostDoublings)), retry);
  next_ = now + pause / 2 + std::chrono::duration_cast<Milliseconds>(pause * (luck / 2));
  ++failures_;
  under_way_since_ = {};
}

Error login_has_been_failing(const Error& last) {
  return make_error(sqlstate::kCannotConnectNow, fmt::format("server login has been failing, cached error: {} (server_login_retry)", last.message), last.detail,
                    "The server is tried again at most server_login_retry after it has failed. SHOW POOL_NODES tells the state of each node.");
}

}  // namespace weir::child
