// Cancel requests on their way to the child that owns the client: many writers, one reader, under a robust mutex that
// nobody waits for. A full or busy box loses the request, as a network may (a cancel is best effort by its protocol).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/shmem/robust_mutex.h"

namespace weir::shmem {

struct CancelNote {
  std::uint32_t pid = 0;
  std::uint32_t secret = 0;
};

class CancelMailbox {
 public:
  static constexpr std::size_t kCapacity = 256;

  // Any process. False: not taken.
  bool post(CancelNote note);
  // The owner: takes all. Nothing if the box is busy; the poster's wake brings the owner back.
  std::vector<CancelNote> drain();

 private:
  bool lock();

  RobustMutex mutex_;
  std::uint32_t count_ = 0;
  std::array<CancelNote, kCapacity> notes_{};
};

}  // namespace weir::shmem
