#include "parent/pid_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "common/base/sqlstate.h"
#include "common/base/unique_fd.h"

namespace weir::parent {

pid_t running_pid(const std::string& file, bool remove_stale) {
  std::ifstream in(file);
  long pid = 0;
  if (!in) return 0;
  const bool number = static_cast<bool>(in >> pid) && pid > 0 && pid < (1L << 30);
  if (number && pid != getpid() && (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM)) {
    // Another program may have got the number since.
    std::ifstream comm(fmt::format("/proc/{}/cmdline", pid));
    std::string command;
    std::getline(comm, command);
    if (command.empty() || command.find("pgweir") != std::string::npos || command.find("pgpool") != std::string::npos) return static_cast<pid_t>(pid);
  }
  if (remove_stale) ::unlink(file.c_str());
  return 0;
}

Status pid_file_possible(const std::string& file) {
  const std::string scratch = file + ".new";
  const UniqueFd fd(::open(scratch.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) {
    return fail(make_fatal(sqlstate::kInternalError, fmt::format("cannot write the pid file \"{}\": {}", file, std::strerror(errno)), {},
                           "Set pid_file_name to a place where pgweir may write."));
  }
  ::unlink(scratch.c_str());
  return {};
}

Status write_pid_file(const std::string& file, pid_t pid) {
  const std::string scratch = file + ".new";
  UniqueFd fd(::open(scratch.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const std::string text = fmt::format("{}\n", pid);
  const bool written = fd.valid() && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || ::rename(scratch.c_str(), file.c_str()) != 0) {
    return fail(make_fatal(sqlstate::kInternalError, fmt::format("cannot write the pid file \"{}\": {}", file, std::strerror(errno)), {},
                           "Set pid_file_name to a place where pgweir may write."));
  }
  return {};
}

}  // namespace weir::parent
