#include "child/placement.h"

namespace weir::child {

Move choose_move(int me, std::span<const ChildLoad> children) {
  const ChildLoad& mine = children[static_cast<std::size_t>(me)];
  if (!mine.serves) return {};
  // Together with a lower one: its order decides who gives and who takes, so that two never pass clients to and fro.
  for (int slot = 0; slot < me; ++slot) {
    const ChildLoad& other = children[static_cast<std::size_t>(slot)];
    if (other.serves && other.busy + mine.busy <= kFree) return {slot, 1000};
  }
  if (mine.busy < kFull) return {};
  int calmest = -1;
  for (int slot = 0; slot < static_cast<int>(children.size()); ++slot) {
    const ChildLoad& other = children[static_cast<std::size_t>(slot)];
    if (slot == me || !other.serves || other.busy > kCalm) continue;
    if (calmest < 0 || other.busy < children[static_cast<std::size_t>(calmest)].busy) calmest = slot;
  }
  if (calmest < 0) return {};
  const int surplus = (mine.busy - children[static_cast<std::size_t>(calmest)].busy) / 2;
  return {calmest, surplus * 1000 / mine.busy};
}

}  // namespace weir::child
