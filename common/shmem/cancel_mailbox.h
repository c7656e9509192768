// Cancel requests on their way to the child that owns the client: many writers, one reader, under a robust mutex that
// nobody waits for. A full or busy box loses the request, as a network may: a cancel is best effort by its protocol.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/shmem/robust_mutex.h"

namespace weir::shmem {

// The key is one of pgweir's own, as the client was told it; the servers' keys stay in their child.
struct CancelNote {
  std::uint32_t pid = 0;
  std::uint32_t secret = 0;
  std::int64_t received_ms = 0;  // by the monotonic clock, which all processes share; 0: not told
  bool passed_on = false;        // by the child in which the client began: it is there no more
};

class CancelMailbox {
 public:
  static constexpr std::size_t kCapacity = 256;

  // Any process; it then wakes the owner. False: not taken.
  bool post(CancelNote note);
  // The owner: takes all, in the order posted. Costs one load if there is none. Nothing if the box is busy: whoever
  // makes it so wakes the owner afterwards.
  std::vector<CancelNote> drain();

 private:
  friend struct CancelMailboxTest;

  RobustMutex mutex_;
  // Grows after the note is written and is set to 0 at once, so that the box is sound wherever its holder dies.
  std::atomic<std::uint32_t> count_{0};
  std::array<CancelNote, kCapacity> notes_{};
};

}  // namespace weir::shmem
