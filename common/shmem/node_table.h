// The node table in shared memory: written by the parent alone, read by everybody. A reader asks epoch() (one load) and
// reads only when that has moved.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "common/shmem/node_view.h"
#include "common/shmem/published.h"

namespace weir::shmem {

class NodeTable {
 public:
  // Parent only. VIEW.epoch is set to the new epoch.
  void publish(NodeView& view) {
    view.epoch = epoch_.load(std::memory_order_relaxed) + 1;
    for (int id = 0; id < view.count; ++id) nodes_[static_cast<std::size_t>(id)].publish(view.nodes[static_cast<std::size_t>(id)]);
    head_.publish({view.epoch, view.count, view.primary});
    epoch_.store(view.epoch, std::memory_order_release);
  }

  std::uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }

  // False: the table changed while it was read, VIEW may be a mixture; read again at the next opportunity (its epoch is
  // then 0, so that a comparison with epoch() finds it old).
  bool read(NodeView& view) const {
    const std::uint64_t before = epoch();
    Head head{};
    if (!head_.read(head)) return false;
    view.epoch = head.epoch;
    view.count = head.count;
    view.primary = head.primary;
    for (int id = 0; id < head.count && id < kMaxNodes; ++id) {
      if (!nodes_[static_cast<std::size_t>(id)].read(view.nodes[static_cast<std::size_t>(id)])) return false;
    }
    if (epoch() == before && head.epoch == before) return true;
    view.epoch = 0;
    return false;
  }

 private:
  struct Head {
    std::uint64_t epoch;
    std::int32_t count;
    std::int32_t primary;
  };
  std::atomic<std::uint64_t> epoch_{0};
  Published<Head> head_;
  std::array<Published<Node>, kMaxNodes> nodes_;
};

}  // namespace weir::shmem
