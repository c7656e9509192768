// PGPOOL SHOW: the configuration as a session has it. Pure: values in, rows out. Secrets are always *****.
#pragma once

#include <string_view>
#include <vector>

#include "common/admin/rowset.h"
#include "common/base/result.h"
#include "common/config/config.h"

namespace weir::admin {

// NAME of a parameter, or of one with a node's number: one column called like it, one value, numbers in their largest
// exact unit ("5min"). "all", a group ("backend", "watchdog", "heartbeat", "health_check") or the name of an indexed
// parameter without its number: item, value, description. Fails (42704) for other names.
Result<Rowset> show_parameters(const config::Config& config, std::string_view name);

// The error for a name that there is not.
Error no_such_parameter(std::string_view name);

}  // namespace weir::admin
