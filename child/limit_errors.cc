#include "child/limit_errors.h"

#include <fmt/format.h>

#include "common/base/sqlstate.h"
#include "common/config/effective.h"

namespace weir::child {

namespace {

std::string all_in_use(std::int32_t limit, std::string_view of_what) {
  if (limit == 0) return fmt::format("No server connection{} is allowed now: the limit was set to 0.", of_what);
  return fmt::format("All {} server connections{} are in use.", limit, of_what);
}

// Where the limit NAME comes from: at run time it is not raised in the file.
std::string with_source(std::string_view name, bool at_run_time) { return fmt::format("{}{}", name, at_run_time ? " (set on the console, see SHOW LIMITS)" : ""); }

}  // namespace

Error no_connection_in_time(ledger::Limit limit, const ledger::PoolName& pool, const config::Config& config, const config::RuntimeOverrides& set,
                            std::int64_t waited) {
  const config::EffectivePool sizes = config::effective_pool(config, pool.database, pool.user, set);
  std::string detail;
  std::string remedy;
  switch (limit) {
    case ledger::Limit::Pool:
      detail = all_in_use(sizes.pool_size, fmt::format(" of user \"{}\" to database \"{}\" on node {}", pool.user, pool.database, pool.node));
      remedy = with_source("default_pool_size, or pool_size of the user, the database or both", set.pool.pool_size >= 0 || set.user.pool_size >= 0 || set.database.pool_size >= 0);
      break;
    case ledger::Limit::Database:
      detail = all_in_use(sizes.max_db_connections, fmt::format(" to database \"{}\" on node {}", pool.database, pool.node));
      remedy = with_source("max_db_connections", set.database.max_connections >= 0);
      break;
    case ledger::Limit::User:
      detail = all_in_use(sizes.max_user_connections, fmt::format(" of user \"{}\" on node {}", pool.user, pool.node));
      remedy = with_source("max_user_connections", set.user.max_connections >= 0);
      break;
    case ledger::Limit::Node:
      detail = fmt::format("Node {} has no connection left.", pool.node);
      remedy = "max_connections of the server";
      break;
    case ledger::Limit::None:
    case ledger::Limit::Turn:
      detail = fmt::format("All connections of user \"{}\" to database \"{}\" on node {} that this process may open are in use.", pool.user, pool.database, pool.node);
      remedy = fmt::format("max_pool (now {}) or num_init_children", config.max_pool);
      break;
  }
  return make_error(sqlstate::kTooManyConnections, "query_wait_timeout: no connection to the server came free in time", std::move(detail),
                    fmt::format("Raise {}, or query_wait_timeout (now {} s).", remedy, waited));
}

Error no_room_in_ledger() {
  return make_error(sqlstate::kTooManyConnections, "pgweir cannot keep account of any more server connections",
                    "There are too many connections in one process, or too many databases and users.",
                    fmt::format("At most {} databases and {} users are known at a time.", ledger::Ledger::kMaxDatabases, ledger::Ledger::kMaxUsers));
}

Error nothing_is_reachable() {
  return make_error(sqlstate::kCannotConnectNow, "server login has been failing, cached error: no node can be reached (server_login_retry)",
                    "No node could be reached for server_login_retry.", "See SHOW POOL_NODES for the state of each node and its reason.");
}

}  // namespace weir::child
