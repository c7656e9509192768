// What this child has at hand, for the console: its clients, its server connections, and their sums by pool.
#pragma once

#include <cstdint>

#include "common/admin/census.h"

namespace weir::child {

class Worker;

// Adds what WANTED (bits of admin::Asked) names to INTO.
void take_census(Worker& worker, std::uint32_t wanted, admin::Census& into);

}  // namespace weir::child
