// SHOW POOL_VERSION. Pure.
#pragma once

#include "common/admin/rowset.h"

namespace weir::admin {

std::vector<Column> version_columns();

// The release of Pgpool-II whose SHOW commands are the model, as programs read "N.N" at its start, then pgweir's own.
Rowset show_version();

}  // namespace weir::admin
