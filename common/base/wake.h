// An eventfd by which one process wakes another. Made before fork; both ends are the same descriptor.
#pragma once

#include "common/base/unique_fd.h"

namespace weir {

class Wake {
 public:
  Wake();  // aborts if the system has no descriptor left
  // Never blocks; many wakes before the other side looks are one.
  void notify() const;
  // Clears the pending wakes: call it first in the read callback.
  void drain() const;
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

}  // namespace weir
