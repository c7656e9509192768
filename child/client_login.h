// From the first byte of a client to its first ReadyForQuery: SSLRequest, GSSENCRequest, CancelRequest, StartupMessage,
// authentication (rules 28 and 29: pgweir asks of a client what the primary asked of pgweir), what the server makes of
// the startup parameters, welcome.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "child/backend_cache.h"
#include "child/client_session.h"
#include "child/login_info.h"
#include "common/auth/client_auth.h"
#include "common/base/event.h"
#include "common/wire/startup.h"

namespace weir::child {

class ClientLogin final : private BackendWaiter, private BackendUser {
 public:
  ClientLogin(Worker& worker, ClientSession& session);
  ~ClientLogin();

  // Bytes of the client; returns how many were taken (0: more are needed, or the login waits for a server).
  std::size_t take(Bytes bytes);
  // The session ends: nothing calls back any more.
  void abandon();

 private:
  enum class Phase { Startup, Server, Password, Over };

  std::size_t take_startup(Bytes bytes);
  std::size_t take_password(Bytes bytes);
  void on_startup(const wire::StartupMessage& startup);
  bool read_replication(std::string_view value);
  bool read_options(const wire::StartupMessage& startup);
  bool read_parameters(const wire::StartupMessage& startup);
  bool add_parameter(std::string_view name, std::string_view value);
  bool admit();

  // The steps after the startup packet, each of which may have to wait.
  void proceed();
  void open_backend(bool fresh);
  void wait_for_node(Error reason);
  void begin_authentication(auth::AskedMethod asked);
  void authenticated();
  bool accepted_before(std::string_view password) const;
  void ask_defaults();
  void note_fingerprint(std::string fingerprint, std::uint64_t changes);
  void check_defaults();
  void defaults_have_changed(std::uint64_t changes);
  void check_startup_set();
  void welcome();
  // (console_login.cc)
  bool begin_console();
  void proceed_to_console();
  void fail(Error error);

  void on_backend(std::unique_ptr<Backend> backend) override;
  void on_backend_failed(int node, const AcquireFailure& failure) override;
  std::size_t on_backend_bytes(Backend&, Bytes bytes) override { return bytes.size(); }
  void on_backend_drained(Backend&) override {}
  void on_backend_lost(Backend& backend, const Error& error) override;

  Worker& worker_;
  ClientSession& session_;
  Phase phase_ = Phase::Startup;
  ClientIdentity identity_;
  SessionState::Parameters parameters_;  // startup parameters that are state
  LoginInfo* info_ = nullptr;
  std::optional<auth::Secret> secret_;
  std::unique_ptr<auth::ClientAuth> auth_;
  std::unique_ptr<Backend> backend_;
  InternalQuery* internal_ = nullptr;
  Timer deadline_;
  Timer retry_;
  std::optional<Monotonic> give_up_at_;  // of waiting for a node
  ParameterList reported_;
  int requests_ = 0;               // SSLRequest and GSSENCRequest seen
  bool authenticated_ = false;
  bool ok_sent_ = false;           // AuthenticationOk
  bool verify_on_server_ = false;  // the clear text password must be tried on a server
  bool defaults_checked_ = false;  // ... or cannot be now
  bool startup_checked_ = false;
  ConsoleAccess console_access_ = ConsoleAccess::None;  // None: it is no client of the console
};

}  // namespace weir::child
