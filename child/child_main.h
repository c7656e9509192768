// Entry of a forked child: serves clients until it is told to stop.
#pragma once

#include "common/process/role_context.h"

namespace weir::child {

// The exit code: 0, the child asks for its replacement or was told to stop.
int child_main(process::RoleContext& context);

}  // namespace weir::child
