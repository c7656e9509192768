#include "child/placement.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::child {
namespace {

using Loads = std::vector<ChildLoad>;

ChildLoad busy(int thousandths) { return {true, thousandths}; }
constexpr ChildLoad kGone{false, 0};

struct Case {
  const char* what;
  Loads loads;
  int me;
  Move move;
};

TEST(Placement, WhoIsMovedWhere) {
  const Case cases[] = {
      {"both have time: all to the lower one", {busy(100), busy(200)}, 1, {0, 1000}},
      {"... which keeps its own", {busy(100), busy(200)}, 0, {}},
      {"nothing to do at all", {busy(0), busy(0)}, 1, {0, 1000}},
      {"together they would be too busy", {busy(300), busy(200)}, 1, {}},
      {"the lowest that has time", {busy(500), busy(100), busy(100)}, 2, {1, 1000}},
      {"a child that does not run takes nobody", {kGone, busy(100)}, 1, {}},
      {"one that ends gives nobody by itself", {busy(0), kGone}, 1, {}},
      {"full: half of the difference to the calmest", {busy(1000), busy(400), busy(0)}, 0, {2, 500}},
      {"... also to a lower one", {busy(300), busy(900)}, 1, {0, 333}},
      {"full, and so are all others", {busy(1000), busy(600)}, 0, {}},
      {"busy but not full", {busy(799), busy(0)}, 0, {}},
      {"alone", {busy(1000)}, 0, {}},
  };
  for (const Case& one : cases) EXPECT_EQ(choose_move(one.me, one.loads), one.move) << one.what;
}

// What a move leads to never asks for the move back.
TEST(Placement, NobodyIsMovedToAndFro) {
  for (int a = 0; a <= 1000; a += 25) {
    for (int b = 0; b <= 1000; b += 25) {
      Loads loads{busy(a), busy(b)};
      for (int me = 0; me < 2; ++me) {
        const Move move = choose_move(me, loads);
        if (move.to < 0) continue;
        Loads after = loads;
        const int moved = loads[static_cast<std::size_t>(me)].busy * move.thousandths / 1000;
        after[static_cast<std::size_t>(me)].busy -= moved;
        after[static_cast<std::size_t>(move.to)].busy += moved;
        EXPECT_NE(choose_move(move.to, after).to, me) << a << " " << b;
        EXPECT_LE(after[static_cast<std::size_t>(move.to)].busy, kFull);
      }
    }
  }
}

}  // namespace
}  // namespace weir::child
