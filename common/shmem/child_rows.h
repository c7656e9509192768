// One row a child: load and counters, atomics that only this child writes. While the slot has no child the parent is
// the writer: it empties the row of a dead one and says which process is starting in it.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/shmem/node_view.h"

namespace weir::shmem {

enum class ChildState : std::uint8_t { Empty, Starting, Running, Draining };
BOOST_DESCRIBE_ENUM(ChildState, Empty, Starting, Running, Draining)

struct ChildRow {
  std::atomic<std::int32_t> pid{0};
  std::atomic<ChildState> state{ChildState::Empty};
  std::atomic<bool> accepting{false};         // listens for clients now: not paused for being busier than the others
  std::atomic<std::int64_t> started_at{0};    // epoch seconds
  std::atomic<std::uint32_t> clients{0};      // connected now
  std::atomic<std::uint64_t> served{0};       // clients since the child started
  std::atomic<std::uint32_t> waiting{0};      // clients that wait for a server connection
  std::atomic<std::uint32_t> session_slots{0};  // rows ever used: those beyond were never touched
  std::atomic<std::uint32_t> backend_slots{0};
  std::atomic<std::uint32_t> busy{0};         // thousandths of the time that it uses a processor
  std::atomic<std::int64_t> busy_at_ms{0};    // when that was measured, by the monotonic clock; 0: never
  std::atomic<std::uint32_t> asleep{0};       // of the clients: kept as snapshots
  std::atomic<std::uint64_t> moved_away{0};   // clients given to another child
  std::atomic<std::uint32_t> restarts{0};     // children that ended in this slot; the parent counts
  std::array<std::atomic<std::uint32_t>, kMaxNodes> connections{};  // to each node: in use by clients, or being opened
  std::array<std::atomic<std::uint32_t>, kMaxNodes> latency{};      // of reads on each node, microseconds, smoothed

  bool running() const { return state.load(std::memory_order_relaxed) == ChildState::Running; }

  // The parent, for a child that is gone. The slots used stay: the rows were touched.
  void reset() {
    pid = 0;
    state = ChildState::Empty;
    accepting = false;
    started_at = 0;
    clients = 0;
    served = 0;
    waiting = 0;
    busy = 0;
    busy_at_ms = 0;
    asleep = 0;
    moved_away = 0;
    for (auto& count : connections) count.store(0, std::memory_order_relaxed);
    for (auto& time : latency) time.store(0, std::memory_order_relaxed);
  }
};

// The other running children, as one of them sees them before it accepts another client.
struct Siblings {
  int running = 0;
  double mean_clients = 0;    // 0 without any
  bool one_has_room = false;  // nobody waits for a server connection there
};

}  // namespace weir::shmem
