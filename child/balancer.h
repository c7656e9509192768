// Measures how busy this child is, tells the others, and gives clients away as placement.h advises.
#pragma once

#include <cstdint>
#include <vector>

#include "child/placement.h"
#include "common/base/clock.h"

namespace weir::child {

class Worker;

class Balancer {
 public:
  explicit Balancer(Worker& worker);
  // Often enough: it measures not more often than four times a second.
  void look(Monotonic now);

 private:
  bool measure(Monotonic now);
  void read_loads(Monotonic now);

  Worker& worker_;
  Monotonic measured_at_;
  std::int64_t used_at_then_ns_;  // processor time
  int busy_ = 0;                  // thousandths
  std::size_t most_clients_;      // of one child, so that its descriptors suffice
  std::vector<ChildLoad> loads_;
  Move last_;
  bool giving_ = false;           // some may still be on their way
};

}  // namespace weir::child
