#include "common/config/indexed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

#include "common/config/parameter.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

constexpr int kMaxNode = 127;
constexpr std::string_view kBackend[] = {"backend_hostname",       "backend_port", "backend_weight",
                                         "backend_data_directory", "backend_flag", "backend_application_name"};
constexpr std::string_view kPerNode[] = {"health_check_timeout", "health_check_max_retries", "health_check_retry_delay",
                                         "connect_timeout"};
constexpr std::string_view kPerNodeLater[] = {"health_check_period", "health_check_user", "health_check_password",
                                              "health_check_database"};
constexpr std::string_view kWatchdog[] = {"hostname",           "wd_port",        "pgpool_port",     "pgweir_port",
                                          "heartbeat_hostname", "heartbeat_port", "heartbeat_device"};

template <std::size_t N>
bool in(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// "backend_port1" -> ("backend_port", 1); -1: no number at the end.
std::pair<std::string, int> split(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(name[end - 1])) != 0) --end;
  int id = -1;
  if (end < name.size() && name.size() - end <= 4) std::from_chars(name.data() + end, name.data() + name.size(), id);
  std::string base(name.substr(0, end));
  for (char& c : base) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return {std::move(base), id};
}

}  // namespace

bool Indexed::is_indexed(std::string_view name) {
  const auto [base, id] = split(name);
  return id >= 0 && (in(kBackend, base) || in(kPerNode, base) || in(kPerNodeLater, base) || in(kWatchdog, base));
}

std::string Indexed::nearest(std::string_view name) {
  const auto [base, id] = split(name.substr(0, 100));
  if (id < 0) return {};
  std::string best;
  std::size_t least = std::max<std::size_t>(2, base.size() / 4) + 1;
  const auto consider = [&](std::string_view known, const std::string& wanted) {
    const std::size_t distance = edit_distance(wanted, known);
    if (distance >= least) return;
    least = distance;
    best = known;
  };
  for (std::string_view known : kBackend) consider(known, base);
  for (std::string_view known : kPerNode) consider(known, base);
  return best.empty() ? best : fmt::format("{}{}", best, id);
}

Indexed::Outcome Indexed::set(const std::string& name, const std::string& value, std::string& message) {
  const auto [base, id] = split(name);
  if (!is_indexed(name)) {
    if (in(kBackend, base) || in(kWatchdog, base)) {
      message = fmt::format("needs the number of a node at its end, as {}0", base);
      return Outcome::Bad;
    }
    return Outcome::Unknown;
  }
  if (id > kMaxNode) {
    message = fmt::format("node numbers go from 0 to {}", kMaxNode);
    return Outcome::Bad;
  }
  // An empty one asks for nothing that is missing.
  if (in(kWatchdog, base) || in(kPerNodeLater, base)) return value.empty() ? Outcome::Set : Outcome::Later;
  return in(kBackend, base) ? set_backend(base, id, value, message) : set_override(base, id, value, message);
}

Indexed::Outcome Indexed::set_override(const std::string& base, int id, const std::string& value,
                                       std::string& message) {
  Config scratch;
  const Parameter* parameter = find_parameter(base);
  const Status status = set_parameter(scratch, *parameter, value);
  if (!status) {
    message = status.error().message;
    return Outcome::Bad;
  }
  overrides_[id][base] = scratch.*std::get<std::int64_t Config::*>(parameter->field);
  return Outcome::Set;
}

Indexed::Outcome Indexed::set_flags(BackendConfig& node, const std::string& value, std::string& message) {
  node.allow_to_failover = true;
  node.always_primary = false;
  for (const std::string& flag : split_list(value, '|')) {
    if (flag == "ALLOW_TO_FAILOVER") {
      node.allow_to_failover = true;
    } else if (flag == "DISALLOW_TO_FAILOVER") {
      node.allow_to_failover = false;
    } else if (flag == "ALWAYS_PRIMARY" || flag == "ALWAYS_MASTER") {
      node.always_primary = true;
    } else {
      message = fmt::format("\"{}\" is none of ALLOW_TO_FAILOVER, DISALLOW_TO_FAILOVER, ALWAYS_PRIMARY", flag);
      return Outcome::Bad;
    }
  }
  return Outcome::Set;
}

Indexed::Outcome Indexed::set_backend(const std::string& base, int id, const std::string& value, std::string& message) {
  BackendConfig& node = nodes_[id];
  if (base == "backend_hostname") {
    node.hostname = value;
  } else if (base == "backend_data_directory") {
    node.data_directory = value;
  } else if (base == "backend_application_name") {
    node.application_name = value;
  } else if (base == "backend_port") {
    const auto port = parse_integer(value, "");
    if (!port || *port < 0 || *port > 65535) {
      message = fmt::format("\"{}\" is no port", value);
      return Outcome::Bad;
    }
    node.port = *port;
  } else if (base == "backend_weight") {
    const auto weight = parse_real(value);
    if (!weight || *weight < 0 || *weight > 1e9) {
      message = fmt::format("\"{}\" is no weight (a number from 0)", value);
      return Outcome::Bad;
    }
    node.weight = *weight;
  } else {
    return set_flags(node, value, message);
  }
  return Outcome::Set;
}

void Indexed::apply(Config& config) const {
  if (!nodes_.empty()) config.backends.resize(static_cast<std::size_t>(nodes_.rbegin()->first) + 1);
  for (const auto& [id, node] : nodes_) config.backends[static_cast<std::size_t>(id)] = node;
  for (std::size_t id = 0; id < config.backends.size(); ++id) {
    BackendConfig& node = config.backends[id];
    const auto own = overrides_.find(static_cast<int>(id));
    const auto value = [&](const char* name, std::int64_t fallback) {
      if (own == overrides_.end()) return fallback;
      const auto it = own->second.find(name);
      return it != own->second.end() ? it->second : fallback;
    };
    node.connect_timeout = value("connect_timeout", config.connect_timeout);
    node.health_check_timeout = value("health_check_timeout", config.health_check_timeout);
    node.health_check_max_retries = value("health_check_max_retries", config.health_check_max_retries);
    node.health_check_retry_delay = value("health_check_retry_delay", config.health_check_retry_delay);
  }
}

}  // namespace weir::config
