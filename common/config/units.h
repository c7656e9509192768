// Texts of a configuration file <-> values: booleans, numbers with units, lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::config {

// on/off, true/false, yes/no, 1/0 and unambiguous beginnings of them, in any case.
std::optional<bool> parse_bool(std::string_view text);
// Decimal or 0x..., with a unit of the same family as BASE ("s", "ms", "min", "B", "kB"; empty: none allowed). The
// value in BASE, rounded to the nearest but never to 0; nothing if it is no number, the unit does not fit, or it
// overflows.
std::optional<std::int64_t> parse_integer(std::string_view text, std::string_view base);
std::optional<double> parse_real(std::string_view text);
std::optional<std::int64_t> parse_octal(std::string_view text);
// VALUE of UNIT in the largest unit of its family in which it is a whole number: 300 "s" is "5min". 0 and negative ones,
// which mean something else, and values without a unit stay bare.
std::string in_largest_unit(std::int64_t value, std::string_view unit);
// Items between SEPARATORs, blanks around them taken off, empty ones left out; a backslash keeps the next character.
std::vector<std::string> split_list(std::string_view text, char separator);

}  // namespace weir::config
