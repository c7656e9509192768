#include "common/config/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/config/parameter.h"

namespace weir::config {

namespace {

std::string text_of(const BackendConfig& node) {
  if (node.port == 0) return "unused";
  return fmt::format("{}:{} weight {} {}{}{}{}, connect_timeout {}ms, health_check {}s {} {}s", node.hostname,
                     node.port, node.weight, node.allow_to_failover ? "ALLOW_TO_FAILOVER" : "DISALLOW_TO_FAILOVER",
                     node.always_primary ? "|ALWAYS_PRIMARY" : "",
                     node.application_name.empty() ? "" : " as " + node.application_name,
                     node.data_directory.empty() ? "" : " in " + node.data_directory, node.connect_timeout,
                     node.health_check_timeout, node.health_check_max_retries, node.health_check_retry_delay);
}

}  // namespace

std::vector<Change> diff(const Config& before, const Config& after) {
  std::vector<Change> changes;
  for (const Parameter& parameter : parameters()) {
    const bool differs = std::visit([&](auto field) { return before.*field != after.*field; }, parameter.field);
    if (!differs) continue;
    changes.push_back({std::string(parameter.name), show_parameter(before, parameter), show_parameter(after, parameter),
                       parameter.context == Context::Startup});
  }
  const std::size_t nodes = std::max(before.backends.size(), after.backends.size());
  const BackendConfig none;
  for (std::size_t id = 0; id < nodes; ++id) {
    std::string old_text = text_of(id < before.backends.size() ? before.backends[id] : none);
    std::string new_text = text_of(id < after.backends.size() ? after.backends[id] : none);
    if (old_text == new_text) continue;
    changes.push_back({fmt::format("backend node {}", id), std::move(old_text), std::move(new_text), false});
  }
  return changes;
}

Config keep_startup_parameters(const Config& before, Config after) {
  for (const Parameter& parameter : parameters()) {
    if (parameter.context != Context::Startup) continue;
    std::visit([&](auto field) { after.*field = before.*field; }, parameter.field);
  }
  return after;
}

}  // namespace weir::config
