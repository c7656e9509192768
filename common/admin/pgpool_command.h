// PGPOOL SHOW, SET and RESET: from their words to what they ask for. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weir::admin {

struct PgpoolCommand {
  // SetDefault: SET name TO DEFAULT, which is RESET name.
  enum class Kind : std::uint8_t { Show, Set, SetDefault, Reset, ResetAll };
  Kind kind = Kind::Show;
  std::string name;   // of a parameter, or "all" or a group with Show; unquoted names in lower case
  std::string value;  // with Set; the items of a list separated by commas
};

// WORDS are what stands behind PGPOOL: "show name", "set name TO value" or "=", with values 'text', word or number,
// several separated by commas; "reset name", "reset ALL". Any bytes; fails (42601) where they are not of that form, and
// (0A000) for SET CACHE DELETE.
Result<PgpoolCommand> parse_pgpool(std::string_view words);

}  // namespace weir::admin
