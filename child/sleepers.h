// Clients that are logged in and idle, kept in a few hundred bytes each: the session as a snapshot, and the socket. One
// epoll descriptor of their own tells which of them says something, or goes.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/event.h"
#include "common/base/unique_fd.h"

namespace weir::child {

class Sleepers {
 public:
  // What is needed to have the session again.
  struct Asleep {
    UniqueFd socket;
    std::unique_ptr<char[]> snapshot;
    std::size_t size = 0;
    Monotonic active_at{};  // the client's last sign of life
    Monotonic until = Monotonic::max();  // when its time is over (client_idle_timeout)
    bool valid() const { return socket.valid(); }
    std::string_view bytes() const { return {snapshot.get(), size}; }
  };
  // SLOT has something to read, or its client is gone: take() it.
  using OnAwake = std::function<void(int slot)>;

  Sleepers(EventLoop& loop, OnAwake on_awake);

  // False: it cannot be watched, and the socket comes back with the rest.
  bool add(int slot, Asleep& asleep);
  // Not valid if SLOT is not asleep.
  Asleep take(int slot);
  bool has(int slot) const { return slot >= 0 && static_cast<std::size_t>(slot) < slots_.size() && slots_[static_cast<std::size_t>(slot)].valid(); }
  std::size_t count() const { return count_; }
  // Calls EACH(slot, asleep) for all; it must not add or take.
  template <typename Each>
  void for_each(Each each) const {
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if (slots_[slot].valid()) each(static_cast<int>(slot), slots_[slot]);
    }
  }

 private:
  void look();

  OnAwake on_awake_;
  UniqueFd epoll_;
  FdEvent event_;
  std::vector<Asleep> slots_;
  std::size_t count_ = 0;
};

}  // namespace weir::child
