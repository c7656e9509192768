#include "parent/daemonize.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace weir::parent {

int daemonize() {
  // Nothing of who started us: a lock or a pipe of theirs would be held as long as we live.
  ::closefrom(3);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::exit(1);
  const pid_t pid = ::fork();
  if (pid < 0) {
    std::perror("pgweir: cannot fork");
    std::exit(1);
  }
  if (pid > 0) {
    ::close(ends[1]);
    std::string told;
    char buffer[512];
    ssize_t n = 0;
    while ((n = ::read(ends[0], buffer, sizeof buffer)) > 0) {
      told.append(buffer, static_cast<std::size_t>(n));
      if (told.back() == '\0') _exit(0);
    }
    // Without a word: the reason was written to standard error already.
    if (!told.empty()) std::fprintf(stderr, "pgweir: %s\n", told.c_str());
    _exit(1);
  }
  ::setsid();
  if (::chdir("/") != 0) std::perror("pgweir: cannot change to /");
  const int null = ::open("/dev/null", O_RDWR);
  if (null >= 0) {
    ::dup2(null, 0);
    ::dup2(null, 1);
    if (null > 2) ::close(null);
  }
  ::close(ends[0]);
  return ends[1];
}

void release_standard_error() {
  const int null = ::open("/dev/null", O_WRONLY);
  if (null < 0) return;
  ::dup2(null, 2);
  ::close(null);
}

}  // namespace weir::parent
