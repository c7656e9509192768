#include "lb/explain.h"

#include <gtest/gtest.h>

#include "test/unit/lb/support.h"

namespace weir::lb {
namespace {

using parser::StatementKind;

TEST(ExplainNames, each_use_once_with_what_is_known) {
  FakeCatalog catalog;
  catalog.table("public", "t");
  catalog.view("public", "v");
  catalog.user_function("public", "f");
  parser::Statement one = statement_of(StatementKind::Select);
  one.relations = {{"", "t"}, {"", "v"}, {"", "new"}};
  one.functions = {{"", "f"}};
  parser::Statement two = statement_of(StatementKind::Insert);
  two.relations = {{"", "t"}};
  two.written_relations = {{"", "t"}};
  parser::StatementFacts facts = facts_of(one);
  facts.statements.push_back(two);
  const std::vector<std::string> path{"public"};
  const ResolveInput input{"db", path, true, false};
  const Policy policy;
  const auto names = explain_names(facts, input, policy, catalog, 100);
  ASSERT_EQ(names.size(), 5U);
  EXPECT_EQ(names[0].verdict, Verdict::Plain);
  EXPECT_EQ(names[1].reason, Reason::NotPlainRelation);
  EXPECT_EQ(names[2].verdict, Verdict::Unknown);
  EXPECT_EQ(names[3].reason, Reason::UserFunction);
  EXPECT_EQ(names[3].use, NameUse::Function);
  EXPECT_EQ(names[4].use, NameUse::Written);
  EXPECT_EQ(explain_names(facts, input, policy, catalog, 2).size(), 2U);
}

TEST(ExplainSession, says_all_that_counts) {
  SessionRouting session;
  EXPECT_TRUE(explain_session(session).empty());
  session.may_have_temp = session.pinned = true;
  session.transaction_status = 'T';
  const auto words = explain_session(session);
  ASSERT_EQ(words.size(), 3U);
  EXPECT_EQ(words[0], "a transaction is open on the primary");
  EXPECT_EQ(words[1], "it may have temporary objects");
}

TEST(ScopeText, words) {
  Target target;
  EXPECT_EQ(scope_text(target), "primary");
  target.scope = Scope::AnyReadable;
  EXPECT_EQ(scope_text(target), "any");
  target.prefer_standby = true;
  EXPECT_EQ(scope_text(target), "standby");
  target.scope = Scope::SameNode;
  EXPECT_EQ(scope_text(target), "same node");
}

}  // namespace
}  // namespace weir::lb
