// One attempt to open a server connection: connect, startup packet, authentication, until ReadyForQuery.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child/backend.h"
#include "common/auth/backend_auth.h"
#include "common/base/event.h"

namespace weir::child {

struct LoginFailure {
  enum class Kind {
    Unreachable,    // no connection, or it ended before the server said anything
    NeedPassword,   // the server asks for one (METHOD) and there is none that fits
    Refused,        // the server's own error, other than:
    Saturated,      // 53300
    NotUsable,      // 57P03: starting up, shutting down
    Timeout,
  } kind = Kind::Unreachable;
  auth::AskedMethod method = auth::AskedMethod::Unknown;
  Error error;
};

class BackendLogin final : public BackendUser {
 public:
  // FAILURE is null on success; then the backend is ready. Called once, never from inside the constructor.
  using Done = std::function<void(const LoginFailure* failure)>;

  BackendLogin(Worker& worker, Backend& backend, std::optional<auth::Secret> secret, Done done);
  ~BackendLogin();
  // Starts the connect to the node's address.
  void start(std::string_view address, int port, Milliseconds timeout);
  auth::AskedMethod method() const { return auth_.asked(); }

 private:
  std::size_t on_backend_bytes(Backend& backend, Bytes bytes) override;
  void on_backend_drained(Backend& backend) override;
  void on_backend_lost(Backend& backend, const Error& error) override;
  bool take(char tag, Bytes body);
  void on_authentication(Bytes body);
  void on_error(Bytes body);
  void break_off(std::string_view what);
  void fail(LoginFailure failure);
  void finish(const LoginFailure* failure);

  Worker& worker_;
  Backend& backend_;
  bool has_secret_;
  auth::BackendAuth auth_;
  Done done_;
  Timer deadline_;
  bool connected_ = false;
  bool finished_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace weir::child
