// Accepts from the sockets that all children share, while this child is no busier than its siblings on average.
#pragma once

#include <memory>
#include <vector>

#include "common/base/event.h"

namespace weir::child {

class Worker;

class Listener {
 public:
  explicit Listener(Worker& worker);
  void start();
  void stop();
  // The load has changed: perhaps this child may accept again.
  void reconsider();

 private:
  bool may_accept() const;
  void accept_from(std::size_t index);
  void pause();

  Worker& worker_;
  std::vector<std::unique_ptr<FdEvent>> events_;
  Timer retry_;
  bool accepting_ = false;
  bool stopped_ = true;
  bool overdue_ = false;  // was paused for a while: accept one even so, since a sibling may be stuck
};

}  // namespace weir::child
