// Monotonic and wall-clock time as the two values that decisions are given; only the edge of the program reads a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace weir {

using Monotonic = std::chrono::steady_clock::time_point;
using Wall = std::chrono::system_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

inline Monotonic monotonic_now() { return std::chrono::steady_clock::now(); }
inline Wall wall_now() { return std::chrono::system_clock::now(); }

// Milliseconds and microseconds of the monotonic clock, which all processes of a machine share: as shared memory carries
// moments. Never 0.
inline std::int64_t monotonic_milliseconds(Monotonic time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
inline std::int64_t monotonic_microseconds(Monotonic time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

// Seconds since 1970 as shared memory and PCP carry them; 0 means "never".
inline std::int64_t epoch_seconds(Wall time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace weir
