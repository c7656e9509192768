// Requests of one process to the parent: a bounded single-producer, single-consumer ring; the producer wakes the parent.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace weir::shmem {

struct Request {
  enum class Kind : std::uint32_t { NodeSeen } kind = Kind::NodeSeen;  // a client was served by `node` for the first time
  std::int32_t node = -1;
};

class RequestRing {
 public:
  static constexpr std::size_t kCapacity = 64;

  bool push(Request request) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) >= kCapacity) return false;
    slots_[tail % kCapacity] = request;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }
  std::optional<Request> pop() {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return std::nullopt;
    const Request request = slots_[head % kCapacity];
    head_.store(head + 1, std::memory_order_release);
    return request;
  }

 private:
  std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> tail_{0};
  std::array<Request, kCapacity> slots_{};
};

}  // namespace weir::shmem
