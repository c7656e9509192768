// A value that one process writes and all others read: two copies and an index. Both are moved as relaxed atomic words.
// A reader whose copy was written again meanwhile notices it and tries once more, a bounded number of times; then it
// keeps what it read last. A writer that dies in the middle leaves a scribbled copy that nobody looks at: readers go on
// with the one before, at no cost.
//
// Memory of all zeros is a valid Published that holds a T of all zeros, so that a big table of rows need not be touched
// before it is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weir::shmem {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "shared memory needs atomics without locks");

template <typename T>
class Published {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  static constexpr int kTries = 100;
  struct Nothing {
    void operator()() const {}
  };

 public:
  // The writer only. MIDWAY runs when half of the value is written: for tests, which kill or pause the writer there.
  template <typename Midway = Nothing>
  void publish(const T& value, Midway midway = {}) {
    std::uint64_t words[kWords];
    words[kWords - 1] = 0;
    std::memcpy(words, &value, sizeof(T));
    const std::uint64_t next = sequence_.load(std::memory_order_relaxed) + 1;
    auto& copy = copies_[next & 1U];
    // Readers that still look at this older copy must learn that it is being written, before the first word changes.
    writing_.store(next, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < kWords / 2; ++i) copy[i].store(words[i], std::memory_order_relaxed);
    midway();
    for (std::size_t i = kWords / 2; i < kWords; ++i) copy[i].store(words[i], std::memory_order_relaxed);
    sequence_.store(next, std::memory_order_release);
  }

  // Anybody. True: INTO is the newest value. False: the writer was too quick every time, INTO is untouched and so still
  // the caller's last good copy.
  // MIDWAY as above, of the reader.
  template <typename Midway = Nothing>
  bool read(T& into, Midway midway = {}) const {
    std::uint64_t words[kWords];
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t sequence = sequence_.load(std::memory_order_acquire);
      const auto& copy = copies_[sequence & 1U];
      for (std::size_t w = 0; w < kWords / 2; ++w) words[w] = copy[w].load(std::memory_order_relaxed);
      midway();
      for (std::size_t w = kWords / 2; w < kWords; ++w) words[w] = copy[w].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      // This copy is written again two steps on, not one.
      if (writing_.load(std::memory_order_relaxed) > sequence + 1) continue;
      std::memcpy(static_cast<void*>(&into), words, sizeof(T));
      return true;
    }
    return false;
  }

  // The parent, once the writer is dead: publishes the last good value again, over what the dead one may have begun.
  // `writing_` must never go back: a slow reader of that very copy would take it for whole.
  void repair() {
    T last;
    if (read(last)) publish(last);
  }

 private:
  std::atomic<std::uint64_t> sequence_{0};  // of the newest whole value; its lowest bit says which copy
  std::atomic<std::uint64_t> writing_{0};   // sequence_, or one more while that is being written
  std::atomic<std::uint64_t> copies_[2][kWords] = {};
};

}  // namespace weir::shmem
