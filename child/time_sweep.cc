#include "child/time_sweep.h"

#include <algorithm>

#include "child/client_session.h"
#include "child/worker.h"

namespace weir::child {
namespace {

constexpr Milliseconds kPace{333};

}  // namespace

TimeSweep::TimeSweep(Worker& worker) : worker_(worker) {
  timer_.set(worker.loop(), [this] { sweep(); });
}

void TimeSweep::expect(Monotonic at) {
  if (at >= next_) return;
  next_ = at;
  timer_.arm(at - worker_.loop().now());
}

void TimeSweep::sweep() {
  const Monotonic now = worker_.loop().now();
  Monotonic next = worker_.check_sleepers(now);
  for (std::size_t slot = 0; slot < worker_.session_slots(); ++slot) {
    ClientSession* session = worker_.session_at(static_cast<int>(slot));
    if (session != nullptr) next = std::min(next, session->check_times(now));
  }
  next_ = Monotonic::max();
  if (next != Monotonic::max()) expect(std::max(next, now + kPace));
}

}  // namespace weir::child
