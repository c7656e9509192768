#include "common/shmem/cancel_mailbox.h"

namespace weir::shmem {

bool CancelMailbox::lock() {
  // Held for a few instructions only: a handful of tries is plenty.
  for (int i = 0; i < 1000; ++i) {
    switch (mutex_.try_lock()) {
      case RobustMutex::Outcome::Locked: return true;
      case RobustMutex::Outcome::OwnerDied:
        count_ = 0;  // what the dead one was writing is not to be trusted
        return true;
      case RobustMutex::Outcome::Busy: break;
    }
  }
  return false;
}

bool CancelMailbox::post(CancelNote note) {
  if (!lock()) return false;
  const bool room = count_ < kCapacity;
  if (room) notes_[count_++] = note;
  mutex_.unlock();
  return room;
}

std::vector<CancelNote> CancelMailbox::drain() {
  std::vector<CancelNote> taken;
  if (!lock()) return taken;
  const std::size_t count = count_ < kCapacity ? count_ : kCapacity;
  taken.assign(notes_.begin(), notes_.begin() + static_cast<std::ptrdiff_t>(count));
  count_ = 0;
  mutex_.unlock();
  return taken;
}

}  // namespace weir::shmem
