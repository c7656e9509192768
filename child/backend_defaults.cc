// Connections whose login gave them other defaults than a new one would get: see backend_cache.h and login_defaults.h.
#include <utility>

#include "child/backend_cache.h"
#include "child/internal_query.h"
#include "child/login_defaults.h"
#include "child/worker.h"

namespace weir::child {
namespace {

constexpr std::chrono::seconds kBehindPause{1};

}  // namespace

void BackendCache::login_has_changed(const std::string& database, const std::string& user, std::uint64_t change) {
  for (auto it = groups_.lower_bound({database, user, -1}); it != groups_.end(); ++it) {
    auto& [key, group] = *it;
    if (std::get<0>(key) != database || std::get<1>(key) != user) break;
    ++group->generation;
    group->oldest_change = change;
    group->compared_change = 0;
    while (make_room(*group)) {
    }
  }
  serve_later();
}

// A standby may not have replayed yet what the primary has told of the pair.
bool BackendCache::must_compare(const Attempt& attempt) const {
  Backend& backend = *attempt.backend;
  const std::uint64_t changes = worker_.login_changes();
  const int primary = worker_.nodes().primary;
  if (changes == 0 || primary < 0 || backend.node() == primary || attempt.group->compared_change == changes) return false;
  const LoginInfo& info = worker_.login_info(backend.key().database, backend.key().user);
  if (info.checked_change == changes) return !info.fingerprint.empty();
  // Nobody knows yet what the pair's should be. Whoever finds out that it is another than before will not use this one.
  backend.login_change = info.checked_change;
  return false;
}

// Even a standby that has the change by now may have been asked to log in before: this connection is not used. The client
// reads on another node meanwhile.
void BackendCache::compare_defaults(std::unique_ptr<Attempt> attempt) {
  const std::string question = ask_fingerprint(attempt->backend->key().user);
  ask_first(std::move(attempt), question, [this, changes = worker_.login_changes()](std::unique_ptr<Attempt>& done, InternalResult* result) {
    if (result == nullptr || result->lost) return lost_while_asked(done, result != nullptr, "a question for its defaults");
    Group& group = *done->group;
    LoginInfo& info = worker_.login_info(std::get<0>(group.key), std::get<1>(group.key));
    const bool same = result->rows.size() == 1 && result->rows[0].size() == 1 && result->rows[0][0] == info.fingerprint;
    if (same) {
      if (info.checked_change == changes) group.compared_change = changes;
    } else {
      group.saturated_until = worker_.loop().now() + kBehindPause;
      info.check_again = true;  // it may be the primary that has changed, unseen
    }
    Waiting waiting = std::move(done->waiting);
    discard(std::move(done->backend));
    if (waiting.waiter == nullptr) return;
    --waiting_;
    worker_.publish_waiting(waiting_);
    waiting.waiter->on_backend_failed(std::get<2>(group.key), {});
  });
}

}  // namespace weir::child
