// SHOW DATABASES, SHOW USERS and SHOW LISTS.
#include <fmt/format.h>

#include <map>
#include <set>

#include "common/admin/console_tables.h"

namespace weir::admin {
namespace {

struct Sums {
  std::int32_t clients = 0;
  std::int32_t servers = 0;
};

std::int32_t clients_of(const PoolFacts& pool) { return pool.of(PoolCount::ClActive) + pool.of(PoolCount::ClWaiting); }

// Of all pools, by the name that NAME_OF takes of them; also of those that have nothing but leases.
template <typename NameOf>
std::map<std::string, Sums, std::less<>> sums_by(const ConsoleView& view, NameOf name_of) {
  std::map<std::string, Sums, std::less<>> sums;
  for (const PoolFacts& pool : view.census.pools) sums[name_of(pool)].clients += clients_of(pool);
  for (const ledger::PoolRow& row : view.leases) sums[name_of(row)].servers += row.leased;
  return sums;
}

std::string limit_text(std::int32_t limit) { return std::to_string(shown_limit(limit)); }

const shmem::Node* shown_node(const shmem::NodeView& nodes) {
  if (nodes.primary >= 0 && nodes.primary < nodes.count) return &nodes.nodes[static_cast<std::size_t>(nodes.primary)];
  return nodes.count > 0 ? &nodes.nodes[0] : nullptr;
}

// The console itself among the databases.
Row console_row(const ConsoleView& view, const std::string& name, const Sums& sums) {
  Row row{name, std::nullopt, std::to_string(view.config->port), name, name, "2", "0", std::nullopt, "0", "statement", std::nullopt, "0", "0", "0",
          std::to_string(sums.clients), "0", "0", "0"};
  return row;
}

Row database_row(const ConsoleView& view, const std::string& name, const Sums& sums) {
  const config::SectionSettings* line = config::database_settings(*view.config, name);
  const config::RuntimeOverrides overrides = view.overrides_for(name, "");
  const config::EffectivePool pool = config::effective_pool(*view.config, name, "", overrides);
  const config::EffectiveClient client = config::effective_client(*view.config, name, "", overrides);
  const shmem::Node* node = shown_node(*view.nodes);
  const bool said = line != nullptr && line->pool_mode.has_value();
  const bool blocked = pool.pool_size == 0 || pool.max_db_connections == 0 || client.max_db_client_connections == 0;
  Row row{name};
  row.emplace_back(node != nullptr ? std::string(node->hostname.view()) : "");
  row.emplace_back(node != nullptr ? std::to_string(node->port) : "0");
  row.emplace_back(line != nullptr && line->dbname ? *line->dbname : name);
  row.push_back(line != nullptr && line->user ? std::optional(*line->user) : std::nullopt);
  row.emplace_back(limit_text(pool.pool_size));
  row.emplace_back(std::to_string(pool.min_pool_size));
  row.emplace_back(limit_text(pool.reserve_pool_size));
  row.emplace_back(std::to_string(pool.server_lifetime));
  row.push_back(said ? std::optional(std::string(config::pool_mode_text(*line->pool_mode))) : std::nullopt);
  row.push_back(line != nullptr && line->load_balance_hosts ? std::optional<std::string>(*line->load_balance_hosts == config::HostOrder::Disable ? "disable" : "round-robin") : std::nullopt);
  row.emplace_back(limit_text(pool.max_db_connections));
  row.emplace_back(std::to_string(sums.servers));
  row.emplace_back(limit_text(client.max_db_client_connections));
  row.emplace_back(std::to_string(sums.clients));
  row.emplace_back("0");
  row.emplace_back("0");
  row.emplace_back(blocked ? "1" : "0");
  return row;
}

std::set<std::string> database_names(const ConsoleView& view, const std::map<std::string, Sums, std::less<>>& sums) {
  std::set<std::string> names;
  for (const auto& [name, line] : view.config->settings.databases) names.insert(name);
  for (const auto& [name, sum] : sums) names.insert(name);
  for (const DatabaseTraffic& traffic : view.traffic) names.insert(traffic.database);
  for (const ledger::Override& one : view.overrides) {
    if (one.kind != ledger::OverrideKind::User) names.insert(one.database);
  }
  names.erase("*");
  for (const std::string_view console : kConsoleNames) names.insert(std::string(console));
  return names;
}

std::set<std::string> user_names(const ConsoleView& view, const std::map<std::string, Sums, std::less<>>& sums) {
  std::set<std::string> names;
  for (const auto& [name, line] : view.config->settings.users) names.insert(name);
  for (const auto& [name, sum] : sums) names.insert(name);
  for (const ledger::Override& one : view.overrides) {
    if (one.kind != ledger::OverrideKind::Database) names.insert(one.user);
  }
  return names;
}

std::map<std::string, Sums, std::less<>> by_database(const ConsoleView& view) {
  return sums_by(view, [](const auto& pool) { return pool.database; });
}
std::map<std::string, Sums, std::less<>> by_user(const ConsoleView& view) {
  return sums_by(view, [](const auto& pool) { return pool.user; });
}

// PgBouncer's form of a size of a user: nine wide, and nothing if the user has none of its own.
std::string own_size(std::int32_t runtime, const std::optional<std::int64_t>& in_file) {
  if (runtime >= 0) return fmt::format("{:9}", shown_limit(runtime));
  return in_file ? fmt::format("{:9}", *in_file) : std::string();
}

}  // namespace

std::vector<Column> databases_columns() {
  return {{"name"},
          {"host"},
          {"port", kInt4},
          {"database"},
          {"force_user"},
          {"pool_size", kInt4},
          {"min_pool_size", kInt4},
          {"reserve_pool_size", kInt4},
          {"server_lifetime", kInt4},
          {"pool_mode"},
          {"load_balance_hosts"},
          {"max_connections", kInt4},
          {"current_connections", kInt4},
          {"max_client_connections", kInt4},
          {"current_client_connections", kInt4},
          {"paused", kInt4},
          {"disabled", kInt4},
          {"blocked", kInt4}};
}

Rowset show_databases(const ConsoleView& view) {
  Rowset out{databases_columns(), {}};
  const auto sums = by_database(view);
  for (const std::string& name : database_names(view, sums)) {
    const auto it = sums.find(name);
    const Sums sum = it != sums.end() ? it->second : Sums{};
    out.rows.push_back(is_console(name) ? console_row(view, name, sum) : database_row(view, name, sum));
  }
  return out;
}

std::vector<Column> users_columns() {
  return {{"name"},
          {"pool_size"},
          {"reserve_pool_size"},
          {"pool_mode"},
          {"max_user_connections", kInt4},
          {"current_connections", kInt4},
          {"max_user_client_connections", kInt4},
          {"current_client_connections", kInt4},
          {"blocked", kInt4}};
}

Rowset show_users(const ConsoleView& view) {
  Rowset out{users_columns(), {}};
  const auto sums = by_user(view);
  const config::SectionSettings nothing;
  for (const std::string& name : user_names(view, sums)) {
    const auto sum = sums.find(name);
    const auto line = view.config->settings.users.find(name);
    const config::SectionSettings& said = line != view.config->settings.users.end() ? line->second : nothing;
    const config::RuntimeOverrides overrides = view.overrides_for("", name);
    const config::EffectivePool pool = config::effective_pool(*view.config, "", name, overrides);
    const config::EffectiveClient client = config::effective_client(*view.config, "", name, overrides);
    const bool blocked = overrides.user.pool_size == 0 || pool.max_user_connections == 0 || client.max_user_client_connections == 0;
    out.rows.push_back(Row{name, own_size(overrides.user.pool_size, said.pool_size), own_size(overrides.user.reserve_pool_size, said.reserve_pool_size),
                           said.pool_mode ? std::optional(std::string(config::pool_mode_text(*said.pool_mode))) : std::nullopt, limit_text(pool.max_user_connections),
                           std::to_string(sum != sums.end() ? sum->second.servers : 0), limit_text(client.max_user_client_connections),
                           std::to_string(sum != sums.end() ? sum->second.clients : 0), blocked ? "1" : "0"});
  }
  return out;
}

std::vector<Column> lists_columns() { return {{"list"}, {"items", kInt4}}; }

Rowset show_lists(const ConsoleView& view) {
  std::int32_t clients = 0;
  std::int32_t free_servers = 0;
  std::int32_t used_servers = 0;
  for (const PoolFacts& pool : view.census.pools) {
    clients += clients_of(pool);
    free_servers += pool.of(PoolCount::SvIdle) + pool.of(PoolCount::SvUsed);
    used_servers += pool.of(PoolCount::SvActive) + pool.of(PoolCount::SvTested) + pool.of(PoolCount::SvLogin) + pool.of(PoolCount::SvBeingCanceled);
  }
  Rowset out{lists_columns(), {}};
  const auto add = [&](const char* name, std::size_t items) { out.rows.push_back(Row{name, std::to_string(items)}); };
  add("databases", database_names(view, by_database(view)).size());
  add("users", user_names(view, by_user(view)).size());
  add("peers", view.config->settings.peers.size());
  add("pools", view.census.pools.size());
  add("peer_pools", 0);
  add("free_clients", 0);
  add("used_clients", static_cast<std::size_t>(clients));
  add("login_clients", static_cast<std::size_t>(view.census.logins));
  add("free_servers", static_cast<std::size_t>(free_servers));
  add("used_servers", static_cast<std::size_t>(used_servers));
  for (const char* name : {"dns_names", "dns_zones", "dns_queries", "dns_pending"}) add(name, 0);
  add("nodes", static_cast<std::size_t>(view.nodes->count));
  add("children", static_cast<std::size_t>(view.children));
  return out;
}

}  // namespace weir::admin
