// Tells systemd, if it started us: "READY=1", "STOPPING=1", ... (sd_notify(3)).
#pragma once

namespace weir::parent {

void sd_notify(const char* state);

}  // namespace weir::parent
