// How many connections of a node are other programs': what pgweir cannot have. From what the server shows, less what the
// ledger holds there. The two are not of one moment, so the least of a few looks counts: pgweir's own connections, which come and
// go, must never narrow its own ceiling.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::health {

class Others {
 public:
  static constexpr std::size_t kLooks = 3;

  // CLIENTS of the server (-1: not told), of which LEASED are pgweir's by its own account.
  void saw(std::int32_t clients, std::int32_t leased) {
    if (clients < 0) return;
    looks_[next_++ % kLooks] = std::max(clients - std::max(leased, 0), 0);
  }
  // 0 until there were enough looks.
  std::int32_t count() const { return next_ < kLooks ? 0 : *std::min_element(looks_.begin(), looks_.end()); }

 private:
  std::array<std::int32_t, kLooks> looks_{};
  std::size_t next_ = 0;
};

}  // namespace weir::health
