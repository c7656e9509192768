#include "child/child_main.h"

#include <csignal>

#include "child/worker.h"
#include "common/base/log.h"

namespace weir::child {

int child_main(process::RoleContext& context) {
  log::set_process_name("child");
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGQUIT, SIG_DFL);
  Worker worker(context);
  return worker.run();
}

}  // namespace weir::child
