// The command line, in Pgpool-II's dialect.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace weir::parent {

struct Options {
  enum class Action { Run, Stop, Reload, CheckConfig, ShowConfig, Version, Help } action = Action::Run;
  std::string config_file;
  std::string hba_file;
  std::string pcp_file;
  std::string key_file;
  std::string pool_passwd;
  bool foreground = false;
  bool discard_status = false;
  bool debug = false;
  char stop_mode = 's';  // s, f, i
};

struct ParsedOptions {
  Options options;
  std::string error;  // not empty: exit 1 with it
  std::string text;   // Help and Version: what to print
};

// The manual page pgweir(1), made from the options.
std::string options_manual();
ParsedOptions parse_options(const std::vector<std::string>& arguments);
// Parameters that the command line sets.
std::map<std::string, std::string> overrides_of(const Options& options);

}  // namespace weir::parent
