// Reads that are run again elsewhere, and servers that are lost: see client_session.h.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "child/client_session.h"
#include "child/retry.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"

namespace weir::child {

// What a standby refused is run again: on the primary, or where a recovery conflict is not likely.
void ClientSession::retry_elsewhere(Backend& backend) {
  tracker_.clear();
  names_.drop_pending();
  if (names_before_) names_ = std::move(*names_before_);
  names_before_.reset();
  running_.clear();
  running_head_ = 0;
  hold_.clear();
  begun_ = false;
  failed_ = false;
  discarding_ = false;
  ++retries_;
  excluded_.set(static_cast<std::size_t>(backend.node()));
  batch_.retained = false;
  batch_.retried = true;
  batch_.forced = lb::Reason::RunAgain;
  if (block_on_standby()) hold_block_again();
  batch_.node = retry_on_primary_ ? worker_.nodes().primary : -1;
  if (retry_on_primary_) batch_.primary_only = true;
  if (std::exchange(batch_.aside, false)) {  // into the block
    batch_.node = block_node_;
    batch_.primary_only = true;
  }
  set_state(ClientState::Idle);
  schedule_pump();
}

// A standby has nothing of the session but a block, which may be opened anew elsewhere.
bool ClientSession::nothing_is_lost_with(const Backend& backend) const {
  if (primary_backend(backend)) return unreplayable().empty();
  return block_node_ != backend.node() || block_can_move();
}

void ClientSession::remove_backend(Backend& backend) {
  const auto it = std::find_if(set_.begin(), set_.end(), [&](const auto& b) { return b.get() == &backend; });
  if (it == set_.end()) return;
  std::unique_ptr<Backend> owned = std::move(*it);
  set_.erase(it);
  forget_abandoned(*owned);
  if (active_ == &backend) {
    active_ = nullptr;
    tracker_.clear();
    names_.drop_pending();
  }
  if (reader_node_ == owned->node()) reader_node_ = -1;
  worker_.backends().discard(std::move(owned));
}

void ClientSession::on_backend_lost(Backend& backend, const Error& error) {
  if (state_ == ClientState::Closing) return;
  worker_.suspect(backend.node());
  const bool under_way = &backend == active_ && (!tracker_.idle() || tracker_.unsynced());
  if (under_way) return lose_exchange(backend, error);
  if (told_fatal_) return end(last_fatal_.one_line());  // the client has it from the server itself
  if (backend.node() == block_node_ && block_can_move()) {
    // Nothing is lost with it: the block is opened anew where its next statement goes, if it has not failed.
    set_held(status_ == 'T' ? HeldBlock::Held : HeldBlock::Aborted);
    return remove_backend(backend);
  }
  const bool held_state = backend.node() == block_node_ || (primary_backend(backend) && !unreplayable().empty());
  if (held_state && error.sqlstate == sqlstate::kAdminShutdown) {  // pgweir's own doing
    Error told = error;
    told.severity = Severity::Fatal;
    return fail(std::move(told));
  }
  if (held_state) {
    return fail(make_fatal(sqlstate::kAdminShutdown, "the connection to the server was lost",
                           fmt::format("Node {}: {}. The session cannot go on: {}.", backend.node(), error.message, unreplayable())));
  }
  remove_backend(backend);
}

// The server says so itself (PostgreSQL 14 and later). Of an older one: whatever is not known to be a standby beside a primary.
bool ClientSession::primary_backend(const Backend& backend) const {
  const auto parameter = backend.parameters.find(std::string_view("in_hot_standby"));
  if (parameter != backend.parameters.end()) return parameter->second == "off";
  return worker_.nodes().primary < 0 || backend.node() == worker_.nodes().primary;
}

// The server is gone in the middle of an exchange.
void ClientSession::lose_exchange(Backend& backend, const Error& error) {
  worker_.suspect(backend.node());
  const bool standby = !primary_backend(backend);
  if (standby && batch_.retained && !batch_.for_healing && (block_node_ < 0 || block_can_move() || batch_.aside) && server_left_ == 0) {
    const bool again = !begun_ && retries_ < kMaxRetries;
    remove_backend(backend);
    server_left_ = 0;
    if (again) {
      retry_on_primary_ = false;
      excluded_.set(static_cast<std::size_t>(backend.node()));
      return retry_elsewhere(backend);
    }
    return answer_lost_read(backend, error);
  }
  if (server_left_ > 0) return end("the server was lost in the middle of a message");
  if (told_fatal_) return end(last_fatal_.one_line());  // the client has it from the server itself
  if (error.sqlstate == sqlstate::kAdminShutdown) {  // pgweir's own doing
    Error told = error;
    told.severity = Severity::Fatal;
    return fail(std::move(told));
  }
  fail(make_fatal(sqlstate::kConnectionFailure, error.message, fmt::format("The connection to node {} was lost in the middle of an exchange.", backend.node())));
}

// Rows have been sent: the answer cannot be taken back, but nothing was changed either. A block that it was in has failed.
void ClientSession::answer_lost_read(const Backend& backend, const Error& error) {
  log::print(log::Level::Log, log_context(), "node {} was lost while it answered a read: {}", backend.node(), error.one_line());
  std::string out;
  wire::encode_error(out, make_error(sqlstate::kSerializationFailure, "the server was lost while it answered a read",
                                     fmt::format("Node {}: {}.", backend.node(), error.message), "Run the statement again."));
  if (batch_.aside) {
    stream_.write(out);
    running_.clear();
    running_head_ = 0;
    return fail_block();
  }
  if (status_ != 'I') {
    status_ = 'E';
    state_of_session_.on_ready(status_, true);
    set_held(HeldBlock::Aborted);
  }
  wire::encode_ready_for_query(out, status_);
  stream_.write(out);
  running_.clear();
  running_head_ = 0;
  excluded_.reset();
  query_ends();
  set_state(ClientState::Idle);
  finish_retained();
  schedule_pump();
}

}  // namespace weir::child
