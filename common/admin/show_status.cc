#include "common/admin/show_status.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/admin/show_text.h"
#include "common/config/parameter.h"

namespace weir::admin {
namespace {

constexpr std::string_view kOrder[] = {
#include "common/admin/status_order.inc"
};

StatusItem item_of(const config::Config& config, const config::Parameter& parameter) {
  return {std::string(parameter.name), config::raw_parameter(config, parameter), parameter.documentation};
}

void add_node(std::vector<StatusItem>& items, const config::BackendConfig& backend, std::size_t id,
              const shmem::Node& node, const shmem::ReplicationDelay& delay, double total) {
  const auto add = [&](std::string_view name, std::string value, std::string_view description) {
    items.push_back({std::string(name) + std::to_string(id), std::move(value), description});
  };
  std::string flags = backend.allow_to_failover ? "ALLOW_TO_FAILOVER" : "DISALLOW_TO_FAILOVER";
  if (backend.always_primary) flags += "|ALWAYS_PRIMARY";
  add("backend_hostname", backend.hostname, "host of the node");
  add("backend_port", std::to_string(backend.port), "port of the node");
  add("backend_weight", weight_text(backend.weight, total), "share of the reads");
  add("backend_data_directory", backend.data_directory, "data directory of the node");
  add("backend_status", std::string(status_text(node)), "status of the node");
  add("standby_delay", delay_text(delay, DelayUnit::Bytes), "bytes that the node is behind the primary");
  add("backend_flag", std::move(flags), "flags of the node");
  add("backend_application_name", backend.application_name, "application_name of the standby");
}

}  // namespace

std::vector<StatusItem> status_items(const config::Config& config, const shmem::NodeView& nodes,
                                     std::span<const shmem::ReplicationDelay> delays) {
  std::vector<StatusItem> items;
  for (const std::string_view name : kOrder) {
    const config::Parameter* parameter = config::find_parameter(name);
    if (parameter != nullptr && parameter->name == name) items.push_back(item_of(config, *parameter));
  }
  double total = 0;
  for (const config::BackendConfig& backend : config.backends) total += backend.weight;
  const auto count = static_cast<std::size_t>(std::clamp<int>(nodes.count, 0, shmem::kMaxNodes));
  for (std::size_t id = 0; id < config.backends.size(); ++id) {
    if (config.backends[id].port == 0) continue;
    const bool primary = static_cast<int>(id) == nodes.primary;
    const auto delay = primary ? shmem::ReplicationDelay{0, 0, 1} : id < delays.size() ? delays[id] : shmem::ReplicationDelay{};
    add_node(items, config.backends[id], id, id < count ? nodes.nodes[id] : shmem::Node{}, delay, total);
  }
  for (const config::Parameter& parameter : config::parameters()) {
    const bool shown = std::find(std::begin(kOrder), std::end(kOrder), parameter.name) != std::end(kOrder);
    if (!shown && parameter.kind != config::Kind::SECRET) items.push_back(item_of(config, parameter));
  }
  return items;
}

std::vector<Column> status_columns() { return {{"item"}, {"value"}, {"description"}}; }

Rowset show_status(std::vector<StatusItem> items) {
  Rowset out{status_columns(), {}};
  out.rows.reserve(items.size());
  for (StatusItem& item : items) {
    out.rows.push_back(Row{std::move(item.item), std::move(item.value), std::string(item.description)});
  }
  return out;
}

}  // namespace weir::admin
