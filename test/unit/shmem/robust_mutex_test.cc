#include "common/shmem/robust_mutex.h"

#include <gtest/gtest.h>

#include <atomic>

#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {
namespace {

using Outcome = RobustMutex::Outcome;
using SharedMutex = Shared<RobustMutex>;

TEST(RobustMutex, locks_and_unlocks) {
  const SharedMutex mutex(SharedMutex::Start::Construct);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(mutex->try_lock(), Outcome::Locked);
    mutex->unlock();
  }
}

TEST(RobustMutex, does_not_wait_for_a_living_owner) {
  const SharedMutex mutex(SharedMutex::Start::Construct);
  const Shared<std::atomic<int>> step;
  Fork owner([&] {
    if (mutex->try_lock() != Outcome::Locked) _exit(1);
    *step = 1;
    while (*step != 2) usleep(1000);
    mutex->unlock();
  });
  while (*step != 1) usleep(1000);
  EXPECT_EQ(mutex->try_lock(), Outcome::Busy);
  {
    const RobustLock lock(*mutex);
    EXPECT_FALSE(lock.held());
  }
  *step = 2;
  EXPECT_TRUE(owner.ended_well());
  const RobustLock lock(*mutex);
  EXPECT_TRUE(lock.held());
  EXPECT_FALSE(lock.owner_died());
}

TEST(RobustMutex, tells_once_that_its_owner_died) {
  const SharedMutex mutex(SharedMutex::Start::Construct);
  Fork owner([&] {
    if (mutex->try_lock() != Outcome::Locked) _exit(1);
    die();
  });
  ASSERT_TRUE(owner.was_killed());
  {
    const RobustLock lock(*mutex);
    EXPECT_TRUE(lock.held());
    EXPECT_TRUE(lock.owner_died());
  }
  EXPECT_EQ(mutex->try_lock(), Outcome::Locked);
  mutex->unlock();
}

TEST(RobustMutex, tells_again_when_the_one_who_repairs_dies_too) {
  const SharedMutex mutex(SharedMutex::Start::Construct);
  Fork first([&] {
    if (mutex->try_lock() != Outcome::Locked) _exit(1);
    die();
  });
  ASSERT_TRUE(first.was_killed());
  Fork second([&] {
    if (mutex->try_lock() != Outcome::OwnerDied) _exit(1);
    die();
  });
  ASSERT_TRUE(second.was_killed());
  EXPECT_EQ(mutex->try_lock(), Outcome::OwnerDied);
  mutex->unlock();
  EXPECT_EQ(mutex->try_lock(), Outcome::Locked);
  mutex->unlock();
}

}  // namespace
}  // namespace weir::shmem
