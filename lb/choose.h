// The weighted draw of a node for a balanced exchange or session.
#pragma once

#include "common/shmem/node_view.h"
#include "lb/eligible.h"

namespace weir::lb {

// A node drawn by weight among ALLOWED, which must all be nodes of VIEW. RANDOM_UNIT is uniform in [0, 1). A node of
// weight 0 is never drawn. -1: none has weight; the caller takes the primary.
int choose(const shmem::NodeView& view, const NodeSet& allowed, double random_unit);

}  // namespace weir::lb
