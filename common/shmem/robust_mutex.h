// A process-shared robust mutex that nobody waits for: its owner's death is reported to the next one, who repairs what
// it guards.
#pragma once

#include <pthread.h>

namespace weir::shmem {

class RobustMutex {
 public:
  // OwnerDied: locked, and what it guards may be half changed. Should the new owner die as well before it unlocks, the
  // next one is told the same.
  enum class Outcome { Locked, OwnerDied, Busy };

  RobustMutex();
  RobustMutex(const RobustMutex&) = delete;
  RobustMutex& operator=(const RobustMutex&) = delete;

  // Never waits.
  Outcome try_lock();
  // The owner only.
  void unlock();

 private:
  pthread_mutex_t mutex_;
};

// Locks for the length of a scope, with a bounded number of tries: what such a mutex guards takes some instructions.
class RobustLock {
 public:
  explicit RobustLock(RobustMutex& mutex, int tries = 1000);
  ~RobustLock() {
    if (held()) mutex_.unlock();
  }
  RobustLock(const RobustLock&) = delete;
  RobustLock& operator=(const RobustLock&) = delete;

  bool held() const { return outcome_ != RobustMutex::Outcome::Busy; }
  bool owner_died() const { return outcome_ == RobustMutex::Outcome::OwnerDied; }

 private:
  RobustMutex& mutex_;
  RobustMutex::Outcome outcome_ = RobustMutex::Outcome::Busy;
};

}  // namespace weir::shmem
