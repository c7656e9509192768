// Columns and rows of an answer of pgweir's own, before any encoding. Values are text as a server would print them; a
// number's text is what its type allows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::admin {

// The types in use, by the ids that every server has for them.
inline constexpr std::uint32_t kText = 25;
inline constexpr std::uint32_t kInt4 = 23;
inline constexpr std::uint32_t kInt8 = 20;
inline constexpr std::uint32_t kNumeric = 1700;  // whole numbers only

struct Column {
  std::string name;
  std::uint32_t type = kText;
};

using Row = std::vector<std::optional<std::string>>;  // as many values as the rowset has columns

struct Rowset {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

}  // namespace weir::admin
