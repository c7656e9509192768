// What a session tells the console of itself, and a session with the console: see client_session.h.
#include "child/client_session.h"
#include "child/client_login.h"
#include "child/console_client.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/admin/show_version.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/shmem/mapping.h"
#include "common/wire/encode.h"

namespace weir::child {

bool ClientSession::waits() const { return state_ == ClientState::AwaitBackend || state_ == ClientState::AwaitPrimary; }

std::int64_t ClientSession::waited_us() const {
  if (!waits() || traffic_.wait_since() == Monotonic{}) return 0;
  return monotonic_microseconds(monotonic_now()) - monotonic_microseconds(traffic_.wait_since());
}

const Backend* ClientSession::linked() const { return active_ != nullptr || set_.empty() ? active_ : set_.front().get(); }

// Why server connections stay with this client now; empty: it has none.
std::string ClientSession::held_for() const {
  if (set_.empty()) return {};
  if (!tracker_.idle() || state_ == ClientState::InExchange || state_ == ClientState::Preparing) return "a query is under way";
  if (identity_.is_replication()) return "a replication connection";
  if (block_node_ >= 0 || status_ != 'I') return "an open transaction block";
  if (std::string why = unreplayable(); !why.empty()) return why;
  if (pool_mode_ == PoolMode::Session) return "pool_mode is session";
  if (sql_prepared_ || names_.has_unrepeatable()) return "a statement of SQL's PREPARE";
  if (routing_.open_cursor) return "an open cursor";
  if (!unverified_.empty() || !unverified_now_.empty()) return "what it has written is being looked up";
  return "it is being given back";
}

admin::SocketFacts ClientSession::facts() const {
  admin::SocketFacts facts;
  facts.database = identity_.database;
  facts.user = identity_.user;
  facts.replication = !identity_.is_replication() ? "none" : identity_.key.replication == "database" ? "logical" : "physical";
  facts.state = waits() ? admin::SocketState::Waiting : set_.empty() && console_ == nullptr ? admin::SocketState::Idle : admin::SocketState::Active;
  facts.connected_at = connected_epoch_;
  facts.requested_at = epoch_seconds(wall_now() - std::chrono::duration_cast<Wall::duration>(monotonic_now() - active_at_));
  facts.wait_us = waited_us();
  facts.application_name = identity_.application_name.substr(0, 63);
  facts.prepared_statements = static_cast<std::int32_t>(names_.size());
  facts.id = static_cast<std::int32_t>(cancel_key_.pid);
  facts.held_for = held_for();
  if (!set_.empty()) facts.held_us = monotonic_microseconds(monotonic_now()) - monotonic_microseconds(traffic_.held_since());
  return facts;
}

void ClientSession::welcome_to_console(ClientIdentity identity, ConsoleAccess access) {
  identity_ = std::move(identity);
  traffic_.begin(worker_.context().mapping->databases(worker_.context().slot).row_of(identity_.database));
  console_ = std::make_unique<ConsoleClient>(worker_, *this, access);
  std::string out;
  wire::encode_parameter_status(out, "server_version", admin::kConsoleVersion);
  wire::encode_parameter_status(out, "client_encoding", "UTF8");
  wire::encode_parameter_status(out, "server_encoding", "UTF8");
  wire::encode_parameter_status(out, "DateStyle", "ISO");
  wire::encode_parameter_status(out, "TimeZone", "GMT");
  wire::encode_parameter_status(out, "integer_datetimes", "on");
  wire::encode_parameter_status(out, "standard_conforming_strings", "on");
  wire::encode_parameter_status(out, "is_superuser", "on");
  wire::encode_backend_key_data(out, cancel_key_.pid, cancel_key_.secret);
  wire::encode_ready_for_query(out, 'I');
  stream_.write(out);
  worker_.loop().destroy_later(std::move(login_));
  active_at_ = worker_.loop().now();
  set_state(ClientState::Idle);
  if (!in_.empty()) schedule_pump();
  if (worker_.config().log_connections) {
    log::print(log::Level::Log, log_context(), "connection received: host={} port={}", identity_.peer, identity_.peer_port);
  }
}

void ClientSession::console_answered() {
  if (state_ == ClientState::Closing) return;
  active_at_ = worker_.loop().now();
  schedule_pump();
}

}  // namespace weir::child
