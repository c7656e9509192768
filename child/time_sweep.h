// Looks at the clients of a child when the time of one of them may be over. One timer for all: nothing is armed or taken down
// when a query begins or ends, and without limits it never fires. At most every 333 ms, as PgBouncer; limits are whole seconds.
#pragma once

#include "common/base/clock.h"
#include "common/base/event.h"

namespace weir::child {

class Worker;

class TimeSweep {
 public:
  explicit TimeSweep(Worker& worker);
  // Looks at everybody at AT, if nothing is due earlier; Monotonic::max(): there is no need to.
  void expect(Monotonic at);

 private:
  void sweep();

  Worker& worker_;
  Timer timer_;
  Monotonic next_ = Monotonic::max();
};

}  // namespace weir::child
