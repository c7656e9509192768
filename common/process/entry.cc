#include "common/process/entry.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace weir::process {

bool enter_child(EventLoop* inherited, pid_t parent) {
  if (inherited != nullptr) EventLoop::abandon_inherited(*inherited);
  for (int signal : {SIGINT, SIGQUIT, SIGTERM, SIGCHLD, SIGPIPE}) std::signal(signal, SIG_DFL);
  // What people send to the parent, or to the whole process group, ends no role that has no use for it.
  for (int signal : {SIGHUP, SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent;
}

}  // namespace weir::process
