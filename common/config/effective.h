// What holds for one (database, user), of all levels that may say it. Pure. The order is PgBouncer's: user, database, the
// parameter, and before all of them the line "user.database" of [pools]; what was set at run time (SET POOL, SET USER, SET
// DATABASE) stands at its level in the place of the file's word.
//
// In files 0 means "no limit" (of max_..._connections in a section: the parameter's value); here that is kNoLimit, and 0
// means that nobody gets one, which only a limit set at run time can say.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/config/config.h"

namespace weir::config {

inline constexpr std::int32_t kNoLimit = std::numeric_limits<std::int32_t>::max();

// Limits of one level set at run time: -1 not set (the default again), 0 blocks, else the limit; 2^31 - 1 is no limit.
struct RuntimeLimits {
  std::int32_t pool_size = -1;
  std::int32_t min_pool_size = -1;      // 0: none
  std::int32_t reserve_pool_size = -1;  // 0: none
  std::int32_t max_connections = -1;    // max_db_connections or max_user_connections
  std::int32_t max_client_connections = -1;
  bool operator==(const RuntimeLimits&) const = default;
};

// Those that bear on one (database, user).
struct RuntimeOverrides {
  RuntimeLimits pool;
  RuntimeLimits user;
  RuntimeLimits database;
  bool operator==(const RuntimeOverrides&) const = default;
};

// What a pool is made by. USER is the one who logs in to the server: pool_user().
struct EffectivePool {
  PoolMode pool_mode = PoolMode::Session;
  std::int32_t pool_size = kNoLimit;      // per node
  std::int32_t min_pool_size = 0;         // never above pool_size
  std::int32_t reserve_pool_size = 0;
  std::int64_t reserve_pool_timeout = 0;  // seconds
  std::int32_t max_db_connections = kNoLimit;    // per node, over all users
  std::int32_t max_user_connections = kNoLimit;  // per node, over all databases
  std::int64_t query_timeout = 0;                // seconds, 0 none; these three too
  std::int64_t idle_transaction_timeout = 0;
  std::int64_t transaction_timeout = 0;
  std::int64_t server_lifetime = 0;
  bool operator==(const EffectivePool&) const = default;
};

// What a client is bound by. USER is the one that it logged in as.
struct EffectiveClient {
  std::int64_t query_wait_timeout = 0;   // seconds, 0 none
  std::int64_t client_idle_timeout = 0;  // seconds, 0 none
  std::int32_t max_db_client_connections = kNoLimit;
  std::int32_t max_user_client_connections = kNoLimit;
  bool operator==(const EffectiveClient&) const = default;
};

EffectivePool effective_pool(const Config& config, std::string_view database, std::string_view user, const RuntimeOverrides& overrides = {});
EffectiveClient effective_client(const Config& config, std::string_view database, std::string_view user, const RuntimeOverrides& overrides = {});

// Somebody's connections are given back before the client leaves: some level says transaction or statement.
bool lends_connections(const Config& config);

// The line of [databases] that DATABASE goes by: its own or "*"; null if there is neither.
const SectionSettings* database_settings(const Config& config, std::string_view database);
// The user as whom a client's server connections log in: `user` of the database, else the client's own.
std::string_view pool_user(const Config& config, std::string_view database, std::string_view login_user);

// "max_user_connections=40 pool_size=30", as SET POOL, SET USER and SET DATABASE take it, over LIMITS: what is not named
// stays. Keys are those that SECTION (Databases, Users, Pools) may have; values -1 ... 2^31 - 1. An error (22023) names the
// key and what it may be; LIMITS is then as before.
Status parse_runtime_limits(Section section, std::string_view text, RuntimeLimits& limits);

}  // namespace weir::config
