// Which rows of a test table hold for the grammar that we are built with: Debian 12's libpg_query has that of
// PostgreSQL 15, Debian 13's that of 17.
#pragma once

#include <pg_query.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace weir::parser {

inline constexpr int kGrammar = PG_VERSION_NUM / 10000;

// CONDITION is "<N" or ">=N" with N a major version of PostgreSQL; nothing if it is neither.
inline std::optional<bool> holds_for_grammar(std::string_view condition, int grammar = kGrammar) {
  const bool before = condition.starts_with('<');
  if (!before && !condition.starts_with(">="))
    return std::nullopt;
  condition.remove_prefix(before ? 1 : 2);
  int version = 0;
  const char* end = condition.data() + condition.size();
  const auto [stop, error] = std::from_chars(condition.data(), end, version);
  if (error != std::errc() || stop != end)
    return std::nullopt;
  return before ? grammar < version : grammar >= version;
}

} // namespace weir::parser
