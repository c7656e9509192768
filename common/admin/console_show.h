// The console's SHOW commands: PgBouncer's columns, names, types and order, then ours after them. Pure: values in, rows out.
#pragma once

#include <vector>

#include "common/admin/console_command.h"
#include "common/admin/console_view.h"
#include "common/admin/rowset.h"

namespace weir::admin {

// The columns alone, for Describe. None with Help, whose text is a notice.
std::vector<Column> console_columns(ConsoleShow show);
Rowset console_rows(ConsoleShow show, const ConsoleView& view);

}  // namespace weir::admin
