#include "lb/recent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lb/eligible.h"

namespace weir::lb {

std::int64_t ttl_of_writes(const shmem::NodeView& view, std::span<const shmem::ReplicationDelay> delays,
                           const RecentLimits& limits, std::int64_t now) {
  std::int64_t highest = 0;
  for (int id = 0; id < view.count; ++id) {
    if (!eligible_node(view, id, Candidates::Standbys)) continue;
    const auto index = static_cast<std::size_t>(id);
    const shmem::ReplicationDelay delay = index < delays.size() ? delays[index] : shmem::ReplicationDelay{};
    const bool old = limits.stale_after > 0 && now - delay.measured_at > limits.stale_after;
    if (delay.microseconds < 0 || delay.measured_at <= 0 || old) return std::numeric_limits<std::int64_t>::max();
    highest = std::max(highest, delay.microseconds);
  }
  const double ttl = std::ceil(static_cast<double>(highest) / 1000 * std::max(limits.ttl_factor, 1.0));
  constexpr double kLongest = 1e15;  // far beyond any delay, and exact
  return std::max(kLeastTtl, static_cast<std::int64_t>(std::min(ttl, kLongest)));
}

bool is_recent(const shmem::RecentWrites::Written& written, std::int64_t ttl, const RecentLimits& limits, std::int64_t now) {
  if (now - written.last >= ttl) return false;
  return limits.max_staleness <= 0 || now - written.first < limits.max_staleness;
}

}  // namespace weir::lb
