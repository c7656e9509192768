// The login of a client of the admin console: see client_login.h. Its password is asked for as by pool_passwd, or, if the user
// is not in that file, as the primary asks for it in sr_check_database.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "child/client_login.h"
#include "child/worker.h"
#include "common/admin/console_view.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

// The operating system's user that pgweir runs as, over a Unix socket.
bool is_own_user(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  sockaddr_storage address{};
  socklen_t address_size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &address_size) != 0 || address.ss_family != AF_UNIX) return false;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

auth::AskedMethod method_by(const auth::Secret& secret) {
  return secret.kind() == auth::Secret::Kind::Md5 ? auth::AskedMethod::Md5 : auth::AskedMethod::Scram;
}

}  // namespace

// True: the client means the console, and its login goes on there or has failed.
bool ClientLogin::begin_console() {
  if (!admin::is_console(identity_.database)) return false;
  if (identity_.is_replication()) {
    fail(make_fatal(sqlstate::kFeatureNotSupported, "the console has nothing to replicate"));
    return true;
  }
  const config::Config& config = worker_.config();
  if (admin::is_console(identity_.user) && is_own_user(session_.fd())) {
    console_access_ = ConsoleAccess::Admin;
    authenticated_ = true;
  } else if (contains(config.admin_users, identity_.user)) {
    console_access_ = ConsoleAccess::Admin;
  } else if (contains(config.stats_users, identity_.user)) {
    console_access_ = ConsoleAccess::Stats;
  } else {
    fail(make_fatal(sqlstate::kInvalidAuthorization, "not allowed", fmt::format("User \"{}\" may not use the console.", identity_.user),
                    "admin_users and stats_users name those who may."));
    return true;
  }
  if (worker_.stopping()) {
    fail(make_fatal(sqlstate::kCannotConnectNow, "pgweir is shutting down"));
    return true;
  }
  identity_.key.database = config.sr_check_database;
  identity_.key.fixed.clear();
  info_ = &worker_.login_info(identity_.key.database, identity_.user);
  secret_ = worker_.secret_of(identity_.user);
  phase_ = Phase::Server;
  proceed_to_console();
  return true;
}

void ClientLogin::proceed_to_console() {
  if (!authenticated_ && secret_) return begin_authentication(method_by(*secret_));
  if (!authenticated_ && !info_->ready() && backend_ == nullptr && info_->method == auth::AskedMethod::Unknown) return open_backend(false);
  if (!authenticated_) return begin_authentication(info_->method);
  if (verify_on_server_) return open_backend(true);
  phase_ = Phase::Over;
  deadline_.disarm();
  if (!ok_sent_) {
    std::string out;
    wire::encode_authentication_ok(out);
    session_.write(out);
  }
  if (backend_ != nullptr) worker_.backends().release(std::move(backend_));
  identity_.key.database = identity_.database;
  session_.welcome_to_console(std::move(identity_), console_access_);
}

}  // namespace weir::child
