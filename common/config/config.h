// One immutable configuration, expanded from parameters.def. Handed on as shared_ptr<const Config>; a reload makes a
// new one beside it. Times and sizes are in the parameter's own unit (doc/parameters.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/section_settings.h"

namespace weir::config {

struct BackendConfig {
  std::string hostname;   // name, address or socket directory
  std::int64_t port = 0;  // 0: this node id is not used
  double weight = 0;
  std::string data_directory;
  std::string application_name;
  bool allow_to_failover = true;
  bool always_primary = false;
  std::int64_t connect_timeout = 10000;    // ms
  std::int64_t health_check_timeout = 20;  // s
  std::int64_t health_check_max_retries = 0;
  std::int64_t health_check_retry_delay = 1;  // s
};

// name -> key/value pairs of one line of [databases], [users], ...
using SectionEntries = std::map<std::string, std::vector<std::pair<std::string, std::string>>>;

namespace detail {
using BOOL = bool;
using INT = std::int64_t;
using REAL = double;
using TEXT = std::string;
using SECRET = std::string;
using OCTAL = std::int64_t;
using ENUM = std::string;  // one of the choices in the table, in lower case
using LIST = std::vector<std::string>;
using QUERIES = std::vector<std::string>;
}  // namespace detail

struct Config {
#define PARAM(kind, name, ...) detail::kind name{};
#include "common/config/parameters.def"
#undef PARAM

  std::vector<BackendConfig> backends;             // by node id
  std::map<std::string, SectionEntries> sections;  // "databases", "users", "pools", "tenants", "peers", as written
  SectionTables settings;                          // the same, checked and typed

  std::string file;                              // as given
  std::string directory;                         // where relative names are looked for
  std::map<std::string, std::string> sources;    // parameter -> "file:line", "environment", "command line"
  std::map<std::string, std::string> overrides;  // of the command line: a reload keeps them

  // NAME relative to the configuration's directory; empty stays empty.
  std::string resolve_path(std::string_view name) const;
};

}  // namespace weir::config
