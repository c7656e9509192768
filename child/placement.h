// Which child serves which clients. Processes that are hardly busy cost more than one that is: each is woken for less work, and
// shares nothing that is warm. So clients of pooling by transaction are served by as few children as are not busy, the lowest
// slots first, and spread over more when those are. Pure: loads in, advice out.
#pragma once

#include <cstdint>
#include <span>

namespace weir::child {

// Of the time in thousandths, as every child measures its own over about a second.
inline constexpr int kFree = 450;  // two children that are together no busier become one
inline constexpr int kFull = 800;  // one that is busier gives clients away
inline constexpr int kCalm = 500;  // ... to one that is no busier than that

struct ChildLoad {
  bool serves = false;  // runs, has room for clients, and has lately said how busy it is
  int busy = 0;         // thousandths
};

struct Move {
  int to = -1;          // slot; -1: nobody is moved
  int thousandths = 0;  // of the clients that are active
  bool operator==(const Move&) const = default;
};

// Whom of its clients the child ME should give away.
Move choose_move(int me, std::span<const ChildLoad> children);

}  // namespace weir::child
