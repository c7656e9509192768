// The tables that console_show.h hands out, one pair of functions each. A size that has no limit is shown as 0, as
// PgBouncer does; "blocked" is 1 where a limit set at run time lets nobody in.
#pragma once

#include <vector>

#include "common/admin/console_view.h"
#include "common/admin/rowset.h"

namespace weir::admin {

// console_sockets.cc: clients, or server connections.
std::vector<Column> sockets_columns();
Rowset show_sockets(const std::vector<SocketFacts>& sockets, bool clients);

// console_pools.cc
std::vector<Column> console_pools_columns();
Rowset show_console_pools(const ConsoleView& view);
std::vector<Column> leases_columns();
Rowset show_leases(const ConsoleView& view);
std::vector<Column> limits_columns();
Rowset show_limits(const ConsoleView& view);

// console_objects.cc
std::vector<Column> databases_columns();
Rowset show_databases(const ConsoleView& view);
std::vector<Column> users_columns();
Rowset show_users(const ConsoleView& view);
std::vector<Column> lists_columns();
Rowset show_lists(const ConsoleView& view);

// console_stats.cc
enum class StatsPart { Both, Totals, Averages };
std::vector<Column> stats_columns(StatsPart part);
Rowset show_stats(const ConsoleView& view, StatsPart part);
std::vector<Column> totals_columns();
Rowset show_totals(const ConsoleView& view);

// A limit as PgBouncer shows it.
inline std::int32_t shown_limit(std::int32_t limit) { return limit == config::kNoLimit ? 0 : limit; }
// Server connections of USER in DATABASE: as the ledger counts them, over all nodes.
std::int32_t leased(const ConsoleView& view, std::string_view database, std::string_view user);

}  // namespace weir::admin
