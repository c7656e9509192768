// What every forked process does first.
#pragma once

#include <sys/types.h>

#include "common/base/event_loop.h"

namespace weir::process {

// In the child of a fork: leaves the parent's event loop alone, resets signals (SIGHUP, SIGUSR1 and SIGUSR2 are ignored
// until the role watches them), and makes sure that this process ends when the parent does (however that ends). False:
// the parent is gone already.
bool enter_child(EventLoop* inherited, pid_t parent);

}  // namespace weir::process
