// A value that one process writes and all others read: two copies and an index. Copies are moved as relaxed atomic
// words, so a torn read is seen (the index has moved on) and tried again, a bounded number of times; after that the
// reader keeps its own last good copy. A writer that dies in the middle has scribbled over the copy that nobody reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weir::shmem {

template <typename T>
class Published {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  static constexpr int kTries = 100;

 public:
  // The writer only.
  void publish(const T& value) {
    const std::uint64_t sequence = sequence_.load(std::memory_order_relaxed);
    std::uint64_t words[kWords] = {};
    std::memcpy(words, &value, sizeof(T));
    auto& copy = copies_[(sequence + 1) & 1U];
    // A reader that still looks at this (older) copy must see that it is being written.
    writing_.store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < kWords; ++i) copy[i].store(words[i], std::memory_order_relaxed);
    sequence_.store(sequence + 1, std::memory_order_release);
  }

  // Anybody. True: INTO is the newest value. False (the writer was too quick every time): INTO is untouched.
  bool read(T& into) const {
    std::uint64_t words[kWords];
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t sequence = sequence_.load(std::memory_order_acquire);
      const auto& copy = copies_[sequence & 1U];
      for (std::size_t w = 0; w < kWords; ++w) words[w] = copy[w].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      // The copy read is written again only when writing_ has gone two steps ahead.
      if (writing_.load(std::memory_order_relaxed) > sequence + 1) continue;
      std::memcpy(&into, words, sizeof(T));
      return true;
    }
    return false;
  }

  // The parent, once the writer is dead: the half-written copy counts as never begun.
  void repair() { writing_.store(sequence_.load(std::memory_order_acquire), std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> sequence_{0};
  std::atomic<std::uint64_t> writing_{0};
  std::atomic<std::uint64_t> copies_[2][kWords] = {};
};

}  // namespace weir::shmem
