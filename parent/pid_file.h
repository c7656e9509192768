// The file that names the running parent. Written only when pgweir is ready.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/base/result.h"

namespace weir::parent {

// The pid in FILE if such a process lives; 0: there is no file, or it is stale (and is removed with REMOVE_STALE).
pid_t running_pid(const std::string& file, bool remove_stale);
// An error if FILE could not be written: said before anything is started.
Status pid_file_possible(const std::string& file);
Status write_pid_file(const std::string& file, pid_t pid);

}  // namespace weir::parent
