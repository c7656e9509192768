// Columns and rows of an answer of pgweir's own, before any encoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::admin {

inline constexpr std::uint32_t kText = 25;
inline constexpr std::uint32_t kInt4 = 23;
inline constexpr std::uint32_t kInt8 = 20;

struct Column {
  std::string_view name;
  std::uint32_t type = kText;
};

struct Rowset {
  std::vector<Column> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
};

}  // namespace weir::admin
