// SHOW POOL_VERSION, and the program version as other commands show it. Pure.
#pragma once

#include <string_view>

#include "common/admin/rowset.h"

namespace weir::admin {

inline constexpr std::string_view kProgramVersion = "pgweir 0.1.0";
// The server_version that clients of the console are told.
inline constexpr std::string_view kConsoleVersion = "0.1.0/pgweir";

std::vector<Column> version_columns();

// The release of Pgpool-II whose SHOW commands are the model, as programs read "N.N" at its start, then pgweir's own.
Rowset show_version();

}  // namespace weir::admin
