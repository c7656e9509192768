// May a standby that is so far behind be read? Pure; delay_threshold and delay_threshold_by_time.
#pragma once

#include <cstdint>

#include "common/shmem/replication_delay.h"

namespace weir::lb {

struct DelayLimit {
  std::int64_t bytes = 0;         // delay_threshold; 0: none
  std::int64_t milliseconds = 0;  // delay_threshold_by_time; 0: none, else the bytes do not count
  std::int64_t stale_after = 0;   // milliseconds: an older measurement is as good as none
  bool prefer_lower = false;      // prefer_lower_delay_standby
  bool set() const { return bytes > 0 || milliseconds > 0; }
  bool by_time() const { return milliseconds > 0; }
};

// Unknown: never measured, too long ago, or the standby could not be compared with the primary.
enum class DelayVerdict { Within, Over, Unknown };

// NOW in milliseconds of the machine's monotonic clock. Within, whatever the delay, if no limit is set.
DelayVerdict judge_delay(const shmem::ReplicationDelay& delay, const DelayLimit& limit, std::int64_t now);

// How far behind in the unit of LIMIT, for comparing two standbys that are Within.
std::int64_t delay_measure(const shmem::ReplicationDelay& delay, const DelayLimit& limit);

}  // namespace weir::lb
