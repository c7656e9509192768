// Life of a session and its input: see client_session.h.
#include "child/client_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "child/cancel.h"
#include "child/client_login.h"
#include "child/console_client.h"
#include "child/internal_query.h"
#include "child/leases.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/config/log_settings.h"
#include "common/shmem/mapping.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"
#include "common/wire/frontend.h"

namespace weir::child {
namespace {

struct Clients {
  std::int64_t of_database = 0;
  std::int64_t of_user = 0;
};

// Those that are logged in, over all children.
Clients count_clients(shmem::Mapping& mapping, std::string_view database, std::string_view user) {
  Clients clients;
  shmem::SessionRow row;
  shmem::SessionRow name;
  name.database.assign(database);
  name.user.assign(user);
  for (int child = 0; child < mapping.children(); ++child) {
    for (const shmem::SessionSlot& slot : mapping.used_session_rows(child)) {
      if (!slot.read(row) || !row.in_use) continue;
      if (row.database.view() == name.database.view()) ++clients.of_database;
      if (row.user.view() == name.user.view()) ++clients.of_user;
    }
  }
  return clients;
}

// max_db_client_connections and max_user_client_connections. The client counts itself first: of two that come at the same
// time and are one too many together at least one is refused.
std::optional<Error> beyond_limits(Worker& worker, const ClientSession& session, const config::EffectiveClient& allowed) {
  if (allowed.max_db_client_connections == config::kNoLimit && allowed.max_user_client_connections == config::kNoLimit) return std::nullopt;
  const ClientIdentity& identity = session.identity();
  worker.rows().publish_session(session);
  const Clients clients = count_clients(*worker.context().mapping, identity.database, identity.user);
  const bool of_database = clients.of_database > allowed.max_db_client_connections;
  if (!of_database && clients.of_user <= allowed.max_user_client_connections) return std::nullopt;
  const char* name = of_database ? "max_db_client_connections" : "max_user_client_connections";
  return make_fatal(sqlstate::kTooManyConnections, fmt::format("client connections exceeded ({})", name),
                    fmt::format("{} is {} for {} \"{}\".", name, of_database ? allowed.max_db_client_connections : allowed.max_user_client_connections,
                                of_database ? "database" : "user", of_database ? identity.database : identity.user));
}

}  // namespace

ClientSession::ClientSession(Worker& worker, int slot, UniqueFd fd, std::string peer, int peer_port)
    : worker_(worker),
      slot_(slot),
      stream_(worker.loop(), std::move(fd), *this),
      cancel_key_(worker.new_cancel_key(slot)),
      active_at_(worker.loop().now()),
      number_(worker.next_session_number()) {
  identity_.peer = std::move(peer);
  identity_.peer_port = peer_port;
  login_ = std::make_unique<ClientLogin>(worker, *this);
}

ClientSession::~ClientSession() = default;

std::function<void()> ClientSession::ending(std::string why) {
  return [this, alive = std::weak_ptr<char>(alive_), text = std::move(why)] {
    if (!alive.expired()) end(text);
  };
}

void ClientSession::set_state(ClientState state) {
  if (state == state_) return;
  WEIR_CHECK(state_ != ClientState::Closing);
  const bool whole = state_ == ClientState::Startup || state == ClientState::Closing;
  state_ = state;
  if (waits()) {
    traffic_.waits(worker_.loop().now());
  } else {
    traffic_.waits_no_more(worker_.loop().now());
  }
  if (whole) {
    worker_.rows().publish_session(*this);
  } else {
    worker_.rows().publish_phase(*this);
  }
}

void ClientSession::welcome(ClientIdentity identity, SessionState::Parameters startup, std::optional<auth::Secret> secret,
                            LoginInfo& info, const ParameterList& reported) {
  identity_ = std::move(identity);
  secret_ = std::move(secret);
  info_ = &info;
  state_of_session_.set_startup_parameters(std::move(startup));
  login_change_ = info.checked_change;
  routing_.database = identity_.database;
  routing_.replication = identity_.is_replication();
  routing_.unusual_isolation = info.unusual_isolation;
  routing_.serializable_default = info.serializable_default;
  if (!identity_.is_replication()) pool_mode_ = config::effective_pool(worker_.config(), identity_.key.database, identity_.key.user).pool_mode;
  const config::EffectiveClient allowed =
      config::effective_client(worker_.config(), identity_.database, identity_.user, worker_.leases().overrides_for(identity_.database, identity_.user));
  if (auto error = beyond_limits(worker_, *this, allowed)) return fail(std::move(*error));
  told_ = reported;
  traffic_.begin(worker_.context().mapping->databases(worker_.context().slot).row_of(identity_.database));
  refresh_routing();

  std::string out;
  if (routing_.replication) {
    for (const auto& [name, value] : told_) wire::encode_parameter_status(out, name, value);
  } else {
    for (const auto& reported_by_server : info.parameters) {
      const auto own = std::find_if(told_.begin(), told_.end(), [&](const auto& p) { return p.first == reported_by_server.first; });
      wire::encode_parameter_status(out, reported_by_server.first, own != told_.end() ? own->second : reported_by_server.second);
    }
  }
  wire::encode_backend_key_data(out, cancel_key_.pid, cancel_key_.secret);
  wire::encode_ready_for_query(out, 'I');
  stream_.write(out);
  worker_.loop().destroy_later(std::move(login_));
  active_at_ = worker_.loop().now();
  set_state(ClientState::Idle);
  expect_times();
  give_back();
  worker_.may_sleep_soon();
  if (!in_.empty()) schedule_pump();
  if (worker_.config().log_connections) {
    log::print(log::Level::Log, log_context(), "connection received: host={} port={}", identity_.peer, identity_.peer_port);
  }
}

const config::Config& ClientSession::config() const { return settings_.config() != nullptr ? *settings_.config() : worker_.config(); }

void ClientSession::config_changed() { settings_.rebase(worker_.config()); }

log::Context ClientSession::log_context() const {
  log::Context context;
  if (settings_.config() != nullptr) context.min_level = config::log_level(*settings_.config());
  context.client = identity_.peer;
  context.database = identity_.database;
  context.user = identity_.user;
  context.application = identity_.application_name;
  return context;
}

void ClientSession::hold(std::unique_ptr<Backend> backend) {
  backend->set_user(this);
  backend->resume_reading();
  traffic_.holds(worker_.loop().now(), set_.empty());
  Backend& held = *backend;
  set_.push_back(std::move(backend));
  held.poke();  // what the server said unasked is not the answer to a question that is still to come
}

void ClientSession::fail(Error error) {
  if (state_ == ClientState::Closing) return;
  error.severity = Severity::Fatal;
  if (server_left_ > 0 && server_forward_ && (begun_ || !batch_.retained)) {
    // Half of a server's message has gone out: anything behind it would be taken for the rest of it.
    log::print(log::Level::Log, log_context(), "client is cut off in the middle of an answer: {}", error.one_line());
    return end(error.message);
  }
  std::string out;
  wire::encode_error(out, error);
  stream_.uncork();
  stream_.write(out);
  stream_.discard_input();  // unread input would make the kernel throw away what was just written
  log::print(log::Level::Log, log_context(), "client is disconnected: {}", error.one_line());
  end(error.message);
}

void ClientSession::end(std::string_view why) {
  if (state_ == ClientState::Closing) return;
  if (info_ != nullptr && worker_.config().log_disconnections) {
    log::print(log::Level::Log, log_context(), "disconnection: user={} database={} host={} port={}: {}", identity_.user,
               identity_.database, identity_.peer, identity_.peer_port, why);
  }
  set_state(ClientState::Closing);
  publish_login_change();
  worker_.backends().withdraw(*this);
  if (login_) login_->abandon();
  if (console_) console_->abandon();
  const Backend* asked = internal_ != nullptr ? internal_backend_ : nullptr;  // its answer is still to come
  if (internal_ != nullptr) internal_->abandon();
  internal_ = nullptr;
  // A cancel that is on its way must not hit the next client.
  const bool cancelling = cancel_ != nullptr;
  cancel_.reset();
  const bool busy = cancelling || !tracker_.idle() || tracker_.skipping() || tracker_.unsynced() || server_left_ > 0;
  auto set = std::move(set_);
  set_.clear();
  for (auto& backend : set) {
    const bool abandoned = is_abandoned(*backend);
    forget_abandoned(*backend);
    const bool clean = !abandoned && backend->state() == BackendState::Busy && !(busy && backend.get() == active_) && backend.get() != asked;
    if (clean) {
      worker_.backends().release(std::move(backend));
    } else {
      worker_.backends().discard(std::move(backend));
    }
  }
  active_ = nullptr;
  stream_.close();
  worker_.session_ended(*this);
}

// ---------------------------------------------------------------------------------------------------------------- input

void ClientSession::on_drained() {
  if (input_ended_ && !answers_owed()) return end("the client closed the connection without saying goodbye");
  for (auto& backend : set_) backend->resume_reading();
}

// Only the owner of a backend opens the cancel connection, and keeps the backend until the server has taken the request. One
// that has come before the client has asked for what is under way is too late for what it meant.
void ClientSession::cancel(std::int64_t received_ms) {
  if (received_ms < monotonic_milliseconds(asked_at_)) return;
  if (state_ == ClientState::AwaitBackend || state_ == ClientState::AwaitPrimary) {
    worker_.backends().withdraw(*this);
    acquiring_ = false;
    worker_.unpark(*this);
    return refuse_batch(make_error(sqlstate::kQueryCanceled, "canceling statement due to user request"));
  }
  if (active_ == nullptr || (tracker_.idle() && !tracker_.unsynced()) || cancel_ != nullptr) return;
  cancel_ = CancelRequest::start(worker_, active_->node(), active_->pid, active_->cancel_key, [this, meant = active_](bool told) {
    worker_.loop().destroy_later(std::move(cancel_));
    // Whoever had the connection next could be the one who is cancelled.
    if (!told && active_ == meant) active_->tainted = true;
    if (!in_.empty()) schedule_pump();
    give_back();
  });
}

void ClientSession::shut_down() {
  // A server notices that its client is gone only when it next writes: a long statement would go on for nobody.
  if (active_ != nullptr && cancel_ == nullptr && !tracker_.idle()) worker_.cancel_before_exit(active_->node(), active_->pid, active_->cancel_key);
  fail(make_fatal(sqlstate::kAdminShutdown, "terminating connection due to administrator command"));
}

bool ClientSession::idle_for(Monotonic now, Milliseconds limit) const {
  return state_ == ClientState::Idle && tracker_.idle() && now - active_at_ >= limit;
}

}  // namespace weir::child
