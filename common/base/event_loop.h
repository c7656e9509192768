// Owns a libevent event_base; runs deferred work at the end of a turn.
#pragma once

#include <event2/event.h>

#include <functional>
#include <memory>
#include <vector>

#include "common/base/clock.h"

namespace weir {

class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Runs until stop(). Deferred work is done after each turn, so an object that dies inside its own callback can be
  // handed to defer() and is destroyed when no callback of it is on the stack.
  void run();
  void stop() { stopping_ = true; event_base_loopbreak(base_); }
  bool stopping() const { return stopping_; }

  void defer(std::function<void()> work) { deferred_.push_back(std::move(work)); }
  template <typename T>
  void destroy_later(std::unique_ptr<T> object) {
    doomed_.push_back(std::shared_ptr<void>(std::move(object)));
  }

  // The time when something first asked for it in this turn: of the events that are being dealt with.
  Monotonic now() const {
    if (!is_current_) {
      now_ = monotonic_now();
      is_current_ = true;
    }
    return now_;
  }

  event_base* base() { return base_; }

  // For a freshly forked process: forgets the inherited base without disturbing the parent's registrations (both share
  // one epoll instance, so event_reinit comes first).
  static void abandon_inherited(EventLoop& inherited);

 private:
  void run_deferred();

  event_base* base_;
  std::vector<std::function<void()>> deferred_;
  std::vector<std::shared_ptr<void>> doomed_;
  mutable Monotonic now_{};
  mutable bool is_current_ = false;
  bool stopping_ = false;
};

}  // namespace weir
