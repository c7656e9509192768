#include "common/shmem/robust_mutex.h"

#include <cerrno>

#include "common/base/check.h"

namespace weir::shmem {

RobustMutex::RobustMutex() {
  pthread_mutexattr_t attributes;
  WEIR_CHECK(pthread_mutexattr_init(&attributes) == 0);
  WEIR_CHECK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
  WEIR_CHECK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
  WEIR_CHECK(pthread_mutex_init(&mutex_, &attributes) == 0);
  pthread_mutexattr_destroy(&attributes);
}

RobustMutex::Outcome RobustMutex::try_lock() {
  const int result = pthread_mutex_trylock(&mutex_);
  if (result == 0) return Outcome::Locked;
  if (result == EOWNERDEAD) {
    WEIR_CHECK(pthread_mutex_consistent(&mutex_) == 0);
    return Outcome::OwnerDied;
  }
  return Outcome::Busy;
}

RobustLock::RobustLock(RobustMutex& mutex, int tries) : mutex_(mutex) {
  for (int i = 0; i < tries && !held(); ++i) outcome_ = mutex_.try_lock();
}

void RobustMutex::unlock() { WEIR_CHECK(pthread_mutex_unlock(&mutex_) == 0); }

}  // namespace weir::shmem
