// The skeleton must be blind to literals only: equal skeletons, equal facts.
#include "parser/fingerprint.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parser/classify.h"
#include "parser/lexical.h"
#include "test/unit/parser/describe.h"
#include "test/unit/parser/table.h"

namespace weir::parser {
namespace {

std::string skeleton_of(std::string_view text) {
  std::string buffer;
  return std::string(skeleton(text, buffer));
}

// What the cache relies on: facts that are shared, or the remark that they are not.
std::string shared_facts(std::string_view text) {
  const StatementFacts facts = classify(text);
  return facts.exact_text_only ? "exact" : describe(facts);
}

TEST(Skeleton, ReplacesLiterals) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"SELECT 1", "SELECT 0"},
      {"SELECT 12345", "SELECT 0"},
      {"SELECT 2147483647", "SELECT 0"},
      {"SELECT 0002147483647", "SELECT 0"},
      {"SELECT 2147483648", "SELECT 9"},
      {"SELECT 99999999999999999999", "SELECT 9"},
      {"SELECT 1.5, .5, 1., 1e3, 1.5E-3, 1e+9", "SELECT 9, .9, 9, 9, 9, 9"},
      {"SELECT -1", "SELECT -0"},
      {"SELECT 1-1", "SELECT 0-0"},
      {"SELECT 'x'", "SELECT ''"},
      {"SELECT 'it''s', ''", "SELECT '', ''"},
      {"SELECT 'a\\'", "SELECT ''"},
      {"SELECT '--', '/*', '\"', '$$', '$1'", "SELECT '', '', '', '', ''"},
      {"SELECT a1, t2.b3 FROM t2 WHERE x = 4", "SELECT a1, t2.b3 FROM t2 WHERE x = 0"},
      {"SELECT $1, $23, 5", "SELECT $1, $23, 0"},
      {"SELECT \"1 'x' 2\", 3", "SELECT \"1 'x' 2\", 0"},
      {"SELECT \"a\"\"1\", 3", "SELECT \"a\"\"1\", 0"},
      {"SELECT \xc3\xa9"
       "1, 1",
       "SELECT \xc3\xa9"
       "1, 0"},
      {"SELECT 1 -- 2", "SELECT 0  "},
      {"SELECT 1 --x\n+ 2", "SELECT 0  \n+ 0"},
      {"SELECT 1 /* 'x' /* 2 */ */ + 2", "SELECT 0   + 0"},
      {"/* c */ SELECT 1", "SELECT 0"},
      {" -- x\n SELECT 1", "SELECT 0"},
      {"/*NO LOAD BALANCE*/ SELECT 1", "\x01"
                                       "b  SELECT 0"},
      {"SELECT 'nowhere'", "SELECT ''"},
      {"SELECT date '2020-01-01'", "SELECT date ''"},
  };
  for (const auto& [text, expected] : rows)
    EXPECT_EQ(skeleton_of(text), expected) << text;
}

TEST(Skeleton, HintsAreTold) {
  const std::string_view hints[] = {"",
                                    "/*NO LOAD BALANCE*/",
                                    "/*pgweir: primary*/",
                                    "/*pgweir: standby*/",
                                    "/*pgweir: node=0*/",
                                    "/*pgweir: node=1*/",
                                    "/*pgweir: node=63*/",
                                    "/*pgweir: node=64*/",
                                    "/*pgweir: node=127*/"};
  std::map<std::string, std::string_view> seen;
  for (const std::string_view hint : hints) {
    const std::string key = skeleton_of(std::string(hint) + "SELECT 1");
    EXPECT_TRUE(seen.emplace(key, hint).second) << hint << " and " << seen[key];
    EXPECT_EQ(skeleton_of(" " + std::string(hint) + " -- x\n SELECT 2"), key) << hint;
  }
}

TEST(Skeleton, LeavesOddTextsAlone) {
  const std::string_view rows[] = {
      "SELECT a", // nothing to gain
      "",
      "SELECT E'x'",
      "SELECT e'\\''",
      "SELECT B'1', X'f', N'x'",
      "SELECT U&'x'",
      "SELECT u&'x' UESCAPE '!'",
      "SELECT U&\"x\", 1",
      "SELECT date'2020-01-01'",
      "SELECT $$x$$",
      "SELECT $a$ 1 $a$",
      "SELECT $",
      "SELECT 'x",
      "SELECT 'x''",
      "SELECT \"x, 1",
      "SELECT 1 /* x",
      "SELECT 'now'",
      "SELECT ' TODAY ', 1",
      "SELECT 'x pg_temp y'",
      "SELECT 'PG_TEMP_3'",
      "SELECT 'a'\n'b'",
      "SELECT 'a' 'b'",
      "SELECT 'a' -- x\n'b'",
      "SELECT 'a'/**/'b'",
      "SELECT 1a",
      "SELECT 0x1f",
      "SELECT 1_000",
      "SELECT 1e",
      "SELECT 1e+",
      "SELECT 1e5x",
      "SELECT 1..2",
      "SELECT 1$",
      "SELECT a::float(24)",
      "SELECT a::FLOAT ( 25 )",
  };
  for (const std::string_view text : rows)
    EXPECT_EQ(skeleton_of(text), "") << text;
  EXPECT_EQ(skeleton_of(std::string_view("SELECT '\0'", 10)), "");
  EXPECT_EQ(skeleton_of(std::string_view("SELECT 1\0", 9)), "");
  EXPECT_EQ(skeleton_of(std::string_view("/*\0*/ SELECT 1", 14)), "");
  EXPECT_EQ(skeleton_of("SELECT \x01"
                        "b  1"),
            "");
}

// A quote that is written twice counts once: the text below is short enough for a date.
TEST(Skeleton, DateWordsAreSoughtInTheValue) {
  const auto text = [](int quotes) {
    std::string literal = "now";
    for (int i = 0; i < quotes; ++i)
      literal += "''";
    return "SELECT '" + literal + "'";
  };
  EXPECT_EQ(skeleton_of(text(125)), "");
  EXPECT_EQ(shared_facts(text(125)), "exact");
  EXPECT_EQ(skeleton_of(text(126)), "SELECT ''");
  EXPECT_NE(shared_facts(text(126)), "exact");
}

TEST(Skeleton, KeepsItsBufferOnceGrown) {
  std::string buffer;
  skeleton("SELECT '" + std::string(1000, 'x') + "'", buffer);
  const char* data = buffer.data();
  EXPECT_EQ(skeleton("SELECT 1", buffer), "SELECT 0");
  EXPECT_EQ(buffer.data(), data);
}

std::string random_integer() {
  return std::to_string(*rc::gen::inRange(0, 2147483647));
}

std::string random_string() {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "a", "1", " ", "''", "\\", "--", "/*", "*/", "\"", "$$", "$1", "E", "know", "\n", ";", "(",
      ")", "pg_tem", "temp", "\xc3\xa9", "yester", "day"));
  std::string text = "'";
  for (const std::string& piece : pieces)
    text += piece;
  return text + "'";
}

// TEXT with other literals in the place of its own.
std::string with_other_literals(std::string_view text) {
  std::string out;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    const bool integer =
        token.text.size() < 10 && token.text.find_first_not_of("0123456789") == std::string::npos;
    if (token.kind == TokenKind::Number && integer) {
      out += random_integer();
    } else if (token.kind == TokenKind::String && token.text[0] == '\'') {
      out += random_string();
    } else {
      out += token.text;
    }
  }
  return out;
}

// Random literals may make a text odd; then there is nothing to compare.
void check_pair(const std::string& one, const std::string& other) {
  const std::string key = skeleton_of(one);
  if (key.empty() || key != skeleton_of(other))
    return;
  RC_ASSERT(shared_facts(one) == shared_facts(other));
}

TEST(SkeletonProperty, OtherLiteralsSameFacts) {
  const std::vector<TableRow> rows = read_classify_table();
  std::size_t compared = 0;
  const bool held = rc::check("equal skeletons of the table's texts have equal facts", [&] {
    for (int i = 0; i < 20; ++i) {
      const std::string& text = (*rc::gen::elementOf(rows)).text;
      const std::string other = with_other_literals(text);
      if (!skeleton_of(text).empty() && skeleton_of(text) == skeleton_of(other))
        ++compared;
      check_pair(text, other);
    }
  });
  EXPECT_TRUE(held);
  EXPECT_GT(compared, 100U); // or nothing was tested
}

// Heaps of tokens that have to do with literals, names and comments, in any order; most do not
// parse, and those that do must agree with whatever has the same skeleton.
TEST(SkeletonProperty, NoTwoRandomTextsDisagree) {
  static constexpr std::string_view kTokens[] = {
      "'",        "''",     "'a'",     "'b'",         "'now'",     "\"",       "\"a\"",
      "\"b\"",    "E",      "U&",      "B",           "X",         "e",        "u&",
      "$",        "$$",     "$1",      "$a$",         "-",         "--",       "/",
      "*",        "/*",     "*/",      "0",           "1",         "24",       "25",
      ".",        "1.5",    "e5",      "2147483648",  " ",         "\n",       ",",
      "(",        ")",      "+",       "a",           "float",     "now",      "::",
      "int",      "float(", "SELECT ", ";",           "\\",        "&",        "date ",
      "regclass", " AS ",   "=",       "LIMIT ",      "interval ", " second(", "CURRENT_TIME(",
      "f(",       "1 ",     "'x' ",    "set_config(", "true"};
  std::mt19937 random(20261130);
  std::map<std::string, std::pair<std::string, std::string>> seen;
  std::size_t compared = 0;
  for (int i = 0; i < 150000; ++i) {
    std::string text = "SELECT ";
    const int count = 1 + static_cast<int>(random() % 7);
    for (int k = 0; k < count; ++k)
      text += kTokens[random() % std::size(kTokens)];
    const std::string key = skeleton_of(text);
    if (key.empty())
      continue;
    const std::string facts = shared_facts(text);
    const auto [it, added] = seen.try_emplace(key, facts, text);
    if (added)
      continue;
    if (it->second.second != text)
      ++compared;
    ASSERT_EQ(it->second.first, facts) << it->second.second << "\nand " << text << "\nhave " << key;
  }
  EXPECT_GT(compared, 1000U);
}

} // namespace
} // namespace weir::parser
