#include "common/config/redirect.h"

#include <gtest/gtest.h>

#include "common/config/pattern.h"

namespace weir::config {
namespace {

using To = RedirectEntry::To;

TEST(redirect, entries) {
  struct Case {
    const char* text;
    const char* pattern;
    To to;
    int node;
    double ratio;
  };
  const Case cases[] = {
      {"postgres:primary", "postgres", To::Primary, -1, 1},
      {"mydb[01]:1", "mydb[01]", To::Node, 1, 1},
      {"mydb2:standby(0.3)", "mydb2", To::Standby, -1, 0.3},
      {" psql : Primary ( 0.25 ) ", "psql", To::Primary, -1, 0.25},
      {"a:127(0)", "a", To::Node, 127, 0},
      {"a:0(1)", "a", To::Node, 0, 1},
      {"a:0(1.0)", "a", To::Node, 0, 1},
      {"My App: reports:STANDBY(.5)", "My App: reports", To::Standby, -1, 0.5},  // the last colon counts
      {"a(b|c):2(1)", "a(b|c)", To::Node, 2, 1},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    const auto entry = parse_redirect(one.text);
    ASSERT_TRUE(entry.has_value()) << entry.error().message;
    EXPECT_EQ(entry->pattern, one.pattern);
    EXPECT_EQ(entry->to, one.to);
    EXPECT_EQ(one.to == To::Node ? entry->node : -1, one.node);
    EXPECT_EQ(entry->ratio, one.ratio);
  }
}

TEST(redirect, what_cannot_be_read_is_quoted) {
  struct Case {
    const char* text;
    const char* words;
  };
  const Case cases[] = {
      {"postgres", "\"postgres\" has no colon"},
      {"", "has no colon"},
      {":primary", "names nobody"},
      {"  :1", "names nobody"},
      {"a:", "\"\" in \"a:\" is no node"},
      {"a:master", "\"master\" in \"a:master\" is no node"},
      {"a:128", "is no node"},
      {"a:-1", "is no node"},
      {"a:1x", "is no node"},
      {"a:99999999999999999999", "is no node"},
      {"a:primary(1.1)", "\"1.1\" in \"a:primary(1.1)\" is no ratio"},
      {"a:primary(-0.1)", "is no ratio"},
      {"a:primary(nan)", "is no ratio"},
      {"a:primary(half)", "is no ratio"},
      {"a:primary()", "is no ratio"},
      {"a:primary(0.5", "is no node"},
      {"a:primary 0.5)", "no parenthesis to close"},
      {"(a:primary", "\"(a\" in \"(a:primary\" is no regular expression"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.text);
    const auto entry = parse_redirect(one.text);
    ASSERT_FALSE(entry.has_value());
    EXPECT_NE(entry.error().message.find(one.words), std::string::npos) << entry.error().message;
    EXPECT_EQ(entry.error().sqlstate, "22023");
  }
}

TEST(pattern, is_anchored_and_blind_to_case) {
  const auto pattern = Pattern::compile("app[0-9]+");
  ASSERT_TRUE(pattern.has_value());
  EXPECT_TRUE(pattern->matches("App17"));
  EXPECT_FALSE(pattern->matches("app"));
  EXPECT_FALSE(pattern->matches("myapp1"));
  EXPECT_FALSE(pattern->matches("app1b"));
  EXPECT_TRUE(Pattern::compile("^app$")->matches("APP"));
  EXPECT_FALSE(Pattern::compile("[a").has_value());
}

}  // namespace
}  // namespace weir::config
