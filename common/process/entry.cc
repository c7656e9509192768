#include "common/process/entry.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace weir::process {

bool enter_child(EventLoop* inherited, pid_t parent) {
  if (inherited != nullptr) EventLoop::abandon_inherited(*inherited);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;
}

}  // namespace weir::process
