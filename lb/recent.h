// How long a table that was written is read on the primary: dml_adaptive_global. Pure; milliseconds.
#pragma once

#include <cstdint>
#include <span>

#include "common/shmem/node_view.h"
#include "common/shmem/recent_writes.h"
#include "common/shmem/replication_delay.h"

namespace weir::lb {

struct RecentLimits {
  double ttl_factor = 5;               // track_table_mutation_ttl_factor
  std::int64_t max_staleness = 60000;  // track_table_mutation_max_staleness, 0: no limit
  std::int64_t cold_start = 2000;      // track_table_mutation_cold_start_duration
  std::int64_t stale_after = 0;        // an older measurement of a delay is as good as none; 0: none is
};

// Nothing is read elsewhere sooner than this after a write.
inline constexpr std::int64_t kLeastTtl = 100;

// The highest delay of the standbys that may be read, so many times. While one of them is not known: for ever, and only
// max_staleness ends it.
std::int64_t ttl_of_writes(const shmem::NodeView& view, std::span<const shmem::ReplicationDelay> delays,
                           const RecentLimits& limits, std::int64_t now);

// Is a table that was written like this still read on the primary?
bool is_recent(const shmem::RecentWrites::Written& written, std::int64_t ttl, const RecentLimits& limits, std::int64_t now);

}  // namespace weir::lb
