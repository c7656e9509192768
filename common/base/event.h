// RAII events on an EventLoop: descriptor, timer and signal. Callbacks must not throw; what escapes ends the process,
// which the parent then replaces.
#pragma once

#include <event2/event.h>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/event_loop.h"

namespace weir {

// Base of the three kinds: owns one struct event.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    release();
    if (destroyed_ != nullptr) *destroyed_ = true;
  }

  bool assigned() const { return event_ != nullptr; }
  void disarm() {
    if (event_ != nullptr) event_del(event_);
  }
  bool armed() const { return event_ != nullptr && event_pending(event_, EV_READ | EV_WRITE | EV_TIMEOUT | EV_SIGNAL, nullptr) != 0; }
  void release() {
    if (event_ != nullptr) event_free(event_);
    event_ = nullptr;
  }

 protected:
  void assign(EventLoop& loop, int fd, short what, std::function<void(short)> callback) {
    release();
    // A callback may assign its own event anew: the closure that runs must outlive that.
    if (destroyed_ != nullptr) retired_.push_back(std::move(callback_));
    callback_ = std::move(callback);
    event_ = event_new(loop.base(), fd, what, &Event::trampoline, this);
    WEIR_CHECK(event_ != nullptr);
  }
  void add(const timeval* timeout) { WEIR_CHECK(event_add(event_, timeout) == 0); }

 private:
  static void trampoline(int, short what, void* self) noexcept {
    auto* event = static_cast<Event*>(self);
    bool destroyed = false;
    event->destroyed_ = &destroyed;
    event->callback_(what);
    if (destroyed) return;
    event->destroyed_ = nullptr;
    event->retired_.clear();
  }

  event* event_ = nullptr;
  std::function<void(short)> callback_;
  std::vector<std::function<void(short)>> retired_;
  bool* destroyed_ = nullptr;  // set while the callback runs
};

// Calls back whenever the descriptor is ready, until disarmed.
class FdEvent : public Event {
 public:
  void watch_read(EventLoop& loop, int fd, std::function<void()> callback) {
    assign(loop, fd, EV_READ | EV_PERSIST, [cb = std::move(callback)](short) { cb(); });
    add(nullptr);
  }
  // Assigned but not armed: arm() when something waits to be written.
  void watch_write(EventLoop& loop, int fd, std::function<void()> callback) {
    assign(loop, fd, EV_WRITE | EV_PERSIST, [cb = std::move(callback)](short) { cb(); });
  }
  void arm() { add(nullptr); }
};

// One shot; arm again from the callback for a period.
class Timer : public Event {
 public:
  void set(EventLoop& loop, std::function<void()> callback) {
    assign(loop, -1, 0, [cb = std::move(callback)](short) { cb(); });
  }
  template <typename Duration>
  void arm(Duration delay) {
    auto us = std::chrono::duration_cast<std::chrono::microseconds>(delay).count();
    if (us < 0) us = 0;
    timeval tv{};
    tv.tv_sec = static_cast<decltype(tv.tv_sec)>(us / 1000000);
    tv.tv_usec = static_cast<decltype(tv.tv_usec)>(us % 1000000);
    add(&tv);
  }
};

class SignalEvent : public Event {
 public:
  void watch(EventLoop& loop, int signal, std::function<void()> callback) {
    assign(loop, signal, EV_SIGNAL | EV_PERSIST, [cb = std::move(callback)](short) { cb(); });
    add(nullptr);
  }
};

}  // namespace weir
