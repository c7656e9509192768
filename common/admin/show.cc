#include "common/admin/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "common/config/parameter.h"

namespace weir::admin {
namespace {

using Row = std::vector<std::optional<std::string>>;

const std::vector<Column> kNodes = {{"node_id", kInt4}, {"hostname"}, {"port"}, {"status"}, {"pg_status"}, {"lb_weight"}, {"role"}, {"pg_role"}, {"select_cnt", kInt8},
                                    {"load_balance_node"}, {"replication_delay"}, {"replication_state"}, {"replication_sync_state"}, {"last_status_change"}, {"reason"}};
const std::vector<Column> kProcesses = {{"pool_pid", kInt4}, {"start_time"}, {"client_connection_count", kInt8}, {"database"}, {"username"}, {"backend_connection_time"},
                                        {"pool_counter", kInt8}, {"status"}, {"clients", kInt4}, {"waiting", kInt4}};
const std::vector<Column> kPools = {{"pool_pid", kInt4}, {"start_time"}, {"client_connection_count", kInt8}, {"pool_id", kInt4}, {"backend_id", kInt4}, {"database"}, {"username"},
                                    {"backend_connection_time"}, {"client_connection_time"}, {"client_disconnection_time"}, {"client_idle_duration", kInt8}, {"majorversion", kInt4},
                                    {"minorversion", kInt4}, {"pool_counter", kInt8}, {"pool_backendpid", kInt4}, {"pool_connected", kInt4}, {"status"}, {"load_balance_node"},
                                    {"client_host"}, {"client_port"}, {"statement"}};
const std::vector<Column> kStatus = {{"item"}, {"value"}, {"description"}};
const std::vector<Column> kVersion = {{"pool_version"}};

const char* role_text(shmem::NodeRole role, bool primary, bool streaming) {
  if (!streaming) return primary ? "main" : "replica";
  switch (role) {
    case shmem::NodeRole::Primary: return "primary";
    case shmem::NodeRole::Standby: return "standby";
    case shmem::NodeRole::Unknown: return primary ? "primary" : "standby";
  }
  return "standby";
}

const char* status_text(const shmem::Node& node) {
  switch (node.status) {
    case shmem::NodeStatus::Unused: return "unused";
    case shmem::NodeStatus::Up: return node.seen_connected ? "up" : "waiting";
    case shmem::NodeStatus::Unknown:
    case shmem::NodeStatus::Suspect: return node.seen_connected ? "up" : "waiting";
    case shmem::NodeStatus::Down: return "down";
  }
  return "unused";
}

std::uint64_t primary_lsn(const shmem::NodeView& nodes, std::span<const NodeFacts> facts) {
  const auto index = static_cast<std::size_t>(nodes.primary);
  return nodes.primary >= 0 && index < facts.size() ? facts[index].observation.lsn : 0;
}

}  // namespace

std::string time_text(std::int64_t epoch_seconds) {
  if (epoch_seconds == 0) return {};
  const std::time_t time = epoch_seconds;
  std::tm local{};
  localtime_r(&time, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local)};
}

std::optional<ShowCommand> show_command(std::string_view name) {
  if (name == "pool_nodes") return ShowCommand::Nodes;
  if (name == "pool_processes") return ShowCommand::Processes;
  if (name == "pool_pools") return ShowCommand::Pools;
  if (name == "pool_status") return ShowCommand::Status;
  if (name == "pool_version") return ShowCommand::Version;
  if (name.starts_with("pool_")) return ShowCommand::NotYet;
  return std::nullopt;
}

std::vector<Column> show_columns(ShowCommand command) {
  switch (command) {
    case ShowCommand::Nodes: return kNodes;
    case ShowCommand::Processes: return kProcesses;
    case ShowCommand::Pools: return kPools;
    case ShowCommand::Status: return kStatus;
    case ShowCommand::Version: return kVersion;
    case ShowCommand::NotYet: return {};
  }
  return {};
}

Rowset show_nodes(const shmem::NodeView& nodes, std::span<const NodeFacts> facts, int load_balance_node, bool streaming) {
  Rowset out{kNodes, {}};
  double total = 0;
  for (int id = 0; id < nodes.count; ++id) total += nodes.nodes[static_cast<std::size_t>(id)].weight;
  for (int id = 0; id < nodes.count; ++id) {
    const auto index = static_cast<std::size_t>(id);
    const shmem::Node& node = nodes.nodes[index];
    if (node.status == shmem::NodeStatus::Unused) continue;
    const NodeFacts fact = index < facts.size() ? facts[index] : NodeFacts{};
    const shmem::Observation& seen = fact.observation;
    const bool answers = seen.answer == shmem::Answer::Ok || seen.answer == shmem::Answer::Saturated || seen.answer == shmem::Answer::BadCredentials;
    const bool primary = id == nodes.primary;
    const std::uint64_t lsn = primary_lsn(nodes, facts);
    const std::uint64_t delay = !primary && seen.in_recovery == 1 && lsn > seen.lsn ? lsn - seen.lsn : 0;
    out.rows.push_back(Row{std::to_string(id), std::string(node.hostname.view()), std::to_string(node.port), status_text(node),
                           seen.answer == shmem::Answer::None ? "unknown" : answers ? "up" : "down", fmt::format("{:.6f}", total > 0 ? node.weight / total : 0.0),
                           role_text(node.role, primary, streaming), !answers || seen.in_recovery < 0 ? "unknown" : seen.in_recovery == 1 ? "standby" : "primary",
                           std::to_string(fact.selects), id == load_balance_node ? "true" : "false", std::to_string(delay), "", "", time_text(node.changed_at),
                           std::string(node.reason.view())});
  }
  return out;
}

Rowset show_processes(std::span<const ProcessFacts> processes) {
  Rowset out{kProcesses, {}};
  for (const ProcessFacts& process : processes) {
    const auto newest = std::max_element(process.sessions.begin(), process.sessions.end(), [](const auto& a, const auto& b) { return a.connected_at < b.connected_at; });
    const bool any = newest != process.sessions.end();
    std::int64_t oldest = 0;
    std::uint64_t uses = 0;
    for (const shmem::BackendRow& backend : process.backends) {
      if (oldest == 0 || backend.created_at < oldest) oldest = backend.created_at;
      uses += backend.uses;
    }
    out.rows.push_back(Row{std::to_string(process.pid), time_text(process.started_at), std::to_string(process.served), any ? std::string(newest->database.view()) : "",
                           any ? std::string(newest->user.view()) : "", time_text(oldest), std::to_string(uses),
                           process.draining ? "Draining" : process.clients == 0 ? "Wait for connection" : "Serving clients", std::to_string(process.clients), std::to_string(process.waiting)});
  }
  return out;
}

Rowset show_pools(std::span<const ProcessFacts> processes) {
  Rowset out{kPools, {}};
  for (const ProcessFacts& process : processes) {
    int pool_id = 0;
    for (const shmem::BackendRow& backend : process.backends) {
      out.rows.push_back(Row{std::to_string(process.pid), time_text(process.started_at), std::to_string(process.served), std::to_string(pool_id++), std::to_string(backend.node),
                             std::string(backend.database.view()), std::string(backend.user.view()), time_text(backend.created_at), time_text(backend.client_since),
                             time_text(backend.client_until), "0", "3", "0", std::to_string(backend.uses), std::to_string(backend.pid), backend.client_connected ? "1" : "0",
                             backend.client_connected ? "Execute command" : "Wait for connection", "0", "", "", ""});
    }
  }
  return out;
}

Rowset show_status(const config::Config& config, const shmem::NodeView& nodes) {
  Rowset out{kStatus, {}};
  for (const config::Parameter& parameter : config::parameters()) {
    out.rows.push_back(Row{std::string(parameter.name), config::raw_parameter(config, parameter), std::string(parameter.documentation)});
  }
  double total = 0;
  for (const config::BackendConfig& backend : config.backends) total += backend.weight;
  for (std::size_t id = 0; id < config.backends.size(); ++id) {
    const config::BackendConfig& backend = config.backends[id];
    if (backend.port == 0) continue;
    const auto add = [&](std::string_view name, std::string value, std::string_view description) {
      out.rows.push_back(Row{fmt::format("{}{}", name, id), std::move(value), std::string(description)});
    };
    add("backend_hostname", backend.hostname, "host of the node");
    add("backend_port", std::to_string(backend.port), "port of the node");
    add("backend_weight", fmt::format("{:.6f}", total > 0 ? backend.weight / total : 0.0), "share of reads");
    add("backend_data_directory", backend.data_directory, "data directory of the node");
    add("backend_status", id < static_cast<std::size_t>(nodes.count) ? status_text(nodes.nodes[id]) : "unused", "status of the node");
    add("standby_delay", "0", "delay of the standby in bytes");
    add("backend_flag", fmt::format("{}{}", backend.allow_to_failover ? "ALLOW_TO_FAILOVER" : "DISALLOW_TO_FAILOVER", backend.always_primary ? "|ALWAYS_PRIMARY" : ""), "flags of the node");
    add("backend_application_name", backend.application_name, "application_name of the standby");
  }
  return out;
}

Rowset show_version() { return {kVersion, {Row{"4.7.0 (pgweir 0.1.0)"}}}; }

}  // namespace weir::admin
