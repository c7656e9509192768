// Getting a backend, waiting for one, and what is said when there is none: see client_session.h.
#include <fmt/format.h>

#include "child/client_session.h"
#include "child/leases.h"
#include "child/limit_errors.h"
#include "child/retry.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {

Monotonic ClientSession::wait_deadline() {
  if (!deadline_) {
    const std::chrono::seconds limit = info_->limits.query_wait;
    deadline_ = worker_.loop().now() + (limit.count() > 0 ? limit : std::chrono::seconds(86400 * 365));
  }
  return *deadline_;
}

ClientSession::Dispatch ClientSession::acquire(int node) {
  if (acquiring_) return Dispatch::Waiting;
  AcquireRequest request;
  request.key = &identity_.key;
  request.node = node;
  request.secret = &secret_;
  request.may_wait = node == worker_.nodes().primary;
  request.deadline = wait_deadline();
  request.lent = pool_mode_ != PoolMode::Session;
  if (request.lent) request.image = state_image();
  const auto index = static_cast<std::size_t>(node);
  if (info_->groups.size() <= index) info_->groups.resize(index + 1);
  request.group = &info_->groups[index];
  set_state(ClientState::AwaitBackend);
  acquiring_ = true;
  BackendCache::Acquired acquired = worker_.backends().acquire(request, *this);
  if (acquired.backend != nullptr) {
    acquiring_ = false;
    hold(std::move(acquired.backend));
    if (state_ == ClientState::Closing) return Dispatch::Ended;
    set_state(ClientState::Idle);
    return Dispatch::Sent;
  }
  if (acquired.failure) {
    acquiring_ = false;
    on_backend_failed(node, *acquired.failure);
    return state_ == ClientState::Closing ? Dispatch::Ended : Dispatch::Waiting;
  }
  if (acquired.full) {
    // A read whose standby has no free connection uses another node, at last the primary.
    acquiring_ = false;
    set_state(ClientState::Idle);
    excluded_.set(static_cast<std::size_t>(node));
    batch_.node = -1;
    pump_again_ = true;
  }
  return Dispatch::Waiting;
}

void ClientSession::on_backend(std::unique_ptr<Backend> backend) {
  acquiring_ = false;
  hold(std::move(backend));
  if (state_ == ClientState::AwaitBackend) set_state(ClientState::Idle);
  pump();
}

void ClientSession::on_backend_failed(int node, const AcquireFailure& failure) {
  acquiring_ = false;
  if (state_ == ClientState::Closing) return;
  set_state(ClientState::Idle);
  const bool primary = node == worker_.nodes().primary;
  if (failure.kind == AcquireFailure::Kind::Timeout || (primary && failure.kind == AcquireFailure::Kind::Full)) {
    const ledger::PoolName pool{identity_.key.database, identity_.key.user, node};
    return refuse_batch(no_connection_in_time(failure.limit, pool, worker_.config(), worker_.leases().overrides_for(pool.database, pool.user), info_->limits.query_wait.count()));
  }
  if (failure.kind == AcquireFailure::Kind::NoRoom) return refuse_batch(no_room_in_ledger());
  const LoginFailure& login = failure.login;
  if (!primary) {
    if (failure.kind == AcquireFailure::Kind::Login) worker_.avoid(node);
    excluded_.set(static_cast<std::size_t>(node));
    if (reader_node_ == node) reader_node_ = -1;
    batch_.node = -1;
    if (block_node_ == node) return fail(login.error);
    if (++retries_ > kMaxRetries) return refuse_batch(login.error);
    return pump();
  }
  switch (login.kind) {
    case LoginFailure::Kind::Unreachable:
    case LoginFailure::Kind::NotUsable:
    case LoginFailure::Kind::Timeout:
      batch_.node = -1;
      if (failure.give_up || wait_deadline() <= worker_.loop().now()) return refuse_batch(login.error);
      set_state(ClientState::AwaitPrimary);
      worker_.park(*this);
      return;
    default: return refuse_batch(login.error);
  }
}

ClientSession::Dispatch ClientSession::wait_for_primary() {
  if (worker_.nothing_reachable()) {
    refuse_batch(nothing_is_reachable());
    return Dispatch::Ended;
  }
  if (wait_deadline() <= worker_.loop().now()) {
    refuse_batch(make_error(sqlstate::kCannotConnectNow, "query_wait_timeout: no primary server was found in time",
                            "No node is known to be the primary and reachable.",
                            "See SHOW POOL_NODES for the state of each node and its reason."));
    return Dispatch::Ended;
  }
  if (state_ != ClientState::AwaitPrimary) {
    set_state(ClientState::AwaitPrimary);
    worker_.park(*this);
  }
  return Dispatch::Waiting;
}

void ClientSession::resume_parked() {
  if (state_ != ClientState::AwaitPrimary) {
    if (unverified_.empty() || pool_mode_ == PoolMode::Session) return worker_.unpark(*this);
    if (state_ != ClientState::Idle) return;
    verify_writes();
    return give_back();
  }
  set_state(ClientState::Idle);
  pump();
  if (state_ != ClientState::AwaitPrimary) worker_.unpark(*this);
}

// The whole batch is answered with ERROR, and the session lives. What of it arrives later is thrown away.
void ClientSession::refuse_batch(Error error, bool in_block) {
  if (state_ == ClientState::Closing) return;
  deadline_.reset();
  excluded_.reset();
  retries_ = 0;
  wait_notified_ = false;
  const bool whole = batch_.end == Batch::End::Complete && (batch_.kind != Batch::Kind::None);
  const bool held = held_ == HeldBlock::Held && status_ == 'T';
  if (batch_.aside && whole && !pumping_) {  // its block must be told
    std::string out;
    error.severity = Severity::Error;
    wire::encode_error(out, error);
    stream_.write(out);
    batch_.retained = true;
    return fail_block();
  }
  if (!whole || (status_ != 'I' && !held && !in_block)) return fail(std::move(error));
  if (held) {
    set_held(HeldBlock::Aborted);
    status_ = 'E';
  }
  if (in_block) state_of_session_.on_ready(status_ = 'E', true);
  std::string out;
  error.severity = Severity::Error;
  wire::encode_error(out, error);
  wire::encode_ready_for_query(out, status_);
  stream_.write(out);
  log::print(log::Level::Error, log_context(), "{}", error.one_line());
  set_state(ClientState::Idle);
  query_ends();
  if (pumping_) {  // the caller takes the batch off its input
    refused_ = true;
    return;
  }
  const std::size_t length = batch_.length;
  batch_.clear();
  in_.erase(0, length);
  pump();
}

}  // namespace weir::child
