#include "common/config/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/config/parameter.h"

namespace weir::config {
namespace {

// Pgpool-II's order. A name that differs there: "theirs=ours".
constexpr std::string_view kPoolStatusOrder[] = {"backend_clustering_mode",
                                                 "listen_addresses",
                                                 "port",
                                                 "unix_socket_directories",
                                                 "unix_socket_group",
                                                 "unix_socket_permissions",
                                                 "pcp_listen_addresses",
                                                 "pcp_port",
                                                 "pcp_socket_dir",
                                                 "enable_pool_hba",
                                                 "pool_passwd",
                                                 "authentication_timeout",
                                                 "allow_clear_text_frontend_auth",
                                                 "ssl",
                                                 "ssl_key",
                                                 "ssl_cert",
                                                 "ssl_ca_cert",
                                                 "ssl_ca_cert_dir",
                                                 "ssl_crl_file",
                                                 "ssl_ciphers",
                                                 "ssl_prefer_server_ciphers",
                                                 "ssl_ecdh_curve",
                                                 "ssl_dh_params_file",
                                                 "ssl_passphrase_command",
                                                 "listen_backlog_multiplier",
                                                 "serialize_accept",
                                                 "reserved_connections",
                                                 "max_pool",
                                                 "process_management_mode",
                                                 "process_management_strategy",
                                                 "num_init_children",
                                                 "min_spare_children",
                                                 "max_spare_children",
                                                 "child_life_time",
                                                 "child_max_connections",
                                                 "connection_life_time",
                                                 "client_idle_limit",
                                                 "log_destination",
                                                 "log_line_prefix",
                                                 "log_error_verbosity",
                                                 "client_min_messages",
                                                 "log_min_messages",
                                                 "log_connections",
                                                 "log_disconnections",
                                                 "log_pcp_processes",
                                                 "log_hostname",
                                                 "log_statement",
                                                 "log_per_node_statement",
                                                 "notice_per_node_statement",
                                                 "log_client_messages",
                                                 "log_backend_messages",
                                                 "log_standby_delay",
                                                 "syslog_facility",
                                                 "syslog_ident",
                                                 "pid_file_name",
                                                 "work_dir",
                                                 "connection_cache",
                                                 "reset_query_list",
                                                 "replicate_select",
                                                 "insert_lock",
                                                 "lobj_lock_table",
                                                 "replication_stop_on_mismatch",
                                                 "failover_if_affected_tuples_mismatch",
                                                 "load_balance_mode",
                                                 "ignore_leading_white_space",
                                                 "read_only_function_list",
                                                 "write_function_list",
                                                 "primary_routing_query_pattern_list",
                                                 "disable_load_balance_on_write",
                                                 "dml_adaptive_object_relationship_list",
                                                 "statement_level_load_balance",
                                                 "sr_check_period",
                                                 "sr_check_user",
                                                 "sr_check_database",
                                                 "delay_threshold",
                                                 "delay_threshold_by_time",
                                                 "prefer_lower_delay_standby",
                                                 "follow_primary_command",
                                                 "user_redirect_preference_list",
                                                 "database_redirect_preference_list",
                                                 "app_name_redirect_preference_list",
                                                 "allow_sql_comments",
                                                 "health_check_period",
                                                 "health_check_timeout",
                                                 "health_check_user",
                                                 "health_check_database",
                                                 "health_check_max_retries",
                                                 "health_check_retry_delay",
                                                 "connect_timeout",
                                                 "failover_command",
                                                 "failback_command",
                                                 "failover_on_backend_error",
                                                 "failover_on_backend_shutdown",
                                                 "detach_false_primary",
                                                 "auto_failback",
                                                 "auto_failback_interval",
                                                 "recovery_user",
                                                 "recovery_database",
                                                 "recovery_1st_stage_command",
                                                 "recovery_2nd_stage_command",
                                                 "recovery_timeout",
                                                 "search_primary_node_timeout",
                                                 "client_idle_limit_in_recovery",
                                                 "relcache_expire",
                                                 "relcache_size",
                                                 "check_temp_table",
                                                 "check_unlogged_table",
                                                 "enable_shared_relcache",
                                                 "relcache_query_target",
                                                 "use_watchdog",
                                                 "wd_ipc_socket_dir",
                                                 "wd_lifecheck_method",
                                                 "clear_memqcache_on_escalation",
                                                 "wd_escalation_command",
                                                 "wd_de_escalation_command",
                                                 "trusted_servers",
                                                 "trusted_server_command",
                                                 "delegate_ip",
                                                 "wd_priority",
                                                 "wd_interval",
                                                 "ping_path",
                                                 "if_cmd_path",
                                                 "if_up_cmd",
                                                 "if_down_cmd",
                                                 "arping_path",
                                                 "arping_cmd",
                                                 "wd_heartbeat_keepalive",
                                                 "wd_heartbeat_deadtime",
                                                 "wd_life_point",
                                                 "wd_lifecheck_query",
                                                 "wd_lifecheck_dbname",
                                                 "wd_lifecheck_user",
                                                 "wd_monitoring_interfaces_list",
                                                 "memory_cache_enabled",
                                                 "memqcache_method",
                                                 "memqcache_memcached_host",
                                                 "memqcache_memcached_port",
                                                 "memqcache_total_size",
                                                 "memqcache_max_num_cache",
                                                 "memqcache_expire",
                                                 "memqcache_auto_cache_invalidation",
                                                 "memqcache_maxcache",
                                                 "memqcache_cache_block_size",
                                                 "memqcache_cache_oiddir=memqcache_oiddir",
                                                 "cache_safe_memqcache_table_list",
                                                 "cache_unsafe_memqcache_table_list"};

std::string source_of(const Config& config, const std::string& name) {
  const auto it = config.sources.find(name);
  return it == config.sources.end() ? "default" : it->second;
}

void describe_node(const Config& config, std::size_t id, std::vector<Description>& rows) {
  const BackendConfig& node = config.backends[id];
  const auto add = [&](std::string_view base, std::string value, std::string_view unit, std::string_view text) {
    std::string name = fmt::format("{}{}", base, id);
    // A node without a value of its own has that of the parameter without a number.
    std::string source = source_of(config, config.sources.contains(name) ? name : std::string(base));
    rows.push_back({std::move(name), std::move(value), std::string(unit), std::move(source), std::string(text)});
  };
  add("backend_hostname", node.hostname, "", "Host of the node.");
  add("backend_port", std::to_string(node.port), "", "Port of the node.");
  add("backend_weight", fmt::format("{}", node.weight), "", "Share of the reads.");
  add("backend_data_directory", node.data_directory, "", "Data directory of the server.");
  add("backend_flag",
      fmt::format("{}{}", node.allow_to_failover ? "ALLOW_TO_FAILOVER" : "DISALLOW_TO_FAILOVER",
                  node.always_primary ? "|ALWAYS_PRIMARY" : ""),
      "", "Flags of the node.");
  add("backend_application_name", node.application_name, "", "application_name of the standby.");
  add("connect_timeout", fmt::format("{}ms", node.connect_timeout), "ms", "connect_timeout of the node.");
  add("health_check_timeout", fmt::format("{}s", node.health_check_timeout), "s", "health_check_timeout of the node.");
  add("health_check_max_retries", std::to_string(node.health_check_max_retries), "",
      "health_check_max_retries of the node.");
  add("health_check_retry_delay", fmt::format("{}s", node.health_check_retry_delay), "s",
      "health_check_retry_delay of the node.");
}

}  // namespace

std::vector<Description> describe(const Config& config) {
  std::vector<Description> rows;
  for (const Parameter& parameter : parameters()) {
    std::string name(parameter.name);
    std::string source = source_of(config, name);
    const std::string_view unit = parameter.kind == Kind::INT ? parameter.unit : std::string_view();
    rows.push_back({std::move(name), show_parameter(config, parameter), std::string(unit), std::move(source),
                    std::string(parameter.documentation)});
  }
  for (std::size_t id = 0; id < config.backends.size(); ++id) {
    if (config.backends[id].port != 0) describe_node(config, id, rows);
  }
  return rows;
}

std::vector<Item> pool_status_items(const Config& config) {
  std::vector<Item> items;
  std::vector<const Parameter*> listed;
  const auto add = [&](std::string_view name, const Parameter& parameter) {
    items.push_back({std::string(name), raw_parameter(config, parameter), std::string(parameter.documentation)});
  };
  for (std::string_view entry : kPoolStatusOrder) {
    const std::size_t equals = entry.find('=');
    const Parameter* parameter = find_parameter(equals == std::string_view::npos ? entry : entry.substr(equals + 1));
    WEIR_CHECK(parameter != nullptr);
    add(entry.substr(0, equals), *parameter);
    listed.push_back(parameter);
  }
  for (const Parameter& parameter : parameters()) {
    if (parameter.kind == Kind::SECRET || parameter.effect == Effect::Retired) continue;
    if (std::find(listed.begin(), listed.end(), &parameter) == listed.end()) add(parameter.name, parameter);
  }
  return items;
}

}  // namespace weir::config
