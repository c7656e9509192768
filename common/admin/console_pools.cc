// SHOW POOLS, SHOW LEASES and SHOW LIMITS.
#include <fmt/format.h>

#include "common/admin/console_tables.h"
#include "common/config/section_settings.h"

namespace weir::admin {
namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;

std::optional<std::string> host_order(const config::Config& config, std::string_view database) {
  const config::SectionSettings* line = config::database_settings(config, database);
  if (line == nullptr || !line->load_balance_hosts) return std::nullopt;
  return *line->load_balance_hosts == config::HostOrder::Disable ? "disable" : "round-robin";
}

bool is_blocked(const config::EffectivePool& pool) { return pool.pool_size == 0 || pool.max_db_connections == 0 || pool.max_user_connections == 0; }

// "0:3 1:2": connections by node.
std::string by_node(const ConsoleView& view, std::string_view database, std::string_view user) {
  std::string text;
  for (const ledger::PoolRow& row : view.leases) {
    if (row.database == database && row.user == user && row.leased > 0) text += fmt::format("{}{}:{}", text.empty() ? "" : " ", row.node, row.leased);
  }
  return text;
}

std::optional<std::string> set_value(std::int32_t value) {
  if (value < 0) return std::nullopt;
  return std::to_string(value);
}

}  // namespace

std::int32_t leased(const ConsoleView& view, std::string_view database, std::string_view user) {
  std::int32_t sum = 0;
  for (const ledger::PoolRow& row : view.leases) {
    if (row.database == database && row.user == user) sum += row.leased;
  }
  return sum;
}

std::vector<Column> console_pools_columns() {
  std::vector<Column> columns{{"database"}, {"user"}};
  for (const char* name : {"cl_active", "cl_waiting", "cl_active_cancel_req", "cl_waiting_cancel_req", "sv_active", "sv_active_cancel", "sv_being_canceled", "sv_idle",
                           "sv_used", "sv_tested", "sv_login", "maxwait", "maxwait_us"}) {
    columns.push_back({name, kInt4});
  }
  columns.push_back({"pool_mode"});
  columns.push_back({"load_balance_hosts"});
  columns.push_back({"sv_closing", kInt4});
  columns.push_back({"leased", kInt4});
  columns.push_back({"leased_by_node"});
  for (const char* name : {"pool_size", "min_pool_size", "reserve_pool_size", "blocked"}) columns.push_back({name, kInt4});
  return columns;
}

Rowset show_console_pools(const ConsoleView& view) {
  Rowset out{console_pools_columns(), {}};
  for (const PoolFacts& pool : view.census.pools) {
    const bool console = is_console(pool.database);
    const config::EffectivePool limits = config::effective_pool(*view.config, pool.database, pool.user, view.overrides_for(pool.database, pool.user));
    Row row{pool.database, pool.user};
    for (std::size_t i = 0; i < static_cast<std::size_t>(PoolCount::SvClosing); ++i) row.emplace_back(std::to_string(pool.counts[i]));
    row.emplace_back(std::to_string(pool.longest_wait_us / kMicroseconds));
    row.emplace_back(std::to_string(pool.longest_wait_us % kMicroseconds));
    row.emplace_back(config::pool_mode_text(console ? config::PoolMode::Statement : limits.pool_mode));
    row.push_back(host_order(*view.config, pool.database));
    row.emplace_back(std::to_string(pool.of(PoolCount::SvClosing)));
    row.emplace_back(std::to_string(leased(view, pool.database, pool.user)));
    row.emplace_back(by_node(view, pool.database, pool.user));
    row.emplace_back(std::to_string(console ? 0 : shown_limit(limits.pool_size)));
    row.emplace_back(std::to_string(console ? 0 : limits.min_pool_size));
    row.emplace_back(std::to_string(console ? 0 : shown_limit(limits.reserve_pool_size)));
    row.emplace_back(!console && is_blocked(limits) ? "1" : "0");
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::vector<Column> leases_columns() {
  return {{"database"},          {"user"},        {"node", kInt4}, {"leased", kInt4}, {"waiting_children", kInt4}, {"pool_size", kInt4}, {"reserve_pool_size", kInt4},
          {"max_db_connections", kInt4}, {"max_user_connections", kInt4}, {"blocked", kInt4}};
}

Rowset show_leases(const ConsoleView& view) {
  Rowset out{leases_columns(), {}};
  for (const ledger::PoolRow& pool : view.leases) {
    const config::EffectivePool limits = config::effective_pool(*view.config, pool.database, pool.user, view.overrides_for(pool.database, pool.user));
    out.rows.push_back(Row{pool.database, pool.user, std::to_string(pool.node), std::to_string(pool.leased), std::to_string(pool.waiting),
                           std::to_string(shown_limit(limits.pool_size)), std::to_string(shown_limit(limits.reserve_pool_size)),
                           std::to_string(shown_limit(limits.max_db_connections)), std::to_string(shown_limit(limits.max_user_connections)),
                           is_blocked(limits) ? "1" : "0"});
  }
  return out;
}

std::vector<Column> limits_columns() {
  return {{"object"},
          {"user"},
          {"database"},
          {"pool_size", kInt4},
          {"min_pool_size", kInt4},
          {"reserve_pool_size", kInt4},
          {"max_connections", kInt4},
          {"max_client_connections", kInt4}};
}

Rowset show_limits(const ConsoleView& view) {
  Rowset out{limits_columns(), {}};
  for (const ledger::Override& one : view.overrides) {
    using Kind = ledger::OverrideKind;
    const bool pool = one.kind == Kind::Pool;
    const bool user = pool || one.kind == Kind::User;
    const bool database = pool || one.kind == Kind::Database;
    out.rows.push_back(Row{pool ? "pool" : user ? "user" : "database", user ? std::optional(one.user) : std::nullopt, database ? std::optional(one.database) : std::nullopt,
                           set_value(one.limits.pool_size), set_value(one.limits.min_pool_size), set_value(one.limits.reserve_pool_size),
                           set_value(one.limits.max_connections), set_value(one.limits.max_client_connections)});
  }
  return out;
}

}  // namespace weir::admin
