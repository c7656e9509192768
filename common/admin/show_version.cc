#include "common/admin/show_version.h"

namespace weir::admin {

std::vector<Column> version_columns() { return {{"pool_version"}}; }

Rowset show_version() { return {version_columns(), {Row{"4.7.0 (pgweir 0.1.0)"}}}; }

}  // namespace weir::admin
