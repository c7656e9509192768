// One counter a node that any child adds to and one or more readers compare with what they saw before.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/shmem/node_view.h"

namespace weir::shmem {

class NodeCounters {
 public:
  // Any child; it then wakes the readers.
  void add(int node) { counts_.at(static_cast<std::size_t>(node)).fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t count(int node) const {
    return counts_.at(static_cast<std::size_t>(node)).load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kMaxNodes> counts_{};
};

}  // namespace weir::shmem
