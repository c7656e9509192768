// Brings backends to where the session is: see client_session.h.
#include <algorithm>

#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/replay_messages.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"

namespace weir::child {

// Brings the backend to where the session is; true if there is nothing (left) to do.
bool ClientSession::prepare(Backend& backend) {
  if (internal_ != nullptr) return false;
  if (backend.status != 'I') return true;
  ReplayMessages messages;
  // A block that will be opened there brings along what it has changed itself.
  const bool before_block = held_ == HeldBlock::Held || block_node_ >= 0;
  const StateVersion version = before_block ? state_of_session_.block_version() : state_of_session_.version();
  if (backend.applied == Backend::kAsImage) {
    const StateImagePtr wanted = before_block ? worker_.images().intern(state_of_session_.image(true)) : state_image();
    messages = replay_messages(difference(backend.image.get(), wanted.get()));
    if (messages.ready == 0) backend.applied = version;
  } else if (backend.applied != version) {
    messages = replay_messages(state_of_session_.difference(backend.applied, before_block));
    if (messages.ready == 0) backend.applied = version;
  }
  if (messages.ready == 0) {
    if (login_change_ < info_->oldest_change) tell_new_defaults(backend);
    return true;
  }
  if (messages.discards) backend.forget_statements();
  backend.prepared.erase(std::string());  // the messages close it
  Backend* raw = &backend;
  start_internal(backend, std::move(messages.bytes), messages.ready, [this, raw, version](InternalResult& result) {
    if (result.lost) {
      remove_backend(*raw);
      batch_.node = -1;
    } else if (result.error && raw->node() != worker_.nodes().primary && (block_node_ < 0 || batch_.aside)) {
      // The session's state may be such as a standby does not take: its primary does.
      log::print(log::Level::Info, log_context(), "node {} does not take the state of the session: {}", raw->node(), result.error->one_line());
      excluded_.set(static_cast<std::size_t>(raw->node()));
      remove_backend(*raw);
      batch_.node = -1;
    } else if (result.error) {
      return refuse_batch(*result.error);
    } else {
      raw->applied = version;
      for (const auto& [name, value] : result.parameters) tell_parameter(*raw, name, value);
    }
    pump();
  });
  return false;
}

// What a connection holds that has caught up with the session. Outside of blocks only.
const StateImagePtr& ClientSession::state_image() {
  if (image_version_ != state_of_session_.version()) {
    image_ = worker_.images().intern(state_of_session_.image());
    image_version_ = state_of_session_.version();
  }
  return image_;
}

void ClientSession::start_internal(Backend& backend, std::string messages, int ready, std::function<void(InternalResult&)> done) {
  set_state(ClientState::Preparing);
  internal_backend_ = &backend;
  internal_ = InternalQuery::start(worker_, backend, std::move(messages), ready, [this, raw = &backend, then = std::move(done)](InternalResult& result) {
    internal_ = nullptr;
    internal_backend_ = nullptr;
    internal_backend_done_ = raw;
    if (!result.lost) raw->set_user(this);
    set_state(ClientState::Idle);
    then(result);
  });
}

}  // namespace weir::child
