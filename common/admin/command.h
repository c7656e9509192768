// The names of the SHOW commands that pgweir answers itself. What of a text is one of them, and what is SHOW ROUTE or a
// PGPOOL command, the parser says; the words of those are read by pgpool_command.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::admin {

// NotYet: a command of Pgpool-II that pgweir knows but does not have yet.
enum class ShowCommand : std::uint8_t { Nodes, Processes, Pools, Status, BackendStats, RouteStats, Version, NotYet };

// "pool_nodes", in lower case, and so on -> command; nothing for another name, which is the server's to answer.
std::optional<ShowCommand> show_command(std::string_view name);

}  // namespace weir::admin
