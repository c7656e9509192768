#include "parser/nesting.h"

#include <algorithm>
#include <array>
#include <vector>

#include "parser/lexical.h"

namespace weir::parser {
namespace {

enum class Meaning { Plain, Separator, And, Between, Joiner, Opens, Closes };

struct Keyword {
  std::string_view word;
  Meaning meaning;
};

// What stands on both sides of a separator are brothers in the tree. A joiner nests with every
// further one of its level.
constexpr std::array kKeywords = {
    Keyword{"and", Meaning::And},          Keyword{"between", Meaning::Between},
    Keyword{"or", Meaning::Separator},     Keyword{"when", Meaning::Separator},
    Keyword{"then", Meaning::Separator},   Keyword{"else", Meaning::Separator},
    Keyword{"select", Meaning::Separator}, Keyword{"from", Meaning::Separator},
    Keyword{"where", Meaning::Separator},  Keyword{"on", Meaning::Separator},
    Keyword{"set", Meaning::Separator},    Keyword{"values", Meaning::Separator},
    Keyword{"having", Meaning::Separator}, Keyword{"order", Meaning::Separator},
    Keyword{"group", Meaning::Separator},  Keyword{"returning", Meaning::Separator},
    Keyword{"join", Meaning::Joiner},      Keyword{"union", Meaning::Joiner},
    Keyword{"except", Meaning::Joiner},    Keyword{"intersect", Meaning::Joiner},
    Keyword{"case", Meaning::Opens},       Keyword{"end", Meaning::Closes},
};

Meaning meaning_of_word(std::string_view word) {
  std::array<char, 9> lower{};
  if (word.size() > lower.size())
    return Meaning::Plain;
  std::transform(word.begin(), word.end(), lower.begin(),
                 [](char c) { return static_cast<char>(c | 0x20); });
  const std::string_view key(lower.data(), word.size());
  const auto it = std::find_if(kKeywords.begin(), kKeywords.end(),
                               [&](const Keyword& k) { return k.word == key; });
  return it == kKeywords.end() ? Meaning::Plain : it->meaning;
}

Meaning meaning_of(const Token& token) {
  if (token.kind == TokenKind::Word)
    return meaning_of_word(token.text);
  if (token.kind != TokenKind::Symbol)
    return Meaning::Plain;
  switch (token.text[0]) {
  case ',':
  case ';':
    return Meaning::Separator;
  case '(':
  case '[':
    return Meaning::Opens;
  case ')':
  case ']':
    return Meaning::Closes;
  default:
    return Meaning::Plain;
  }
}

// Tokens that count, by bracket.
struct Level {
  std::size_t chain = 0; // since the last separator
  std::size_t joiners = 0;
  std::size_t betweens = 0; // whose AND is still to come: that is no separator
};

class Estimate {
public:
  Estimate() { levels_.emplace_back(); }

  void add(Meaning meaning) {
    Level& level = levels_.back();
    switch (meaning) {
    case Meaning::Between:
      ++level.betweens;
      [[fallthrough]];
    case Meaning::Plain:
      count(level.chain);
      break;
    case Meaning::And:
      if (level.betweens > 0) {
        --level.betweens;
        count(level.chain);
      } else {
        separate(level);
      }
      break;
    case Meaning::Separator:
      separate(level);
      break;
    case Meaning::Joiner:
      separate(level);
      count(level.joiners);
      break;
    case Meaning::Opens:
      count(level.chain);
      levels_.emplace_back();
      break;
    case Meaning::Closes:
      if (levels_.size() == 1)
        break; // an error, or COMMIT by another name
      total_ -= level.chain + level.joiners;
      levels_.pop_back();
      break;
    }
  }
  // A statement's end; not one inside brackets (rules).
  void end_statement() {
    if (levels_.size() == 1) {
      levels_.back() = Level{};
      total_ = 0;
    }
  }
  std::size_t total() const { return total_; }

private:
  void count(std::size_t& part) {
    ++part;
    ++total_;
  }
  void separate(Level& level) {
    total_ -= level.chain;
    level.chain = 0;
  }

  std::vector<Level> levels_;
  std::size_t total_ = 0;
};

bool is_operator_part(char c) {
  return std::string_view("~!@#^&|`?+-*/%<>=").find(c) != std::string_view::npos;
}

// The run of operator characters that the tokens seen last make up.
class OperatorRun {
public:
  // False: too long.
  bool add(const Token& token) {
    if (token.kind != TokenKind::Symbol && !token.text.starts_with("/*")) {
      length_ = 0;
      return true;
    }
    for (const char c : token.text) {
      length_ = is_operator_part(c) ? length_ + 1 : 0;
      if (length_ > kMaxOperatorRun)
        return false;
    }
    return true;
  }

private:
  std::size_t length_ = 0;
};

} // namespace

bool nests_too_deep(std::string_view text) {
  if (text.size() <= kMaxNesting)
    return false; // a token has a byte at least
  Estimate estimate;
  OperatorRun run;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    if (!run.add(token))
      return true;
    if (token.kind == TokenKind::Blank || token.kind == TokenKind::Comment)
      continue;
    estimate.add(meaning_of(token));
    if (token.text == ";")
      estimate.end_statement();
    if (estimate.total() > kMaxNesting)
      return true;
  }
  return false;
}

} // namespace weir::parser
