#include "common/shmem/node_table.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace weir::shmem {
namespace {

constexpr int kTries = 100;

std::size_t clamp_count(std::int64_t count) {
  return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, kMaxNodes));
}

}  // namespace

void NodeTable::publish(NodeView& view, const std::function<void()>& midway) {
  const std::uint64_t next = epoch_.load(std::memory_order_relaxed) + 1;
  view.epoch = next;
  const std::size_t count = clamp_count(view.count);
  Copy& copy = copies_[next & 1U];
  writing_.store(next, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  copy.count.store(count, std::memory_order_relaxed);
  copy.primary.store(view.primary, std::memory_order_relaxed);
  for (std::size_t id = 0; id < count; ++id) {
    std::uint64_t words[kNodeWords];
    std::memcpy(words, &view.nodes[id], sizeof(Node));
    auto* to = &copy.words[id * kNodeWords];
    for (std::size_t i = 0; i < kNodeWords; ++i) to[i].store(words[i], std::memory_order_relaxed);
    if (id == 0 && midway) midway();
  }
  epoch_.store(next, std::memory_order_release);
}

bool NodeTable::read(NodeView& view, const std::function<void()>& midway) const {
  std::vector<std::uint64_t> words;
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t epoch = epoch_.load(std::memory_order_acquire);
    const Copy& copy = copies_[epoch & 1U];
    const std::size_t count = clamp_count(static_cast<std::int64_t>(copy.count.load(std::memory_order_relaxed)));
    const auto primary = static_cast<std::int32_t>(copy.primary.load(std::memory_order_relaxed));
    words.resize(count * kNodeWords);
    for (std::size_t w = 0; w < words.size(); ++w) {
      words[w] = copy.words[w].load(std::memory_order_relaxed);
      if (w == kNodeWords && midway) midway();
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    // This copy is written again two steps on, not one.
    if (writing_.load(std::memory_order_relaxed) > epoch + 1) continue;
    for (std::size_t id = count; id < clamp_count(view.count); ++id) view.nodes[id] = Node{};
    if (count > 0) std::memcpy(static_cast<void*>(view.nodes.data()), words.data(), count * sizeof(Node));
    view.epoch = epoch;
    view.count = static_cast<std::int32_t>(count);
    view.primary = epoch == 0 ? -1 : primary;
    return true;
  }
  return false;
}

}  // namespace weir::shmem
