#include "common/admin/show_text.h"

#include <fmt/format.h>

#include <ctime>

namespace weir::admin {

namespace {

std::string formatted(std::int64_t epoch_seconds, const char* format) {
  if (epoch_seconds == 0) return {};
  const std::time_t time = epoch_seconds;
  std::tm local{};
  if (localtime_r(&time, &local) == nullptr) return {};
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

}  // namespace

std::string time_text(std::int64_t epoch_seconds) { return formatted(epoch_seconds, "%Y-%m-%d %H:%M:%S"); }

std::string zoned_time_text(std::int64_t epoch_seconds) { return formatted(epoch_seconds, "%Y-%m-%d %H:%M:%S %Z"); }

std::string_view status_text(const shmem::Node& node) {
  if (node.status == shmem::NodeStatus::Unused) return "unused";
  if (node.status == shmem::NodeStatus::Down || node.admin == shmem::NodeAdmin::Detached) return "down";
  return node.seen_connected ? "up" : "waiting";
}

std::string delay_text(const shmem::ReplicationDelay& delay, DelayUnit unit) {
  const std::int64_t value = unit == DelayUnit::Time ? delay.microseconds : delay.bytes;
  if (delay.measured_at == 0 || value < 0) return "unknown";
  if (unit == DelayUnit::Bytes) return std::to_string(value);
  return fmt::format("{}.{:06} {}", value / 1'000'000, value % 1'000'000, value >= 2'000'000 ? "seconds" : "second");
}

std::string_view role_text(const shmem::NodeView& nodes, int id, bool streaming) {
  const auto role = nodes.nodes[static_cast<std::size_t>(id)].role;
  const bool first = nodes.primary >= 0 ? id == nodes.primary : role == shmem::NodeRole::Primary;
  if (streaming) return first ? "primary" : "standby";
  return first ? "main" : "replica";
}

std::string weight_text(double weight, double total) { return fmt::format("{:.6f}", total > 0 ? weight / total : 0.0); }

}  // namespace weir::admin
