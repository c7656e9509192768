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
using Part = NumberedParameter::Part;
constexpr NumberedParameter kNumbered[] = {
    {"backend_hostname", Part::Backend, "", "Host name or address of the server, or the directory of its Unix socket."},
    {"backend_port", Part::Backend, "0", "Port of the server; 0: there is no such node."},
    {"backend_weight", Part::Backend, "0", "Share of the reads, in relation to the other nodes' weights."},
    {"backend_data_directory", Part::Backend, "", "Data directory of the server, for commands and online recovery."},
    {"backend_flag", Part::Backend, "ALLOW_TO_FAILOVER",
     "ALLOW_TO_FAILOVER or DISALLOW_TO_FAILOVER, and ALWAYS_PRIMARY for a node that is always taken as the primary; "
     "with "
     "| between."},
    {"backend_application_name", Part::Backend, "",
     "application_name with which the standby streams from the primary."},
    {"health_check_timeout", Part::PerNode, "", "health_check_timeout of this node."},
    {"health_check_max_retries", Part::PerNode, "", "health_check_max_retries of this node."},
    {"health_check_retry_delay", Part::PerNode, "", "health_check_retry_delay of this node."},
    {"connect_timeout", Part::PerNode, "", "connect_timeout of this node."},
    {"health_check_period", Part::Later, "", "health_check_period of this node."},
    {"health_check_user", Part::Later, "", "health_check_user of this node."},
    {"health_check_password", Part::Later, "", "health_check_password of this node."},
    {"health_check_database", Part::Later, "", "health_check_database of this node."},
    {"hostname", Part::Later, "", "Host of a pgweir of the watchdog."},
    {"wd_port", Part::Later, "9000", "Port of its watchdog."},
    {"pgpool_port", Part::Later, "9999", "Its port for clients."},
    {"heartbeat_hostname", Part::Later, "", "Address to which its heartbeats are sent."},
    {"heartbeat_port", Part::Later, "9694", "Port to which its heartbeats are sent."},
    {"heartbeat_device", Part::Later, "", "Network interface for its heartbeats."}};

const NumberedParameter* find_numbered(std::string_view base) {
  const auto* it = std::find_if(std::begin(kNumbered), std::end(kNumbered),
                                [&](const NumberedParameter& numbered) { return numbered.name == base; });
  return it == std::end(kNumbered) ? nullptr : it;
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

std::span<const NumberedParameter> numbered_parameters() { return kNumbered; }

bool Indexed::is_indexed(std::string_view name) {
  const auto [base, id] = split(name);
  return id >= 0 && find_numbered(base) != nullptr;
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
  for (const NumberedParameter& numbered : kNumbered) consider(numbered.name, base);
  return best.empty() ? best : fmt::format("{}{}", best, id);
}

Indexed::Outcome Indexed::set(const std::string& name, const std::string& value, std::string& message) {
  const auto [base, id] = split(name);
  const NumberedParameter* numbered = find_numbered(base);
  if (numbered == nullptr) return Outcome::Unknown;
  if (id < 0) {
    message = fmt::format("needs the number of a node at its end, as {}0", base);
    return Outcome::Bad;
  }
  if (id > kMaxNode) {
    message = fmt::format("node numbers go from 0 to {}", kMaxNode);
    return Outcome::Bad;
  }
  switch (numbered->part) {
    case Part::Backend: return set_backend(base, id, value, message);
    case Part::PerNode: return set_override(base, id, value, message);
    case Part::Later: break;
  }
  return value.empty() ? Outcome::Set : Outcome::Later;  // an empty one asks for nothing that is missing
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
    hosts_.insert(id);
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
