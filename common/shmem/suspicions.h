// Hints of children to health that a node may be in trouble. A hint starts a check at once; it is never a verdict.
#pragma once

#include "common/shmem/node_counters.h"

namespace weir::shmem {

using Suspicions = NodeCounters;

}  // namespace weir::shmem
