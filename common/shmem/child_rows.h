// One row a child: load and counters, atomics that only this child writes (the parent resets the row of a dead one).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "common/shmem/node_view.h"

namespace weir::shmem {

enum class ChildState : std::uint8_t { Empty, Starting, Running, Draining };

struct ChildRow {
  std::atomic<std::int32_t> pid{0};
  std::atomic<ChildState> state{ChildState::Empty};
  std::atomic<std::int64_t> started_at{0};    // epoch seconds
  std::atomic<std::uint32_t> clients{0};      // connected now
  std::atomic<std::uint64_t> served{0};       // clients since the child started
  std::atomic<std::uint32_t> waiting{0};      // clients that wait for a server connection
  std::atomic<std::uint32_t> session_slots{0};  // rows ever used: those beyond were never touched
  std::atomic<std::uint32_t> backend_slots{0};

  // The parent, for a child that is gone.
  void reset() {
    pid = 0;
    state = ChildState::Empty;
    started_at = 0;
    clients = 0;
    served = 0;
    waiting = 0;
  }
};

// SELECTs sent to each node since pgweir started; added to by all children.
struct NodeCounters {
  std::array<std::atomic<std::uint64_t>, kMaxNodes> selects{};
};

}  // namespace weir::shmem
