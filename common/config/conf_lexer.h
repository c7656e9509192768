// Text of a configuration file -> entries with their lines: name = value, name value, single quotes, # comments,
// include, and sections in PgBouncer's syntax behind it. Never throws; all errors are reported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

struct ConfEntry {
  std::string section;  // empty: a parameter
  std::string name;
  std::string value;
  std::string list_value;  // the same with the backslash kept before , ; and ': what a list is split from
  int line = 0;
};

struct ConfError {
  std::string file;
  int line = 0;
  std::string message;
  bool operator==(const ConfError&) const = default;
};

// The line that begins a section.
struct ConfSection {
  std::string name;
  int line = 0;
};

struct ConfText {
  std::vector<ConfEntry> entries;  // `include` is an entry of that name
  std::vector<ConfSection> sections;
  std::vector<ConfError> errors;   // without file
};

ConfText lex_conf(std::string_view text);

}  // namespace weir::config
