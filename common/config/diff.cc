#include "common/config/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/config/parameter.h"

namespace weir::config {

std::vector<Change> diff(const Config& before, const Config& after) {
  std::vector<Change> changes;
  for (const Parameter& parameter : parameters()) {
    const bool differs = std::visit([&](auto field) { return before.*field != after.*field; }, parameter.field);
    if (!differs) continue;
    changes.push_back({std::string(parameter.name), show_parameter(before, parameter), show_parameter(after, parameter), parameter.context == Context::Startup});
  }
  const std::size_t nodes = std::max(before.backends.size(), after.backends.size());
  const BackendConfig none;
  for (std::size_t id = 0; id < nodes; ++id) {
    const BackendConfig& a = id < before.backends.size() ? before.backends[id] : none;
    const BackendConfig& b = id < after.backends.size() ? after.backends[id] : none;
    const auto text = [](const BackendConfig& n) { return fmt::format("{}:{} weight {} {}{}", n.hostname, n.port, n.weight, n.always_primary ? "ALWAYS_PRIMARY " : "", n.application_name); };
    if (text(a) != text(b)) changes.push_back({fmt::format("backend node {}", id), text(a), text(b), false});
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
