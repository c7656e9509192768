// What is known of a (database, user) pair from the servers: how the primary asked for a password, what it reports at
// login, and the defaults that routing needs. Learnt at the first login and refreshed by each new one; later sessions log
// in without touching a server.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "child/time_limits.h"
#include "common/auth/backend_auth.h"

namespace weir::child {

using ParameterList = std::vector<std::pair<std::string, std::string>>;

struct BackendGroup;

struct LoginInfo {
  std::vector<BackendGroup*> groups;  // the cache's, by node, as far as they were asked for
  TimeLimits limits;                  // of its clients; the configuration's
  auth::AskedMethod method = auth::AskedMethod::Unknown;
  bool from_primary = false;
  ParameterList parameters;  // ParameterStatus of a fresh connection, in the server's order
  // What the server makes of startup parameters that clients sent, by their encoded list: the values it then reports.
  std::map<std::string, ParameterList> startup_sets;

  // Asked once, after the first login.
  bool defaults_known = false;
  std::vector<std::string> search_path;  // "$user" replaced
  bool serializable_default = true;      // default_transaction_isolation is SERIALIZABLE
  bool unusual_isolation = true;         // default_transaction_* are not READ COMMITTED, READ WRITE
  bool foreign_role_settings = false;
  // (login_defaults.h) All that was learnt holds as of so many changes of logins.
  std::uint64_t checked_change = 0;
  std::string fingerprint;           // as the primary told it then; empty: it is not known
  bool check_again = false;          // a standby has told another one
  std::uint64_t oldest_change = 0;   // connections that were opened before it have other defaults

  // A clear text password that a server accepted, as a salted digest; for users that pool_passwd does not have.
  std::string accepted_salt;
  std::string accepted_digest;

  bool ready() const { return !parameters.empty() && method != auth::AskedMethod::Unknown; }
};

}  // namespace weir::child
