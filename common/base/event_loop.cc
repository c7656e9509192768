#include "common/base/event_loop.h"

#include "common/base/check.h"

namespace weir {

EventLoop::EventLoop() : base_(event_base_new()) { WEIR_CHECK(base_ != nullptr); }

EventLoop::~EventLoop() {
  run_deferred();
  if (base_ != nullptr) event_base_free(base_);
}

void EventLoop::run() {
  while (!stopping_) {
    const bool pending = !deferred_.empty() || !doomed_.empty();
    is_current_ = false;
    const int result = event_base_loop(base_, EVLOOP_ONCE | (pending ? EVLOOP_NONBLOCK : 0));
    run_deferred();
    if (result != 0 && deferred_.empty() && doomed_.empty()) break;  // nothing registered any more
  }
}

void EventLoop::run_deferred() {
  for (int round = 0; round < 64 && (!deferred_.empty() || !doomed_.empty()); ++round) {
    auto work = std::move(deferred_);
    deferred_.clear();
    for (auto& item : work) item();
    auto doomed = std::move(doomed_);
    doomed_.clear();
    doomed.clear();
  }
}

void EventLoop::abandon_inherited(EventLoop& inherited) {
  WEIR_CHECK(event_reinit(inherited.base_) == 0);
  event_base_free(inherited.base_);  // its signals would otherwise stand in the way of the new loop's
  inherited.base_ = nullptr;
}

}  // namespace weir
