#include "child/client_login.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "child/internal_query.h"
#include "child/leases.h"
#include "child/limit_errors.h"
#include "child/login_defaults.h"
#include "child/replay_messages.h"
#include "child/search_path.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/auth/digest.h"
#include "common/base/byte_reader.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"

namespace weir::child {
namespace {

constexpr Milliseconds kRetryDelay{200};
constexpr std::size_t kMaxStartupSets = 256;

// Parameters that SET cannot change (PGC_BACKEND, PGC_SU_BACKEND) and the two preload lists: part of a backend's key.
bool is_fixed(std::string_view name) {
  static constexpr std::string_view kFixed[] = {"ignore_system_indexes", "post_auth_delay", "jit_debugging_support",
                                                "jit_profiling_support", "log_connections", "log_disconnections",
                                                "session_preload_libraries", "local_preload_libraries",
                                                // RESET and DISCARD bring its rights back in ways that only a server knows.
                                                "role"};
  return std::find(std::begin(kFixed), std::end(kFixed), name) != std::end(kFixed);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string encode_set(const SessionState::Parameters& parameters) {
  std::string key;
  for (const auto& [name, value] : parameters) {
    if (name == "application_name") continue;  // any value is taken
    key += name + '\x01' + value + '\x02';
  }
  return key;
}

}  // namespace

ClientLogin::ClientLogin(Worker& worker, ClientSession& session) : worker_(worker), session_(session) {
  identity_ = session.identity();
  deadline_.set(worker.loop(), [this] {
    fail(make_fatal(sqlstate::kQueryCanceled, "canceling authentication due to timeout", {},
                    fmt::format("authentication_timeout is {} s.", worker_.config().authentication_timeout)));
  });
  if (worker.config().authentication_timeout > 0) deadline_.arm(std::chrono::seconds(worker.config().authentication_timeout));
  retry_.set(worker.loop(), [this] { proceed(); });
}

ClientLogin::~ClientLogin() = default;

void ClientLogin::abandon() {
  phase_ = Phase::Over;
  deadline_.disarm();
  retry_.disarm();
  worker_.backends().withdraw(*this);
  if (internal_ != nullptr) internal_->abandon();
  internal_ = nullptr;
  if (backend_ != nullptr) worker_.backends().discard(std::move(backend_));
}

void ClientLogin::fail(Error error) {
  if (phase_ == Phase::Over) return;
  session_.fail(std::move(error));  // calls abandon()
}

std::size_t ClientLogin::take(Bytes bytes) {
  switch (phase_) {
    case Phase::Startup: return bytes.empty() ? 0 : take_startup(bytes);
    case Phase::Password: return bytes.empty() ? 0 : take_password(bytes);
    case Phase::Server:
    case Phase::Over: return 0;
  }
  return 0;
}

std::size_t ClientLogin::take_startup(Bytes bytes) {
  const wire::StartupResult result = wire::parse_startup(bytes);
  switch (result.kind) {
    case wire::StartupResult::Kind::NeedMore: return 0;
    case wire::StartupResult::Kind::Violation: fail(result.error); return bytes.size();
    case wire::StartupResult::Kind::SslRequest:
    case wire::StartupResult::Kind::GssRequest:
      if (bytes.size() > result.size) {
        // What was sent ahead of the answer could be taken for encrypted later on.
        fail(make_fatal(sqlstate::kProtocolViolation, "received unencrypted data after a request for encryption", "This could be either a client-software bug or evidence of an attempted man-in-the-middle attack."));
        return bytes.size();
      }
      if (++requests_ > 2) {
        fail(make_fatal(sqlstate::kProtocolViolation, "encryption was asked for too often"));
        return bytes.size();
      }
      session_.write("N");
      return result.size;
    case wire::StartupResult::Kind::CancelRequest:
      phase_ = Phase::Over;
      if (result.cancel.key.size() == 4) {
        ByteReader key(result.cancel.key);
        worker_.route_cancel({static_cast<std::uint32_t>(result.cancel.pid), key.u32()}, session_.ending("a cancel request"));
      } else {
        session_.end("a cancel request");
      }
      return bytes.size();
    case wire::StartupResult::Kind::Startup: {
      const std::size_t size = result.size;
      on_startup(result.startup);
      return size;
    }
  }
  return 0;
}

void ClientLogin::on_startup(const wire::StartupMessage& startup) {
  if (startup.minor > 0 || !startup.unknown_options.empty()) {
    std::string out;
    wire::encode_negotiate_protocol_version(out, 0, startup.unknown_options);
    session_.write(out);
  }
  if (!read_parameters(startup) || begin_console() || !admit()) return;
  info_ = &worker_.login_info(identity_.database, identity_.user);
  secret_ = worker_.secret_of(identity_.user);
  phase_ = Phase::Server;
  proceed();
}

// As in a server, what the packet says by name wins over the switches in "options".
bool ClientLogin::read_options(const wire::StartupMessage& startup) {
  for (const auto& [raw_name, value] : startup.params) {
    if (raw_name != "options") continue;
    const auto options = wire::parse_options(value);
    if (!options) {
      fail(options.error());
      return false;
    }
    for (const auto& [option, setting] : *options) {
      const std::string name = lower(option);
      if (name == "session_authorization") {
        identity_.key.fixed.emplace_back(name, setting);  // the server knows who may
      } else if (!add_parameter(name, setting)) {
        return false;
      }
    }
  }
  return true;
}

bool ClientLogin::read_parameters(const wire::StartupMessage& startup) {
  if (!read_options(startup)) return false;
  for (const auto& [raw_name, value] : startup.params) {
    const std::string name = lower(raw_name);
    // The server knows these four in small letters only.
    if (raw_name == "user") {
      identity_.user = value;
    } else if (raw_name == "database") {
      identity_.database = value;
    } else if (raw_name == "replication") {
      if (!read_replication(value)) return false;
    } else if (raw_name == "options") {
      continue;
    } else if (!add_parameter(name, value)) {
      return false;
    }
  }
  if (identity_.user.empty()) {
    fail(make_fatal(sqlstate::kInvalidAuthorization, "no PostgreSQL user name specified in startup packet"));
    return false;
  }
  if (identity_.database.empty()) identity_.database = identity_.user;
  identity_.key.database = identity_.database;
  identity_.key.user = identity_.user;
  std::sort(identity_.key.fixed.begin(), identity_.key.fixed.end());
  return true;
}

// PostgreSQL: "database", or a boolean as its parse_bool() takes it.
bool ClientLogin::read_replication(std::string_view value) {
  const std::string word = lower(value);
  const auto begins = [&](std::string_view whole, std::size_t least) { return word.size() >= least && whole.starts_with(word); };
  if (value == "database") {
    identity_.key.replication = "database";
  } else if (begins("true", 1) || begins("yes", 1) || begins("on", 2) || word == "1") {
    identity_.key.replication = "true";
  } else if (!begins("false", 1) && !begins("no", 1) && !begins("off", 2) && word != "0") {
    fail(make_fatal(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"replication\": \"{}\"", value), {},
                    "Valid values are: \"false\", 0, \"true\", 1, \"database\"."));
    return false;
  }
  return true;
}

bool ClientLogin::add_parameter(std::string_view name, std::string_view given) {
  if (name.empty() || name.size() > 255) {
    fail(make_fatal(sqlstate::kProtocolViolation, name.empty() ? "invalid startup packet: a parameter has no name" : "invalid startup packet: the name of a parameter is too long"));
    return false;
  }
  if (name == "session_authorization") return true;  // as a server: it is the user of the packet
  std::string value(given);
  if (name == "application_name") {
    // The server takes no byte but printable ASCII here, in whatever encoding they are.
    for (char& c : value) {
      if (c < ' ' || c > '~') c = '?';
    }
    identity_.application_name = value;
  }
  auto& list = is_fixed(name) || identity_.is_replication() ? identity_.key.fixed : parameters_;
  for (auto& [known, last] : list) {
    if (known == name) {
      last = value;  // the last one counts
      return true;
    }
  }
  list.emplace_back(name, value);
  return true;
}

// max_client_conn and reserved_connections, over all children; nobody while pgweir stops.
bool ClientLogin::admit() {
  if (worker_.stopping()) {
    fail(make_fatal(sqlstate::kCannotConnectNow, "pgweir is shutting down"));
    return false;
  }
  const auto& config = worker_.config();
  const std::int64_t allowed = config.max_client_conn - config.reserved_connections;
  if (config.max_client_conn <= 0 || static_cast<std::int64_t>(worker_.rows().total_clients()) <= allowed) return true;
  fail(make_fatal(sqlstate::kTooManyConnections, "Sorry, too many clients already",
                  fmt::format("max_client_conn is {}, reserved_connections is {}.", config.max_client_conn, config.reserved_connections)));
  return false;
}

// Goes on from wherever the login is.
void ClientLogin::proceed() {
  if (phase_ == Phase::Over || internal_ != nullptr) return;
  if (console_access_ != ConsoleAccess::None) return proceed_to_console();
  if (identity_.is_replication() && backend_ == nullptr) return open_backend(true);
  if (!info_->ready() && backend_ == nullptr && info_->method == auth::AskedMethod::Unknown) return open_backend(false);
  if (!authenticated_) return begin_authentication(info_->method);
  if (verify_on_server_) return open_backend(true);
  if ((!info_->ready() || !identity_.key.fixed.empty()) && backend_ == nullptr) return open_backend(false);
  if (!info_->defaults_known && backend_ != nullptr && identity_.key.fixed.empty() && !identity_.is_replication()) return ask_defaults();
  if (!defaults_checked_ && !identity_.is_replication() && worker_.is_stale(*info_)) return check_defaults();
  if (!startup_checked_ && !identity_.is_replication()) return check_startup_set();
  welcome();
}

void ClientLogin::open_backend(bool fresh) {
  const shmem::NodeView& nodes = worker_.nodes();
  int node = nodes.primary;
  // Without a primary any node can tell what it takes to log in; replication needs the primary.
  for (int id = 0; node < 0 && id < nodes.count && !identity_.is_replication(); ++id) {
    if (nodes.nodes[static_cast<std::size_t>(id)].usable()) node = id;
  }
  if (node < 0 && worker_.nothing_reachable()) return fail(nothing_is_reachable());
  if (node < 0) return wait_for_node(make_fatal(sqlstate::kCannotConnectNow, "no server can be reached", "No node is known to be usable."));
  AcquireRequest request;
  request.key = &identity_.key;
  request.node = node;
  request.secret = &secret_;
  request.fresh = fresh;
  request.may_wait = true;
  const auto limit = config::effective_client(worker_.config(), identity_.database, identity_.user).query_wait_timeout;
  request.deadline = worker_.loop().now() + std::chrono::seconds(limit > 0 ? limit : 86400);
  BackendCache::Acquired acquired = worker_.backends().acquire(request, *this);
  if (acquired.failure) return on_backend_failed(node, *acquired.failure);
  if (acquired.backend != nullptr) on_backend(std::move(acquired.backend));
}

// Tries again in a moment, up to query_wait_timeout; then the client is told REASON.
void ClientLogin::wait_for_node(Error reason) {
  const auto limit = worker_.config().query_wait_timeout;
  if (!give_up_at_) give_up_at_ = worker_.loop().now() + std::chrono::seconds(limit > 0 ? limit : 86400);
  if (worker_.loop().now() < *give_up_at_) return retry_.arm(kRetryDelay);
  reason.sqlstate = sqlstate::kCannotConnectNow;
  if (reason.hint.empty()) reason.hint = "The log of pgweir tells the state of each node and its reason.";
  fail(std::move(reason));
}

void ClientLogin::on_backend(std::unique_ptr<Backend> backend) {
  if (backend_ != nullptr) worker_.backends().release(std::move(backend_));
  backend_ = std::move(backend);
  backend_->set_user(this);
  backend_->resume_reading();
  if (verify_on_server_) {
    verify_on_server_ = false;
    if (secret_) auth::remember_password(info_->accepted_salt, info_->accepted_digest, secret_->plain());
  }
  proceed();
}

void ClientLogin::on_backend_failed(int node, const AcquireFailure& failure) {
  if (phase_ == Phase::Over) return;
  if (failure.kind != AcquireFailure::Kind::Login) {
    if (failure.kind == AcquireFailure::Kind::NoRoom) return fail(no_room_in_ledger());
    return fail(no_connection_in_time(failure.limit, {identity_.key.database, identity_.key.user, node}, worker_.config(),
                                      worker_.leases().overrides_for(identity_.key.database, identity_.key.user),
                                      config::effective_client(worker_.config(), identity_.database, identity_.user).query_wait_timeout));
  }
  const LoginFailure& login = failure.login;
  switch (login.kind) {
    case LoginFailure::Kind::NeedPassword:
      info_->method = login.method;
      if (authenticated_) return fail(login.error);
      return begin_authentication(login.method);
    case LoginFailure::Kind::Unreachable:
    case LoginFailure::Kind::NotUsable:
    case LoginFailure::Kind::Timeout: return failure.give_up ? fail(login.error) : wait_for_node(login.error);
    case LoginFailure::Kind::Refused:
    case LoginFailure::Kind::Saturated: return fail(login.error);
  }
}

void ClientLogin::on_backend_lost(Backend&, const Error& error) {
  if (phase_ == Phase::Over) return;
  std::unique_ptr<Backend> lost = std::move(backend_);
  worker_.backends().discard(std::move(lost));
  static_cast<void>(error);
  if (phase_ == Phase::Server) proceed();
}

void ClientLogin::begin_authentication(auth::AskedMethod asked) {
  if (asked == auth::AskedMethod::Trust) return authenticated();
  auth::Method method = auth::method_for(asked, secret_);
  if (!secret_) {
    if (!worker_.config().allow_clear_text_frontend_auth) {
      return fail(make_fatal(sqlstate::kInvalidPassword, fmt::format("password authentication failed for user \"{}\"", identity_.user),
                             "The server asks for a password, and pgweir has none for this user.",
                             "Add the user to the file of pool_passwd, or set allow_clear_text_frontend_auth = on."));
    }
    method = auth::Method::Cleartext;
  }
  auth_ = std::make_unique<auth::ClientAuth>(method, identity_.user, secret_, worker_.keys());
  phase_ = Phase::Password;
  session_.write(auth_->begin());
}

std::size_t ClientLogin::take_password(Bytes bytes) {
  const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromClient, bytes);
  if (header.status == wire::FrameStatus::NeedMore) return 0;
  if (header.status == wire::FrameStatus::Ok && header.tag == 'X') {
    session_.end("the client gave up while it was asked for a password");
    return bytes.size();
  }
  if (header.status != wire::FrameStatus::Ok || header.tag != 'p' || header.total() > 65536) {
    fail(make_fatal(sqlstate::kProtocolViolation, "expected password response"));
    return bytes.size();
  }
  if (header.total() > bytes.size()) return 0;
  const auth::ClientAuthStep step = auth_->step(bytes.subspan(5, header.total() - 5));
  if (step.outcome == auth::ClientAuthStep::Outcome::Refuse) {
    fail(step.error);
    return bytes.size();
  }
  if (!step.send.empty()) session_.write(step.send);
  if (step.outcome == auth::ClientAuthStep::Outcome::More) return header.total();
  phase_ = Phase::Server;
  ok_sent_ = !step.send.empty();
  if (!secret_) {
    secret_ = auth::Secret::from_plain(step.clear_text);
    verify_on_server_ = !accepted_before(step.clear_text);
  } else if (!step.clear_text.empty()) {
    secret_ = auth::Secret::from_plain(step.clear_text);  // better than the hash that it was judged by
  } else if (!step.client_key.empty()) {
    secret_->set_client_key(step.client_key);
  }
  authenticated();
  return header.total();
}

bool ClientLogin::accepted_before(std::string_view password) const {
  return info_->ready() && auth::same_password(info_->accepted_salt, info_->accepted_digest, password);
}

void ClientLogin::authenticated() {
  authenticated_ = true;
  phase_ = Phase::Server;
  proceed();
}

// What names mean for this user in this database, and which kind of transaction it gets by default.
void ClientLogin::ask_defaults() {
  std::string query;
  wire::encode_query(query,
                     "SELECT pg_catalog.current_setting('search_path'), "
                     "pg_catalog.current_setting('default_transaction_isolation'), "
                     "pg_catalog.current_setting('default_transaction_read_only'), "
                     "pg_catalog.current_setting('default_transaction_deferrable'), " + fingerprint_of_defaults(identity_.key.user));
  Backend* raw = backend_.get();
  internal_ = InternalQuery::start(worker_, *raw, std::move(query), 1, [this, changes = worker_.login_changes()](InternalResult& result) {
    internal_ = nullptr;
    if (result.lost) return on_backend_lost(*backend_, *result.error);
    backend_->set_user(this);
    info_->defaults_known = true;
    if (result.rows.size() == 1 && result.rows[0].size() == 5) {
      const auto& row = result.rows[0];
      note_fingerprint(row[4].value_or(""), changes);
      info_->search_path = split_path(row[0].value_or(""), identity_.user);
      info_->serializable_default = row[1] == "serializable";
      info_->unusual_isolation = row[1] != "read committed" || row[2] != "off" || row[3] != "off";
    }
    proceed();
  });
}

// What the primary tells on a connection that was opened behind all CHANGES is what that connection has.
void ClientLogin::note_fingerprint(std::string fingerprint, std::uint64_t changes) {
  if (backend_->node() != worker_.nodes().primary || backend_->login_change < changes) return;
  info_->fingerprint = std::move(fingerprint);
  info_->checked_change = changes;
  info_->check_again = false;
}

// A statement has been seen that may have changed what this login gives. If it has, connections that are open now are not
// for this client or those behind it.
void ClientLogin::check_defaults() {
  const int primary = worker_.nodes().primary;
  if (backend_ == nullptr && primary >= 0) return open_backend(false);
  if (backend_ == nullptr || backend_->node() != primary) {  // the next one will know
    defaults_checked_ = true;
    return proceed();
  }
  std::string query;
  wire::encode_query(query, ask_fingerprint(identity_.key.user));
  internal_ = InternalQuery::start(worker_, *backend_, std::move(query), 1, [this, changes = worker_.login_changes()](InternalResult& result) {
    internal_ = nullptr;
    if (result.lost) return on_backend_lost(*backend_, *result.error);
    backend_->set_user(this);
    defaults_checked_ = true;
    const bool told = !result.error && result.rows.size() == 1 && result.rows[0].size() == 1;
    if (!told || info_->fingerprint.empty() || result.rows[0][0] != info_->fingerprint) return defaults_have_changed(changes);
    if (identity_.key.fixed.empty()) {
      info_->checked_change = changes;
      info_->check_again = false;
    }
    proceed();
  });
}

void ClientLogin::defaults_have_changed(std::uint64_t changes) {
  worker_.login_has_changed(*info_, identity_.key.database, identity_.key.user, changes);
  if (BackendCache::is_out_of_date(*backend_)) worker_.backends().release(std::move(backend_));
  if (backend_ == nullptr) return open_backend(true);
  proceed();
}

// A startup parameter may be wrong, and the server may report it in other words than the client's: it is asked once a
// set, and the next client with the same parameters needs no server.
void ClientLogin::check_startup_set() {
  const std::string key = encode_set(parameters_);
  if (key.empty()) {
    startup_checked_ = true;
    return proceed();
  }
  if (const auto known = info_->startup_sets.find(key); known != info_->startup_sets.end()) {
    reported_ = known->second;
    startup_checked_ = true;
    return proceed();
  }
  if (backend_ == nullptr) return open_backend(false);
  session_.session_state().set_startup_parameters(parameters_);
  ReplayMessages messages = replay_messages(session_.session_state().difference(0));
  internal_ = InternalQuery::start(worker_, *backend_, std::move(messages.bytes), messages.ready, [this, key](InternalResult& result) {
    internal_ = nullptr;
    if (result.lost) return on_backend_lost(*backend_, *result.error);
    backend_->set_user(this);
    if (result.error) return fail(*result.error);
    backend_->applied = session_.session_state().version();
    for (auto& parameter : result.parameters) {
      if (parameter.first != "application_name") reported_.push_back(parameter);
    }
    if (info_->startup_sets.size() < kMaxStartupSets) info_->startup_sets.emplace(key, reported_);
    startup_checked_ = true;
    proceed();
  });
}

void ClientLogin::welcome() {
  phase_ = Phase::Over;
  deadline_.disarm();
  if (!ok_sent_) {
    std::string out;
    wire::encode_authentication_ok(out);
    session_.write(out);
  }
  const auto application = std::find_if(parameters_.begin(), parameters_.end(), [](const auto& p) { return p.first == "application_name"; });
  if (application != parameters_.end()) reported_.emplace_back("application_name", application->second);
  if ((identity_.is_replication() || !identity_.key.fixed.empty()) && backend_ != nullptr) {
    // Such a connection has parameters of its own, and a walsender reports other ones than a session without a database.
    reported_.assign(backend_->parameters.begin(), backend_->parameters.end());
  }
  if (backend_ != nullptr) session_.hold(std::move(backend_));
  session_.welcome(std::move(identity_), std::move(parameters_), std::move(secret_), *info_, reported_);
}

}  // namespace weir::child
