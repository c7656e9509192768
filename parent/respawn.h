// When a process that has ended is started again. Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace weir::parent {

struct RespawnHistory {
  int quick_deaths = 0;  // in a row, each within a second of its start
};

// The first death is made good at once; one that dies right at its start again and again is given time.
inline std::chrono::milliseconds respawn_delay(RespawnHistory& history, std::chrono::milliseconds lived) {
  if (lived >= std::chrono::seconds(1)) {
    history.quick_deaths = 0;
    return std::chrono::milliseconds(0);
  }
  const int deaths = history.quick_deaths++;
  if (deaths == 0) return std::chrono::milliseconds(0);
  return std::min(std::chrono::milliseconds(100) * (1 << std::min(deaths - 1, 7)), std::chrono::milliseconds(10000));
}

}  // namespace weir::parent
