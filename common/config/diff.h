// Old and new configuration -> what changed and what needs a restart. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/config/config.h"

namespace weir::config {

struct Change {
  std::string name;
  std::string before;
  std::string after;
  bool needs_restart = false;
};

std::vector<Change> diff(const Config& before, const Config& after);

// AFTER with every parameter that needs a restart as it was in BEFORE.
Config keep_startup_parameters(const Config& before, Config after);

}  // namespace weir::config
