#include "common/shmem/report_desk.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace weir::shmem {
namespace {

constexpr int kTries = 20;
constexpr auto kRelaxed = std::memory_order_relaxed;

std::size_t words_for(std::size_t bytes) { return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t); }

// The next odd number: also behind a writer that died while it was writing.
std::uint64_t begin_version(std::atomic<std::uint64_t>& version) {
  const std::uint64_t writing = (version.load(kRelaxed) + 1) | 1U;
  version.store(writing, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);
  return writing;
}

}  // namespace

void ReportDesk::wish(std::uint64_t number, std::uint32_t wanted) {
  head_.wanted.store(wanted, kRelaxed);
  head_.wish.store(number, std::memory_order_release);
}

ReportDesk::Wish ReportDesk::wish() const {
  Wish wish;
  wish.number = head_.wish.load(std::memory_order_acquire);
  wish.wanted = head_.wanted.load(kRelaxed);
  return wish;
}

bool ReportDesk::publish(std::uint32_t holds, Bytes text) {
  const std::uint64_t writing = begin_version(head_.version);
  const bool fits = text.size() <= words_.size_bytes();
  const std::size_t size = fits ? text.size() : 0;
  for (std::size_t i = 0; i < words_for(size); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i * sizeof word, std::min(sizeof word, size - i * sizeof word));
    words_[i].store(word, kRelaxed);
  }
  head_.size.store(size, kRelaxed);
  head_.holds.store(fits ? holds : 0, kRelaxed);
  head_.version.store(writing + 1, std::memory_order_release);
  return fits;
}

void ReportDesk::forget() {
  const std::uint64_t writing = begin_version(head_.version);
  const std::size_t size = head_.size.load(kRelaxed);
  head_.size.store(0, kRelaxed);
  head_.holds.store(0, kRelaxed);
  if (size > 0) ::madvise(words_.data(), words_.size_bytes(), MADV_REMOVE);
  head_.version.store(writing + 1, std::memory_order_release);
}

bool ReportDesk::read(std::string& text, std::uint32_t& holds) const {
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t version = head_.version.load(std::memory_order_acquire);
    if ((version & 1U) != 0) continue;
    const std::size_t size = std::min<std::size_t>(head_.size.load(kRelaxed), words_.size_bytes());
    holds = head_.holds.load(kRelaxed);
    text.resize(words_for(size) * sizeof(std::uint64_t));
    for (std::size_t w = 0; w < words_for(size); ++w) {
      const std::uint64_t word = words_[w].load(kRelaxed);
      std::memcpy(text.data() + w * sizeof word, &word, sizeof word);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (head_.version.load(kRelaxed) != version) continue;
    text.resize(size);
    return true;
  }
  return false;
}

}  // namespace weir::shmem
