// The node table in shared memory: written by the parent alone, read by everybody. A reader asks epoch() (one load) and
// reads only when that has moved. Two copies of the whole, so that a reader sees all nodes as they were at one moment.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "common/shmem/node_view.h"

namespace weir::shmem {

class NodeTable {
 public:
  // Parent only. VIEW.epoch is set to the new epoch. MIDWAY runs when part of it is written, for tests.
  void publish(NodeView& view, const std::function<void()>& midway = {});

  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // True: VIEW is the newest. False: the parent was too quick every time; VIEW is untouched, so still the last good
  // one, and its epoch tells that it is old. Copies only the slots in use; allocates, so it is for changes and not for
  // each query.
  bool read(NodeView& view, const std::function<void()>& midway = {}) const;

 private:
  static_assert(sizeof(Node) % 8 == 0 && alignof(Node) == 8);
  static constexpr std::size_t kNodeWords = sizeof(Node) / 8;
  struct Copy {
    std::atomic<std::uint64_t> count;
    std::atomic<std::int64_t> primary;
    std::array<std::atomic<std::uint64_t>, kNodeWords * kMaxNodes> words;
  };

  std::atomic<std::uint64_t> epoch_{0};    // of the newest whole copy; its lowest bit says which
  std::atomic<std::uint64_t> writing_{0};  // epoch_, or one more while that is being written
  std::array<Copy, 2> copies_{};
};

}  // namespace weir::shmem
