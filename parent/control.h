// `pgweir stop` and `pgweir reload`: a signal to the process that the pid file names.
#pragma once

#include "common/config/config.h"
#include "parent/options.h"

namespace weir::parent {

// The exit code.
int control(const config::Config& config, const Options& options);

}  // namespace weir::parent
