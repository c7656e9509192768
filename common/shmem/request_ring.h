// Requests of one process to the parent: a bounded ring with a single producer and a single consumer. The producer
// wakes the parent. A producer that dies between its steps leaves a sound ring: a request counts once it is whole.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weir::shmem {

struct Request {
  enum class Kind : std::uint32_t {
    NodeSeen,  // a client was served by `node` for the first time
    Attach,
    Detach,
    Promote,
  } kind = Kind::NodeSeen;
  std::int32_t node = -1;
};

class RequestRing {
 public:
  static constexpr std::size_t kCapacity = 64;

  // The producer. False: full, nothing was added; try again when the parent had its turn.
  bool push(Request request) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) >= kCapacity) return false;
    slots_[tail % kCapacity] = request;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // The parent. Nothing: empty. The parent judges what it gets; it trusts no request.
  std::optional<Request> pop() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    if (head == tail) return std::nullopt;
    if (tail - head > kCapacity) {  // no producer of ours does that: its memory went wrong before it died
      head_.store(tail, std::memory_order_release);
      return std::nullopt;
    }
    const Request request = slots_[head % kCapacity];
    head_.store(head + 1, std::memory_order_release);
    return request;
  }

 private:
  friend struct RequestRingTest;

  // Apart, as each side writes its own and looks at the other's.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::array<Request, kCapacity> slots_{};
};

}  // namespace weir::shmem
