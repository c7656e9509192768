// Runs the commands of the admin console: gathers what SHOW needs from all children, writes limits into the ledger.
#pragma once

#include <cstdint>
#include <functional>

#include "child/console.h"
#include "common/admin/console_command.h"
#include "common/admin/console_view.h"
#include "common/base/clock.h"
#include "common/base/event.h"
#include "common/base/result.h"

namespace weir::child {

class Worker;

// What a user may do on the console: admin_users all, stats_users SHOW.
enum class ConsoleAccess : std::uint8_t { None, Stats, Admin };

// The columns that COMMAND answers with; none: a tag alone.
std::vector<admin::Column> command_columns(const admin::ConsoleCommand& command);

class ConsoleRunner {
 public:
  using Done = std::function<void(Result<LocalAnswer>)>;

  explicit ConsoleRunner(Worker& worker);
  ~ConsoleRunner();
  ConsoleRunner(const ConsoleRunner&) = delete;
  ConsoleRunner& operator=(const ConsoleRunner&) = delete;

  // One at a time. DONE is called once, perhaps before this returns, unless the runner is destroyed or abandoned first.
  void run(const admin::ConsoleCommand& command, Done done);
  void abandon();

 private:
  void show(admin::Census& census);
  admin::ConsoleView view(admin::Census& census);
  void try_to_set();
  ledger::Outcome set_limits();
  void finish(Result<LocalAnswer> answer);

  Worker& worker_;
  admin::ConsoleCommand command_;
  Done done_;
  Timer retry_;
  Monotonic give_up_at_{};
};

}  // namespace weir::child
