// The weighted draw of a node for a balanced exchange or session.
#pragma once

#include "common/shmem/node_view.h"
#include "lb/eligible.h"
#include "lb/policy.h"

namespace weir::lb {

// A node drawn by weight among the eligible ones (the primary with its own weight included) that are not in EXCLUDED.
// RANDOM_UNIT is uniform in [0, 1). A node of weight 0 is never drawn. -1: none has weight; the caller takes the
// primary.
int choose(const shmem::NodeView& view, const Policy& policy, double random_unit,
           Candidates candidates = Candidates::Readable, const NodeSet& excluded = {});

}  // namespace weir::lb
