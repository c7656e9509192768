#include "lb/redirect.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::lb {
namespace {

using To = Redirect::To;

RedirectLists compiled(const RedirectSettings& settings) {
  auto lists = RedirectLists::compile(settings);
  EXPECT_TRUE(lists.has_value());
  return std::move(lists).value();
}

NodeSet set_of(const std::vector<int>& ids) {
  NodeSet set;
  for (const int id : ids) set.set(static_cast<std::size_t>(id));
  return set;
}

TEST(RedirectLists, ApplicationBeforeDatabaseBeforeUser) {
  RedirectSettings settings;
  settings.app_name_redirect_preference_list = {"psql:1", "batch.*:primary"};
  settings.database_redirect_preference_list = {"sales:2(0.5)"};
  settings.user_redirect_preference_list = {"report.*:standby"};
  const RedirectLists lists = compiled(settings);
  EXPECT_FALSE(lists.empty());
  struct Case {
    const char* app_name;
    const char* database;
    const char* user;
    Redirect expected;
  };
  const Case cases[] = {
      {"psql", "sales", "reporter", {To::Node, 1, 1}},
      {"PSQL", "other", "other", {To::Node, 1, 1}},
      {"batch job", "sales", "reporter", {To::Primary, -1, 1}},
      {"psql2", "sales", "reporter", {To::Node, 2, 0.5}},
      {"", "sales", "reporter", {To::Node, 2, 0.5}},
      {"psql2", "sale", "reporter", {To::Standby, -1, 1}},
      {"psql2", "sale", "app", {}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(lists.find(one.app_name, one.database, one.user), one.expected)
        << one.app_name << "/" << one.database << "/" << one.user;
  }
}

TEST(RedirectLists, TheFirstEntryThatMatchesCounts) {
  RedirectSettings settings;
  settings.database_redirect_preference_list = {"a.*:1", "", "ab:2"};
  EXPECT_EQ(compiled(settings).find("x", "ab", "u").node, 1);
}

TEST(RedirectLists, AnApplicationWithoutANameIsInNoList) {
  RedirectSettings settings;
  settings.app_name_redirect_preference_list = {".*:1"};
  EXPECT_EQ(compiled(settings).find("", "d", "u").to, To::None);
  EXPECT_EQ(compiled(settings).find("x", "d", "u").to, To::Node);
}

TEST(RedirectLists, EveryBadEntryIsNamedWithItsParameter) {
  RedirectSettings settings;
  settings.app_name_redirect_preference_list = {"fine:1", "a"};
  settings.database_redirect_preference_list = {"b:nowhere"};
  settings.user_redirect_preference_list = {"(c:1"};
  const auto lists = RedirectLists::compile(settings);
  ASSERT_FALSE(lists.has_value());
  EXPECT_EQ(lists.error().sqlstate, "22023");
  const std::string& detail = lists.error().detail;
  for (const char* part : {"app_name_redirect_preference_list: \"a\"", "database_redirect_preference_list: \"nowhere\"",
                           "user_redirect_preference_list: \"(c\""}) {
    EXPECT_NE(detail.find(part), std::string::npos) << detail;
  }
  EXPECT_EQ(detail.find("fine"), std::string::npos);
  EXPECT_TRUE(compiled({}).empty());
}

// What is left of the allowed nodes by one draw; node 0 is the primary.
TEST(ApplyRedirect, Table) {
  struct Case {
    const char* what;
    Redirect redirect;
    double unit;
    std::vector<int> allowed;
    int node;
    std::vector<int> nodes;
  };
  const Case cases[] = {
      {"none", {}, 0.5, {0, 1, 2}, -1, {0, 1, 2}},
      {"node", {To::Node, 2, 1}, 0.999, {0, 1, 2}, 2, {}},
      {"node, ratio 0", {To::Node, 2, 0}, 0, {0, 1, 2}, -1, {0, 1}},
      {"node, below its ratio", {To::Node, 2, 0.3}, 0.29, {0, 1, 2}, 2, {}},
      {"node, at its ratio", {To::Node, 2, 0.3}, 0.3, {0, 1, 2}, -1, {0, 1}},
      {"node that is not there", {To::Node, 2, 1}, 0.5, {0, 1}, -1, {0, 1}},
      {"node that was never there", {To::Node, 127, 1}, 0.5, {0, 1}, -1, {0, 1}},
      {"node, not it, and no other", {To::Node, 2, 0.3}, 0.5, {2}, 2, {}},
      {"node is the primary", {To::Node, 0, 1}, 0.5, {0, 1, 2}, 0, {}},
      {"primary", {To::Primary, -1, 1}, 0.5, {0, 1, 2}, 0, {}},
      {"primary, not it", {To::Primary, -1, 0.4}, 0.5, {0, 1, 2}, -1, {1, 2}},
      {"primary that is not there", {To::Primary, -1, 1}, 0.5, {1, 2}, -1, {1, 2}},
      {"primary, not it, and no standby", {To::Primary, -1, 0}, 0.5, {0}, 0, {}},
      {"standby", {To::Standby, -1, 1}, 0.5, {0, 1, 2}, -1, {1, 2}},
      {"standby, not it", {To::Standby, -1, 0.4}, 0.5, {0, 1, 2}, 0, {}},
      {"standby, and there is none", {To::Standby, -1, 1}, 0.5, {0}, 0, {}},
      {"standby, not it, and no primary", {To::Standby, -1, 0}, 0.5, {1, 2}, -1, {1, 2}},
      {"nobody at all", {To::Node, 1, 1}, 0.5, {}, -1, {}},
      {"nobody at all", {To::Primary, -1, 1}, 0.5, {}, -1, {}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const RedirectChoice choice = apply_redirect(one.redirect, one.unit, 0, set_of(one.allowed));
    EXPECT_EQ(choice.node, one.node);
    EXPECT_EQ(choice.nodes, set_of(one.nodes));
  }
}

TEST(ApplyRedirect, NeverAddsANode) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    const NodeSet allowed(bits);
    for (const To to : {To::None, To::Primary, To::Standby, To::Node}) {
      for (int node = -1; node < 5; ++node) {
        for (const double unit : {0.0, 0.4, 0.6, 0.99}) {
          for (const int primary : {-1, 0, 2}) {
            const RedirectChoice choice = apply_redirect({to, node, 0.5}, unit, primary, allowed);
            EXPECT_TRUE((choice.nodes & ~allowed).none());
            EXPECT_TRUE(choice.node < 0 || allowed.test(static_cast<std::size_t>(choice.node)));
            EXPECT_EQ(choice.node >= 0 || choice.nodes.any(), allowed.any());
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace weir::lb
