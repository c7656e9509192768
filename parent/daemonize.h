// Detaches from the terminal. The one who started pgweir waits until it is ready, and gets its exit code.
#pragma once

namespace weir::parent {

// In the detached process: the descriptor to report on (one NUL byte: ready; text: why not). In the starter this does
// not return.
int daemonize();

// Standard error goes to /dev/null, so that whoever started pgweir sees the end of it.
void release_standard_error();

}  // namespace weir::parent
