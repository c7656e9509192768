// Accepts from the sockets that all children share, while this child is no busier than its siblings on average.
#pragma once

#include <memory>
#include <vector>

#include "common/base/event.h"
#include "common/base/spaced_reports.h"

namespace weir::child {

class Worker;

class Listener {
 public:
  explicit Listener(Worker& worker);
  void start();
  // For good: this process closes its copies of the sockets.
  void stop();
  // The load has changed: perhaps this child may accept again.
  void reconsider();

 private:
  bool may_accept() const;
  void accept_from(std::size_t index);
  void pause(Milliseconds time);
  // The system has no descriptor or memory left for another client.
  void exhausted(int error);

  Worker& worker_;
  std::vector<std::unique_ptr<FdEvent>> events_;
  Timer retry_;
  SpacedReports failures_{std::chrono::seconds(1)};
  bool accepting_ = false;
  bool stopped_ = true;
  bool overdue_ = false;  // was paused for a while: accept one even so, since a sibling may be stuck
};

}  // namespace weir::child
