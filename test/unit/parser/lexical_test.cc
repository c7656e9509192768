#include "parser/lexical.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace weir::parser {
namespace {

char letter(TokenKind kind) {
  switch (kind) {
  case TokenKind::End:
    return '.';
  case TokenKind::Blank:
    return '_';
  case TokenKind::Comment:
    return 'C';
  case TokenKind::Word:
    return 'W';
  case TokenKind::Name:
    return 'N';
  case TokenKind::Number:
    return '9';
  case TokenKind::String:
    return 'S';
  case TokenKind::Parameter:
    return 'P';
  case TokenKind::Symbol:
    return '+';
  case TokenKind::Broken:
    return '!';
  }
  return '?';
}

std::string kinds(std::string_view text) {
  std::string out;
  std::string all;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    out += letter(token.kind);
    all += token.text;
    EXPECT_FALSE(token.text.empty());
  }
  EXPECT_EQ(all, text); // every byte is in one token
  return out;
}

TEST(Lexer, Tokens) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", ""},
      {"SELECT 1", "W_9"},
      {"a.b", "W+W"},
      {"a1$b \xc3\xa9", "W_W"},
      {"1.5e3 1. .5 1e 1e+ 1e5x", "9_9_+9_9W_9W+_9W"},
      {"'a' 'it''s' ''", "S_S_S"},
      {"'a\\'", "S"},
      {"'a", "!"},
      {"E'a\\'b' e'\\\\' E'", "S_S_!"},
      {"E'\\", "!"},
      {"B'1' x'f' n'x'", "S_S_S"},
      {"U&'x' u&\"y\" U&z", "S_N_W+W"},
      {"date'x'", "WS"},
      {"\"a\"\"b\" \"c", "N_!"},
      {"$1 $23a $$x$$ $a$ $$ $a$ $a1_$x$a1_$", "P_PW_S_S_S"},
      {"$$x", "!"},
      {"$a$ $b$", "!"},
      {"$ a$b$ $", "+_W_+"},
      {"-- x\ny", "C_W"},
      {"-- x\ry", "C_W"},
      {"--", "C"},
      {"/* a /* b */ c */d", "CW"},
      {"/**/ /*/ */", "C_C"},
      {"/* /* */", "!"},
      {"/*/", "!"},
      {"a-b/c", "W+W+W"},
      {"(,;)", "++++"},
      {" \t\r\n\f\v", "_"},
  };
  for (const auto& [text, expected] : rows)
    EXPECT_EQ(kinds(text), expected) << text;
}

TEST(Lexer, AnyBytesAreSurvived) {
  std::mt19937 random(1);
  static constexpr char kBytes[] = "'\"$-/*\\EUBXx&01.e \n;a\0\xff";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t k = random() % 12; k > 0; --k)
      text += kBytes[random() % (sizeof kBytes - 1)];
    kinds(text);
    EXPECT_LE(without_tail(text).size(), text.size());
  }
}

TEST(WithoutTail, CutsBlanksCommentsAndSemicolons) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"SET a = 1", "SET a = 1"},
      {"SET a = 1 ; ", "SET a = 1"},
      {"SET a = 1 -- x", "SET a = 1"},
      {"SET a = 1 /* x */; -- y\n", "SET a = 1"},
      {"SET a = /* x */ 1", "SET a = /* x */ 1"},
      {"SET a = '; -- x'", "SET a = '; -- x'"},
      {"SET a = E'\\'; -- x'", "SET a = E'\\'; -- x'"},
      {" ; ", ""},
      {"", ""},
  };
  for (const auto& [text, expected] : rows)
    EXPECT_EQ(without_tail(text), expected) << text;
}

} // namespace
} // namespace weir::parser
