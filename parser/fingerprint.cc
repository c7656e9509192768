#include "parser/fingerprint.h"

#include <array>

#include "parser/names.h"

namespace weir::parser {
namespace {

enum Class : unsigned char { kOther, kWord, kDigit, kQuote, kDouble, kDollar, kDash, kSlash };

constexpr std::array<unsigned char, 256> classes() {
  std::array<unsigned char, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
    table[static_cast<std::size_t>(c)] = letter ? kWord : (c >= '0' && c <= '9') ? kDigit : kOther;
  }
  table['\''] = kQuote;
  table['"'] = kDouble;
  table['$'] = kDollar;
  table['-'] = kDash;
  table['/'] = kSlash;
  return table;
}

constexpr std::array<unsigned char, 256> kClasses = classes();

Class class_of(char c) { return static_cast<Class>(kClasses[static_cast<unsigned char>(c)]); }

}  // namespace

bool skeleton(std::string_view text, std::string& out) {
  out.clear();
  bool found = false;
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    switch (class_of(c)) {
      case kWord: {
        const std::size_t start = i;
        while (i < text.size() && (class_of(text[i]) == kWord || class_of(text[i]) == kDigit || text[i] == '$')) ++i;
        if (i < text.size() && text[i] == '\'') return false;  // E'', B'', X'', N'', U&'': or a typed literal glued on
        out.append(text, start, i - start);
        break;
      }
      case kDigit: {
        // Digits, a point, an exponent: whatever hangs together. A letter behind it makes the text odd.
        while (i < text.size() && (class_of(text[i]) == kDigit || text[i] == '.')) ++i;
        if (i < text.size() && (class_of(text[i]) == kWord || text[i] == '$')) return false;
        out += '0';
        found = true;
        break;
      }
      case kQuote: {
        const std::size_t start = ++i;
        while (true) {
          const std::size_t end = text.find('\'', i);
          if (end == std::string_view::npos) return false;
          i = end + 1;
          if (i < text.size() && text[i] == '\'') {
            ++i;
            continue;
          }
          break;
        }
        const std::string_view literal = text.substr(start, i - 1 - start);
        // Words that mean something, and anything with a backslash, are looked at as they are.
        if (is_date_word(literal) || contains_temp(literal) || literal.find('\\') != std::string_view::npos) return false;
        out += "''";
        found = true;
        break;
      }
      case kDouble: {
        const std::size_t end = text.find('"', i + 1);
        if (end == std::string_view::npos) return false;
        out.append(text, i, end + 1 - i);
        i = end + 1;
        break;
      }
      case kDollar: {
        // $1 is a parameter; everything else with a dollar is a dollar quote.
        if (i + 1 >= text.size() || class_of(text[i + 1]) != kDigit) return false;
        out += c;
        ++i;
        while (i < text.size() && class_of(text[i]) == kDigit) out += text[i++];
        break;
      }
      case kDash:
        if (i + 1 < text.size() && text[i + 1] == '-') return false;
        out += c;
        ++i;
        break;
      case kSlash:
        if (i + 1 < text.size() && text[i + 1] == '*') {
          if (i != 0) return false;  // a comment at the start may be a hint: kept as it is
          const std::size_t end = text.find("*/", 2);
          if (end == std::string_view::npos || text.substr(2, end - 2).find("/*") != std::string_view::npos) return false;
          out.append(text, 0, end + 2);
          i = end + 2;
          break;
        }
        out += c;
        ++i;
        break;
      case kOther:
        if (c == '&' && !out.empty() && i > 0 && (text[i - 1] == 'U' || text[i - 1] == 'u')) return false;
        out += c;
        ++i;
        break;
    }
  }
  return found;
}

}  // namespace weir::parser
