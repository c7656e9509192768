// A process-shared robust mutex: its owner's death is reported to the next one, who repairs what it guards.
#pragma once

#include <pthread.h>

namespace weir::shmem {

class RobustMutex {
 public:
  enum class Outcome { Locked, OwnerDied, Busy };

  RobustMutex();
  RobustMutex(const RobustMutex&) = delete;
  RobustMutex& operator=(const RobustMutex&) = delete;

  // Never waits. OwnerDied: locked, and what it guards may be half changed; it counts as repaired from then on.
  Outcome try_lock();
  void unlock();

 private:
  pthread_mutex_t mutex_;
};

}  // namespace weir::shmem
