#include "common/config/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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

std::string line_of(const Config& config, const std::string& section, const std::string& name) {
  const auto entries = config.sections.find(section);
  if (entries == config.sections.end()) return "not there";
  const auto line = entries->second.find(name);
  return line == entries->second.end() ? "not there" : settings_text(line->second);
}

// Lines of sections that came, went or changed. The same texts on both sides: a secret differs.
void diff_sections(const Config& before, const Config& after, std::vector<Change>& changes) {
  std::set<std::pair<std::string, std::string>> lines;
  for (const Config* config : {&before, &after}) {
    for (const auto& [section, entries] : config->sections) {
      for (const auto& [name, settings] : entries) lines.emplace(section, name);
    }
  }
  for (const auto& [section, name] : lines) {
    const auto old_entries = before.sections.find(section);
    const auto new_entries = after.sections.find(section);
    const bool in_both = old_entries != before.sections.end() && new_entries != after.sections.end() && old_entries->second.contains(name) &&
                         new_entries->second.contains(name);
    if (in_both && old_entries->second.at(name) == new_entries->second.at(name)) continue;
    changes.push_back({fmt::format("[{}] {}", section, name), line_of(before, section, name), line_of(after, section, name), false});
  }
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
  diff_sections(before, after, changes);
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
