// Files, environment and command line -> one Config, or all errors at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/config/conf_lexer.h"
#include "common/config/config.h"

namespace weir::config {

struct LoadRequest {
  std::string path;
  std::map<std::string, std::string> environment;  // PGWEIR_NAME -> value; others are ignored, with a notice
  std::map<std::string, std::string> overrides;    // of the command line: parameter -> value
};

struct LoadOutcome {
  std::shared_ptr<const Config> config;  // null: there are errors
  std::vector<ConfError> errors;
  std::vector<std::string> notices;  // parameters that are not (yet) in effect, and why
};

// Reads a file: its text, or an error whose message says why not.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Files are ordinary files of up to 16 MB; a missing one is an error. At most 100 errors are listed.
LoadOutcome load(const LoadRequest& request);
// The same with the file system handed in: no I/O of its own.
LoadOutcome load_with(const LoadRequest& request, const ReadFile& read);
// Loads again what CONFIG was loaded from.
LoadOutcome reload(const Config& config);
// What is wrong with a configuration under which pgweir would have no server: neither a node nor a database with a host
// of its own. No error of loading, since a file without nodes can be looked at.
std::optional<ConfError> nothing_to_serve(const Config& config);
// Of this process's environment the variables that begin with PGWEIR_.
std::map<std::string, std::string> pgweir_environment();

}  // namespace weir::config
