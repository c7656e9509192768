// Hints of children to health that a node may be in trouble: one counter a node, which health compares with what it saw
// before. A hint starts a check at once; it is never a verdict.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/shmem/node_view.h"

namespace weir::shmem {

class Suspicions {
 public:
  // Any child; it then wakes health.
  void add(int node) { counts_.at(static_cast<std::size_t>(node)).fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t count(int node) const {
    return counts_.at(static_cast<std::size_t>(node)).load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kMaxNodes> counts_{};
};

}  // namespace weir::shmem
