// Forks and watches all processes of pgweir: starts them, replaces what dies, stops them.
//
// A forked child, first or respawned: leaves the inherited event loop alone (event_reinit), resets signals, arms its own
// end with the parent's, closes what is not for it, and runs its role with a RoleContext; no globals are handed over.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/event.h"
#include "common/process/role_context.h"
#include "parent/respawn.h"

namespace weir::parent {

enum class StopMode { None, Smart, Fast, Immediate };

class Supervisor {
 public:
  Supervisor(EventLoop& loop, process::RoleContext& context);
  // All processes of the configuration.
  void start();
  // Takes in who has ended; call it on SIGCHLD.
  void reap();
  void stop(StopMode mode);
  void signal_all(int signal);
  bool all_gone() const;
  // A child that drains keeps its place until its last client has left: another starts beside it, in a spare row.
  void replace_draining();
  // Once a second: health that shows no sign of life is killed, and so replaced.
  void watch_health();
  // Once a second: leases of children that are gone, which could not be taken in at once, and whoever stands still with
  // the ledger in its hands.
  void watch_ledger();
  // As many children accept as there shall be.
  bool ready() const;

 private:
  struct Slot {
    std::string title;
    int child = -1;  // row of a child; -1: health
    pid_t pid = 0;
    Monotonic started{};
    RespawnHistory history;
    std::unique_ptr<Timer> timer;
    bool replaced = false;  // it drains, and another child works in its place
    bool has_leases = false;  // its last process is gone, and what that held is not an orphan yet
  };

  void spawn(Slot& slot);
  void spawn_later(Slot& slot, std::chrono::milliseconds delay);
  bool reclaim(Slot& slot);
  Slot* spare();
  [[noreturn]] void run(const Slot& slot, pid_t parent);
  void ended(Slot& slot, int status);

  EventLoop& loop_;
  process::RoleContext& context_;
  std::vector<std::unique_ptr<Slot>> slots_;  // health, then a slot for each row of a child
  int wanted_children_ = 0;
  std::uint64_t health_beat_ = 0;
  Monotonic health_beat_at_{};
  Timer grace_;  // of a fast stop
  StopMode stopping_ = StopMode::None;
};

}  // namespace weir::parent
