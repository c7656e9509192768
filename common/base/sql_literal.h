// A text as an SQL literal that reads the same whatever standard_conforming_strings is: E'...'. What stands behind a NUL
// would be cut off by the server, so the literal ends there too.
#pragma once

#include <string>
#include <string_view>

namespace weir {

inline std::string sql_literal(std::string_view text) {
  std::string out = "E'";
  for (const char c : text.substr(0, text.find('\0'))) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  return out + "'";
}

}  // namespace weir
