// Files, environment and command line -> one Config, or all errors at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/conf_lexer.h"
#include "common/config/config.h"

namespace weir::config {

struct LoadRequest {
  std::string path;
  std::map<std::string, std::string> environment;  // PGWEIR_NAME -> value; others are ignored
  std::map<std::string, std::string> overrides;    // of the command line: parameter -> value
};

struct LoadOutcome {
  std::shared_ptr<const Config> config;  // null: there are errors
  std::vector<ConfError> errors;
  std::vector<std::string> notices;      // parameters that are not (yet) in effect, and why
};

// Reads a file for load(): its text, or nothing.
using ReadFile = std::function<std::optional<std::string>(const std::string& path)>;

LoadOutcome load(const LoadRequest& request);
// The same with the file system handed in.
LoadOutcome load_with(const LoadRequest& request, const ReadFile& read);
// Loads again what CONFIG was loaded from.
LoadOutcome reload(const Config& config);
// The process's environment, PGWEIR_* alone.
std::map<std::string, std::string> pgweir_environment();

}  // namespace weir::config
