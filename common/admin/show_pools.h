// SHOW POOL_POOLS. Pure: values in, rows out.
#pragma once

#include <cstdint>
#include <span>

#include "common/admin/rowset.h"
#include "common/admin/show_processes.h"

namespace weir::admin {

// Pgpool-II's columns and no others.
std::vector<Column> pools_columns();

// One row for each server connection that is open. Pgpool-II shows its empty slots as well: children x max_pool x nodes
// rows; pgweir has no such slots. Connections of one child to one database for one user that lie on different nodes
// share a pool_id; with a second one to the same node another pool begins. The protocol is always 3.0 towards servers,
// and the statement is always empty: clients' texts stay out of shared memory.
// NOW in epoch seconds, for client_idle_duration (seconds); 0: not known, then that is 0.
Rowset show_pools(std::span<const ProcessFacts> processes, std::int64_t now = 0);

}  // namespace weir::admin
