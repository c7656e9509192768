// The logging parameters as the log takes them.
#pragma once

#include "common/base/log.h"
#include "common/config/config.h"

namespace weir::config {

log::Settings log_settings(const Config& config);
// log_min_messages as a level.
log::Level log_level(const Config& config);

}  // namespace weir::config
