// How far a standby is behind the primary, as measured last. Written by health alone (see observations.h).
#pragma once

#include <cstdint>

namespace weir::shmem {

struct ReplicationDelay {
  std::int64_t bytes = -1;         // of WAL that it has not replayed, -1: not known
  std::int64_t microseconds = -1;  // since the oldest WAL that it has not replayed was written; 0: it has all; -1: not known
  std::int64_t measured_at = 0;    // milliseconds of the machine's monotonic clock, 0: never
};

}  // namespace weir::shmem
