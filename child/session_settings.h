// The parameters that one session has set with PGPOOL SET, over those of the configuration. Pure.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/config/config.h"
#include "common/config/parameter.h"

namespace weir::child {

class SessionSettings {
 public:
  // Sets PARAMETER for the session; BASE is the configuration in effect. Fails (55P02) for one that a session may not
  // set, (22023) for a value that is none.
  Status set(const config::Config& base, const config::Parameter& parameter, std::string value);
  // Back to BASE's value. Fails (55P02) as set() does.
  Status reset(const config::Config& base, const config::Parameter& parameter);
  void reset_all();
  // The configuration has changed: what was set stays set.
  void rebase(const config::Config& base);

  // As the session has it; null: as the configuration is.
  const config::Config* config() const { return config_.get(); }

 private:
  std::vector<std::pair<const config::Parameter*, std::string>> values_;
  std::unique_ptr<config::Config> config_;
};

}  // namespace weir::child
