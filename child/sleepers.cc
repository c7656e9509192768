#include "child/sleepers.h"

#include <sys/epoll.h>

#include <array>
#include <utility>

#include "common/base/check.h"

namespace weir::child {
namespace {

// At one turn of the loop; the others are told of at the next one.
constexpr int kAtOnce = 64;

}  // namespace

Sleepers::Sleepers(EventLoop& loop, OnAwake on_awake) : on_awake_(std::move(on_awake)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_.valid()) event_.watch_read(loop, epoll_.get(), [this] { look(); });
}

bool Sleepers::add(int slot, Asleep& asleep) {
  WEIR_CHECK(slot >= 0 && asleep.valid() && !has(slot));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u32 = static_cast<std::uint32_t>(slot);
  if (!epoll_.valid() || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, asleep.socket.get(), &event) != 0) return false;
  if (slots_.size() <= static_cast<std::size_t>(slot)) slots_.resize(static_cast<std::size_t>(slot) + 1);
  slots_[static_cast<std::size_t>(slot)] = std::move(asleep);
  ++count_;
  return true;
}

Sleepers::Asleep Sleepers::take(int slot) {
  if (!has(slot)) return {};
  Asleep asleep = std::exchange(slots_[static_cast<std::size_t>(slot)], {});
  --count_;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, asleep.socket.get(), nullptr);
  return asleep;
}

void Sleepers::look() {
  std::array<epoll_event, kAtOnce> events;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), kAtOnce, 0);
  for (int i = 0; i < ready; ++i) on_awake_(static_cast<int>(events[static_cast<std::size_t>(i)].data.u32));
}

}  // namespace weir::child
