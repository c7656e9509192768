#include "child/limit_errors.h"

#include <fmt/format.h>

#include "common/base/sqlstate.h"
#include "common/config/effective.h"

namespace weir::child {

Error no_connection_in_time(ledger::Limit limit, const ledger::PoolName& pool, const config::Config& config, std::int64_t waited) {
  const config::EffectivePool sizes = config::effective_pool(config, pool.database, pool.user);
  std::string detail;
  std::string remedy;
  switch (limit) {
    case ledger::Limit::Pool:
      detail = fmt::format("All {} server connections of user \"{}\" to database \"{}\" on node {} are in use.", sizes.pool_size, pool.user, pool.database, pool.node);
      remedy = "default_pool_size, or pool_size of the user, the database or both";
      break;
    case ledger::Limit::Database:
      detail = fmt::format("All {} server connections to database \"{}\" on node {} are in use.", sizes.max_db_connections, pool.database, pool.node);
      remedy = "max_db_connections";
      break;
    case ledger::Limit::User:
      detail = fmt::format("All {} server connections of user \"{}\" on node {} are in use.", sizes.max_user_connections, pool.user, pool.node);
      remedy = "max_user_connections";
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
