#include "parent/control.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "parent/pid_file.h"

namespace weir::parent {

int control(const config::Config& config, const Options& options) {
  const std::string file = config.resolve_path(config.pid_file_name);
  const pid_t pid = running_pid(file, false);
  if (pid == 0) {
    std::fprintf(stderr, "pgweir: no pgweir is running (pid file \"%s\")\n", file.c_str());
    return 1;
  }
  const bool reload = options.action == Options::Action::Reload;
  const int signal = reload ? SIGHUP : options.stop_mode == 's' ? SIGTERM : options.stop_mode == 'f' ? SIGINT : SIGQUIT;
  if (::kill(pid, signal) != 0) {
    std::fprintf(stderr, "pgweir: cannot signal process %d: %s\n", static_cast<int>(pid), std::strerror(errno));
    return 1;
  }
  if (reload) return 0;
  std::printf("stop request sent to pgweir (pid: %d). waiting for termination...", static_cast<int>(pid));
  std::fflush(stdout);
  for (int ticks = 0; ::kill(pid, 0) == 0; ++ticks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (ticks % 10 != 9) continue;
    std::printf(".");
    std::fflush(stdout);
  }
  std::printf("done.\n");
  return 0;
}

}  // namespace weir::parent
