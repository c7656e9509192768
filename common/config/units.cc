#include "common/config/units.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace weir::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t in_least;  // microseconds or bytes
};
constexpr Unit kTimes[] = {{"us", 1},         {"ms", 1000},        {"s", 1000000},
                           {"min", 60000000}, {"h", 3600000000LL}, {"d", 86400000000LL}};
constexpr Unit kSizes[] = {{"B", 1}, {"kB", 1024}, {"MB", 1LL << 20}, {"GB", 1LL << 30}, {"TB", 1LL << 40}};

template <std::size_t N>
const Unit* find_unit(const Unit (&units)[N], std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::optional<bool> parse_bool(std::string_view text) {
  std::string word;
  for (char c : trim(text)) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (word.empty()) return std::nullopt;
  const auto begins = [&](std::string_view whole, std::size_t least) {
    return word.size() >= least && whole.starts_with(word);
  };
  if (begins("true", 1) || begins("yes", 1) || word == "on" || word == "1") return true;
  if (begins("false", 1) || begins("no", 1) || begins("off", 2) || word == "0") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::string_view base) {
  text = trim(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, hex ? 16 : 10);
  if (error != std::errc() || number < 0) return std::nullopt;
  const std::string_view unit_name = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  if (negative) number = -number;
  if (unit_name.empty()) return number;
  if (base.empty() || hex) return std::nullopt;
  const Unit* from = find_unit(kTimes, unit_name);
  const Unit* to = find_unit(kTimes, base);
  if (from == nullptr || to == nullptr) {
    from = find_unit(kSizes, unit_name);
    to = find_unit(kSizes, base);
  }
  if (from == nullptr || to == nullptr) return std::nullopt;
  const double value =
      static_cast<double>(number) * static_cast<double>(from->in_least) / static_cast<double>(to->in_least);
  if (std::abs(value) > 9e15) return std::nullopt;
  // 100 ms as seconds must not become 0, which often means "no limit".
  if (value > 0 && value < 1) return 1;
  if (value < 0 && value > -1) return -1;
  return static_cast<std::int64_t>(std::llround(value));
}

std::string in_largest_unit(std::int64_t value, std::string_view unit) {
  std::string best = std::to_string(value);
  if (value <= 0) return best;
  const auto search = [&](const auto& units) {
    const Unit* from = find_unit(units, unit);
    if (from == nullptr || value > INT64_MAX / from->in_least) return;
    for (const Unit& to : units) {
      if (to.in_least < from->in_least || value * from->in_least % to.in_least != 0) continue;
      best = std::to_string(value * from->in_least / to.in_least) + std::string(to.name);
    }
  };
  search(kTimes);
  search(kSizes);
  return best;
}

std::optional<double> parse_real(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_octal(std::string_view text) {
  text = trim(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  std::string item;
  const auto finish = [&] {
    const std::string_view trimmed = trim(item);
    if (!trimmed.empty()) items.emplace_back(trimmed);
    item.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == separator || text[i + 1] == '\'')) {
      item += text[++i];
    } else if (text[i] == separator) {
      finish();
    } else {
      item += text[i];
    }
  }
  finish();
  return items;
}

}  // namespace weir::config
