#include "lb/effects.h"

#include <gtest/gtest.h>

#include "test/unit/lb/support.h"

namespace weir::lb {
namespace {

using parser::SetAction;
using parser::SetChange;
using parser::SetScope;
using parser::Statement;
using parser::StatementKind;

// FACTS must outlive the result.
Effects of(const parser::StatementFacts& facts) {
  return effects(facts, Resolved{Verdict::Plain, Reason::PlainRead, {}, false, true, false, false, {}});
}

parser::StatementFacts facts_with(StatementKind kind, void (*change)(Statement&)) {
  Statement statement = statement_of(kind);
  if (change != nullptr) change(statement);
  return facts_of(std::move(statement));
}

parser::StatementFacts setting(const std::string& parameter, const std::string& literal,
                               SetScope scope = SetScope::Session, SetAction action = SetAction::Value) {
  Statement statement = statement_of(StatementKind::Set);
  SetChange change;
  change.scope = scope;
  change.action = action;
  change.parameter = parameter;
  change.literal = literal;
  change.has_literal = !literal.empty();
  statement.sets.push_back(change);
  return facts_of(std::move(statement));
}

TEST(Effects, MostStatementsDoNothingToTheSession) {
  for (const StatementKind kind :
       {StatementKind::Empty, StatementKind::Select, StatementKind::CopyOut, StatementKind::CopyOther,
        StatementKind::Show, StatementKind::Set, StatementKind::Reset, StatementKind::SetTransaction,
        StatementKind::Begin, StatementKind::Commit, StatementKind::Rollback, StatementKind::Savepoint,
        StatementKind::Release, StatementKind::RollbackTo, StatementKind::Insert, StatementKind::Update,
        StatementKind::Delete, StatementKind::Merge, StatementKind::Execute, StatementKind::Fetch,
        StatementKind::Notify, StatementKind::Lock, StatementKind::Explain, StatementKind::Vacuum,
        StatementKind::OtherWrite, StatementKind::PoolShow}) {
    const auto facts = facts_with(kind, nullptr);
    EXPECT_TRUE(of(facts).none()) << static_cast<int>(kind);
  }
}

TEST(Effects, UnclassifiedTextMayDoAnything) {
  const auto facts = facts_with(StatementKind::Unknown, nullptr);
  const Effects result = of(facts);
  EXPECT_TRUE(result.opaque_state && result.may_have_temp && result.unusual_isolation && result.changes_catalog);
  EXPECT_TRUE(result.serializable_default && result.catalog_by_tag);
}

TEST(Effects, DoCallLoad) {
  for (const StatementKind kind : {StatementKind::Do, StatementKind::Call, StatementKind::Load}) {
    const auto facts = facts_with(kind, nullptr);
    EXPECT_TRUE(of(facts).opaque_state);
    EXPECT_EQ(of(facts).changes_catalog, kind == StatementKind::Do);
  }
  const auto set_config = facts_with(StatementKind::Select, [](Statement& s) { s.opaque_effects = true; });
  EXPECT_TRUE(of(set_config).opaque_state);
}

TEST(Effects, TempObjects) {
  for (auto* change : {+[](Statement& s) { s.creates_temp = true; }, +[](Statement& s) { s.mentions_temp = true; }}) {
    for (const StatementKind kind : {StatementKind::Ddl, StatementKind::Select, StatementKind::Set}) {
      const auto facts = facts_with(kind, change);
      EXPECT_TRUE(of(facts).may_have_temp);
    }
  }
  const auto discard = facts_with(StatementKind::Discard, [](Statement& s) {
    s.mentions_temp = true;
    s.identifier = "temp";
  });
  EXPECT_FALSE(of(discard).may_have_temp);
}

TEST(Effects, Catalogue) {
  for (const StatementKind kind : {StatementKind::Ddl, StatementKind::TwoPhase}) {
    const auto facts = facts_with(kind, nullptr);
    EXPECT_TRUE(of(facts).changes_catalog);
    EXPECT_FALSE(of(facts).catalog_by_tag);
  }
  const auto into = facts_with(StatementKind::Select, [](Statement& s) { s.select_into = true; });
  EXPECT_TRUE(of(into).changes_catalog);
}

TEST(Effects, StatementsThatRefuseABlock) {
  const auto facts = facts_with(StatementKind::Vacuum, [](Statement& s) { s.no_transaction_block = true; });
  EXPECT_TRUE(of(facts).refuses_block);
}

TEST(Effects, WhatResolvingFoundIsCarriedOver) {
  const auto facts = facts_with(StatementKind::Insert, nullptr);
  Resolved resolved;
  resolved.user_functions = true;
  resolved.session_locks = true;
  resolved.unverified = {{NameUse::Written, {"", "t"}}};
  const Effects result = effects(facts, resolved);
  EXPECT_TRUE(result.opaque_state);
  EXPECT_TRUE(result.session_locks);
  EXPECT_EQ(result.unverified, resolved.unverified);
  EXPECT_FALSE(result.changes_catalog);  // or each call would make all facts unknown
}

TEST(Effects, Isolation) {
  struct Row {
    parser::StatementFacts facts;
    bool unusual;
    bool serializable;
  };
  auto characteristics = setting("session_characteristics", "");
  characteristics.statements[0].transaction.isolation = parser::TransactionModes::Isolation::Serializable;
  const Row rows[] = {
      {setting("default_transaction_isolation", "serializable"), true, true},
      {setting("default_transaction_isolation", ""), true, true},  // DEFAULT, or not a literal
      {setting("default_transaction_isolation", "repeatable read"), true, false},
      {setting("default_transaction_isolation", "read committed"), false, false},
      {setting("default_transaction_isolation", "serializable", SetScope::Local), false, false},
      {setting("default_transaction_isolation", "", SetScope::Session, SetAction::Reset), false, false},
      {setting("default_transaction_read_only", "on"), true, false},
      {setting("default_transaction_deferrable", "on"), true, false},
      {setting("session_characteristics", ""), true, false},
      {characteristics, true, true},
      {setting("", "", SetScope::Session, SetAction::ResetAll), false, false},
      {setting("work_mem", "1MB"), false, false},
  };
  for (const Row& row : rows) {
    const Effects result = of(row.facts);
    EXPECT_EQ(result.unusual_isolation, row.unusual) << row.facts.statements[0].sets[0].parameter;
    EXPECT_EQ(result.serializable_default, row.serializable) << row.facts.statements[0].sets[0].literal;
  }
}

TEST(Effects, NamedChanges) {
  struct Row {
    StatementKind kind;
    const char* identifier;
    bool all;
    bool hold;
    NamedChange change;
    const char* name;
  };
  const Row rows[] = {
      {StatementKind::DeclareCursor, "c", false, false, NamedChange::OpenCursor, "c"},
      {StatementKind::DeclareCursor, "c", false, true, NamedChange::OpenHoldCursor, "c"},
      {StatementKind::CloseCursor, "c", false, false, NamedChange::CloseCursor, "c"},
      {StatementKind::CloseCursor, "", true, false, NamedChange::CloseAllCursors, ""},
      {StatementKind::Prepare, "p", false, false, NamedChange::Prepare, "p"},
      {StatementKind::Deallocate, "p", false, false, NamedChange::Deallocate, "p"},
      {StatementKind::Deallocate, "", true, false, NamedChange::DeallocateAll, ""},
      {StatementKind::Listen, "l", false, false, NamedChange::Listen, "l"},
      {StatementKind::Unlisten, "l", false, false, NamedChange::Unlisten, "l"},
      {StatementKind::Unlisten, "", true, false, NamedChange::UnlistenAll, ""},
      {StatementKind::Discard, "all", true, false, NamedChange::DiscardAll, ""},
      {StatementKind::Discard, "all", false, false, NamedChange::DiscardAll, ""},
      {StatementKind::Discard, "temp", false, false, NamedChange::DiscardTemp, ""},
      {StatementKind::Discard, "plans", false, false, NamedChange::DiscardPlans, ""},
      {StatementKind::Discard, "sequences", false, false, NamedChange::DiscardSequences, ""},
  };
  for (const Row& row : rows) {
    Statement statement = statement_of(row.kind);
    statement.identifier = row.identifier;
    statement.all = row.all;
    statement.with_hold = row.hold;
    const auto facts = facts_of(statement);
    const Effects result = of(facts);
    ASSERT_EQ(result.named.size(), 1U);
    EXPECT_EQ(result.named[0], (NamedEffect{row.change, row.name})) << static_cast<int>(row.change);
    EXPECT_FALSE(result.opaque_state);
  }
}

TEST(Effects, AnUnheardOfDiscardIsOpaque) {
  const auto facts = facts_with(StatementKind::Discard, nullptr);
  EXPECT_TRUE(of(facts).opaque_state);
}

TEST(Effects, NamedChangesKeepTheirOrder) {
  parser::StatementFacts facts;
  for (const char* name : {"a", "b"}) {
    Statement statement = statement_of(StatementKind::DeclareCursor);
    statement.identifier = name;
    facts.statements.push_back(statement);
  }
  Statement close = statement_of(StatementKind::CloseCursor);
  close.all = true;
  facts.statements.push_back(close);
  const Effects result = of(facts);
  ASSERT_EQ(result.named.size(), 3U);
  EXPECT_EQ(result.named[0].name, "a");
  EXPECT_EQ(result.named[1].name, "b");
  EXPECT_EQ(result.named[2].change, NamedChange::CloseAllCursors);
}

TEST(Effects, CommandTags) {
  for (const char* tag : {"SELECT 1", "INSERT 0 1", "UPDATE 5", "DELETE 0", "MERGE 3", "COPY 100", "FETCH 1", "SET",
                          "BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SHOW", "EXPLAIN", "SELECT", "LISTEN"}) {
    EXPECT_FALSE(tag_may_change_catalog(tag)) << tag;
  }
  for (const char* tag : {"CREATE TABLE", "ALTER TABLE", "DROP VIEW", "DO", "CALL", "COMMIT PREPARED", "GRANT", "",
                          "SELECTED 5", "SECURITY LABEL", "INSERTX", "TRUNCATE TABLE", "PREPARE TRANSACTION",
                          "CREATE TABLE AS", "REFRESH MATERIALIZED VIEW"}) {
    EXPECT_TRUE(tag_may_change_catalog(tag)) << tag;
  }
}

}  // namespace
}  // namespace weir::lb
