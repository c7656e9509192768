#include "common/config/conf_lexer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

namespace weir::config {
namespace {

struct ValueCase {
  const char* line;
  const char* name;
  const char* value;
};

TEST(conf_lexer, values) {
  const ValueCase cases[] = {
      {"port = 9999", "port", "9999"},
      {"port=9999", "port", "9999"},
      {"port 9999", "port", "9999"},
      {"\tport\t=\t9999\r", "port", "9999"},
      {"port = 9999 # comment", "port", "9999"},
      {"port = 9999# comment", "port", "9999"},
      {"a = 'x y'", "a", "x y"},
      {"a = 'x # y' # z", "a", "x # y"},
      {"a = ''", "a", ""},
      {"a = 'it''s'", "a", "it's"},
      {"a = 'it\\'s'", "a", "it's"},
      {"a = 'back\\\\'", "a", "back\\\\"},
      {"a = '^schema\\.f\\d$'", "a", "^schema\\.f\\d$"},
      {"a = 'x\\;y'", "a", "x\\;y"},
      {"a = 5 min", "a", "5min"},
      {"a = 5 min # five", "a", "5min"},
      {"a = /var/run/x-y.pid", "a", "/var/run/x-y.pid"},
      {"a 'b'", "a", "b"},
      {"include 'x.conf'", "include", "x.conf"},
      {"\xef\xbb\xbfport = 1", "port", "1"},
  };
  for (const ValueCase& c : cases) {
    const ConfText text = lex_conf(c.line);
    ASSERT_TRUE(text.errors.empty()) << c.line << ": " << text.errors[0].message;
    ASSERT_EQ(text.entries.size(), 1u) << c.line;
    EXPECT_EQ(text.entries[0].name, c.name) << c.line;
    EXPECT_EQ(text.entries[0].value, c.value) << c.line;
    EXPECT_EQ(text.entries[0].line, 1);
  }
}

TEST(conf_lexer, lists_keep_their_backslashes) {
  const ConfText text = lex_conf("a = 'x\\;y;\\\\d,it''s,q\\'q'\nb = x,y\n");
  ASSERT_EQ(text.entries.size(), 2u);
  EXPECT_EQ(text.entries[0].value, "x\\;y;\\\\d,it's,q'q");
  EXPECT_EQ(text.entries[0].list_value, "x\\;y;\\\\d,it's,q\\'q");
  EXPECT_EQ(text.entries[1].list_value, "x,y");
}

TEST(conf_lexer, errors_with_lines) {
  for (const char* bad : {"= 5", "port", "port =", "port = # x", "a = 'open", "a = 'open\\'", "a = 'x' y", "a = x y",
                          "\"a\" = 1", "[", "[]", "[x] y", "[x"}) {
    const ConfText text = lex_conf(std::string("# first\n") + bad + "\nport = 1\n");
    ASSERT_EQ(text.errors.size(), 1u) << bad;
    EXPECT_EQ(text.errors[0].line, 2) << bad;
    EXPECT_FALSE(text.errors[0].message.empty());
    ASSERT_EQ(text.entries.size(), 1u) << bad << ": the lines behind are read";
  }
}

TEST(conf_lexer, sections) {
  const ConfText text = lex_conf(
      "port = 1\n[databases] # here\n; comment\n# comment\napp = host=h dbname=d\n* = host=x\n'odd name' = a=b\nbad "
      "line\n");
  ASSERT_EQ(text.entries.size(), 4u);
  EXPECT_EQ(text.entries[1].section, "databases");
  EXPECT_EQ(text.entries[1].name, "app");
  EXPECT_EQ(text.entries[1].value, "host=h dbname=d");
  EXPECT_EQ(text.entries[2].name, "*");
  EXPECT_EQ(text.entries[3].name, "odd name");
  ASSERT_EQ(text.errors.size(), 1u);
  EXPECT_EQ(text.errors[0].line, 8);
}

TEST(conf_lexer, hostile_texts) {
  EXPECT_TRUE(lex_conf("").entries.empty());
  EXPECT_EQ(lex_conf(std::string("a = x\0y\nb = 1\n", 14)).errors.size(), 1u);
  const std::string far(2000000, 'x');
  EXPECT_EQ(lex_conf("a = " + far).entries[0].value, far);
  EXPECT_EQ(lex_conf("a = '" + far).errors.size(), 1u);
  EXPECT_EQ(lex_conf(std::string(100000, '\n') + "!").errors[0].line, 100001);
  EXPECT_EQ(lex_conf(std::string(100000, '[')).errors.size(), 1u);
}

// What stands in single quotes, with quotes doubled, comes back as it was.
TEST(conf_lexer, any_quoted_value_comes_back) {
  EXPECT_TRUE(rc::check([](const std::string& value) {
    std::string line = "a = '";
    for (char c : value) {
      if (c == '\n' || c == '\0') return;
      if (c == '\\') return;
      if (c == '\'') line += c;
      line += c;
    }
    const ConfText text = lex_conf(line + "' # end");
    RC_ASSERT(text.errors.empty());
    RC_ASSERT(text.entries.at(0).value == value);
  }));
}

}  // namespace
}  // namespace weir::config
