#include "common/shmem/cancel_mailbox.h"

#include <algorithm>

namespace weir::shmem {

bool CancelMailbox::post(CancelNote note) {
  const RobustLock lock(mutex_);
  if (!lock.held()) return false;
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (count >= kCapacity) return false;
  notes_[count] = note;
  count_.store(count + 1, std::memory_order_release);
  return true;
}

std::vector<CancelNote> CancelMailbox::drain() {
  std::vector<CancelNote> taken;
  if (count_.load(std::memory_order_acquire) == 0) return taken;
  taken.reserve(kCapacity);  // not under the lock
  const RobustLock lock(mutex_);
  if (!lock.held()) return taken;
  const std::size_t count = std::min<std::size_t>(count_.load(std::memory_order_relaxed), kCapacity);
  taken.assign(notes_.begin(), notes_.begin() + static_cast<std::ptrdiff_t>(count));
  count_.store(0, std::memory_order_relaxed);
  return taken;
}

}  // namespace weir::shmem
