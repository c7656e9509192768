// Backends that are lent by the transaction (pool_mode = transaction and statement): see client_session.h.
#include <algorithm>

#include "child/client_session.h"
#include "child/leases.h"
#include "child/worker.h"
#include "common/config/config.h"

namespace weir::child {
namespace {

constexpr std::chrono::seconds kLookUpPatience{1};

bool has_named(const Backend& backend) {
  return backend.prepared.size() > (backend.prepared.contains(std::string_view()) ? 1U : 0U);
}

}  // namespace

// Something of the session is on its primary connection that another connection would not have.
bool ClientSession::keeps_primary() const {
  return sql_prepared_ || names_.has_unrepeatable() || routing_.open_cursor || !unverified_.empty() || !unverified_now_.empty() || !unreplayable().empty();
}

bool ClientSession::part_with_surplus(Backend& backend) {
  worker_.backends().notice_limits();
  if (!worker_.leases().is_evicted(backend)) return true;
  const Monotonic now = worker_.loop().now();
  // What is looked up is known soon, or never.
  if (!unverified_.empty() && (surplus_since_ == Monotonic{} || now - surplus_since_ < kLookUpPatience)) {
    if (surplus_since_ == Monotonic{}) surplus_since_ = now;
    set_state(ClientState::AwaitPrimary);
    worker_.park(*this);
    return false;
  }
  surplus_since_ = {};
  give_back();
  return true;
}

// Between two transactions no backend is the session's, those excepted that hold what cannot be replayed.
void ClientSession::give_back() {
  if (set_.empty() || pool_mode_ == PoolMode::Session || state_ != ClientState::Idle || status_ != 'I' || held_ != HeldBlock::None) return;
  if (internal_ != nullptr || acquiring_ || cancel_ != nullptr || !tracker_.idle() || tracker_.unsynced() || tracker_.skipping()) return;
  if (server_left_ > 0 || stream_left_ > 0 || batch_.retained) return;
  const bool keeps = keeps_primary() || std::any_of(set_.begin(), set_.end(), [this](const auto& backend) { return keeps_sequences(*backend); });
  // What the catalogue says of the names that were used is on its way.
  if (keeps && !unverified_.empty()) worker_.park(*this);
  for (std::size_t i = set_.size(); i-- > 0;) {
    if ((keeps && primary_backend(*set_[i])) || is_abandoned(*set_[i])) continue;
    std::unique_ptr<Backend> backend = std::move(set_[i]);
    set_.erase(set_.begin() + static_cast<std::ptrdiff_t>(i));
    if (active_ == backend.get()) active_ = nullptr;
    if (backend->status != 'I' || !backend->alive()) {
      worker_.backends().discard(std::move(backend));
    } else if (backend->applied == state_of_session_.version() && !has_named(*backend)) {
      // Whoever comes next has not prepared the unnamed statement, if there is one.
      if (const auto unnamed = backend->prepared.find(std::string_view()); unnamed != backend->prepared.end()) unnamed->second = 0;
      backend->image = state_image();
      backend->applied = Backend::kAsImage;
      worker_.backends().give_back(std::move(backend));
    } else {
      worker_.backends().release(std::move(backend));
    }
  }
  if (!set_.empty()) return;
  worker_.may_sleep_soon();
  if (move_to_ >= 0) worker_.move_soon(*this);
}

}  // namespace weir::child
