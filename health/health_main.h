// Entry of the health process: watches every node, finds out roles, publishes observations.
#pragma once

#include "common/process/role_context.h"

namespace weir::health {

int health_main(process::RoleContext& context);

}  // namespace weir::health
