// The SHOW POOL_* commands of Pgpool-II: its columns, names and order, then ours after them. Pure: values in, rows out.
#pragma once

#include <vector>

#include "common/admin/command.h"
#include "common/admin/rowset.h"
#include "common/admin/show_backend_stats.h"
#include "common/admin/show_nodes.h"
#include "common/admin/show_pools.h"
#include "common/admin/show_processes.h"
#include "common/admin/show_status.h"
#include "common/admin/show_text.h"
#include "common/admin/show_version.h"

namespace weir::admin {

// The columns alone, for Describe. None with NotYet.
std::vector<Column> show_columns(ShowCommand command);

}  // namespace weir::admin
