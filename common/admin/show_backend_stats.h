// SHOW POOL_BACKEND_STATS and SHOW POOL_ROUTE_STATS: what was sent where, and why. Pure: values in, rows out.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/admin/rowset.h"
#include "common/shmem/node_view.h"
#include "common/shmem/statement_counts.h"

namespace weir::admin {

// Pgpool-II's columns. Counts are since pgweir started, over all children; a statement counts where it is sent, also if it
// fails, and again if it is run again elsewhere.
std::vector<Column> backend_stats_columns();
// One row a node id. TOTALS by node id; STREAMING as in show_nodes().
Rowset show_backend_stats(const shmem::NodeView& nodes, std::span<const shmem::NodeTotals> totals, bool streaming);

// A reason as lb names it; its place in the list is its number.
struct ReasonText {
  std::string_view name;
  std::string_view text;
};

// node_id, hostname, port, role, reason, decisions, dry_runs, explanation.
std::vector<Column> route_stats_columns();
// One row for each node and reason that was ever counted there.
Rowset show_route_stats(const shmem::NodeView& nodes, std::span<const shmem::NodeTotals> totals,
                        std::span<const ReasonText> reasons, bool streaming);

}  // namespace weir::admin
