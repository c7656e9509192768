// Something that may happen thousands of times a second and is worth one line of the log each second.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "common/base/clock.h"

namespace weir {

class SpacedReports {
 public:
  explicit SpacedReports(std::chrono::milliseconds least) : least_(least) {}

  // It has happened, at NOW. A value: it is time to say so; how often it has happened since that was last the case.
  std::optional<std::uint64_t> happened(Monotonic now) {
    ++count_;
    if (reported_ && now - *reported_ < least_) return std::nullopt;
    reported_ = now;
    return std::exchange(count_, 0);
  }

 private:
  const std::chrono::milliseconds least_;
  std::optional<Monotonic> reported_;
  std::uint64_t count_ = 0;
};

}  // namespace weir
