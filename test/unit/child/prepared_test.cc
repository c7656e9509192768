#include "child/prepared.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "child/batch.h"
#include "child/worker.h"
#include "common/base/wake.h"
#include "common/config/config.h"
#include "common/ledger/ledger.h"
#include "common/shmem/mapping.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

PreparedPtr statement(const std::string& name, std::uint64_t generation = 1, std::string_view sql = "SELECT 1") {
  auto made = std::make_shared<PreparedStatement>();
  made->name = name;
  made->generation = generation;
  wire::encode_parse(made->parse_message, name, sql);
  return made;
}

// A backend that is connected to nothing, and what it takes to have one.
class Prepared : public ::testing::Test {
 protected:
  Prepared() {
    context_.config = std::make_shared<config::Config>();
    auto mapping = shmem::Mapping::create({1, 4, 4, 1U << 20U});
    if (!mapping) std::abort();
    mapping_ = std::move(*mapping);
    context_.mapping = mapping_.get();
    context_.ledger = &ledger_;
    context_.slot = 0;
    context_.sockets = &sockets_;
    context_.wakes = &wakes_;
    worker_ = std::make_unique<Worker>(context_);
    backend_ = std::make_unique<Backend>(*worker_, 0, BackendKey{});
  }

  // The generation that the backend has under NAME; 0: none.
  std::uint64_t there(std::string_view name) const {
    const auto it = backend_->prepared.find(name);
    return it != backend_->prepared.end() ? it->second : 0;
  }
  void succeed() { names_.succeeded(*backend_); }

  static constexpr ledger::LedgerPlan kLedgerPlan = {1, 4};
  std::unique_ptr<shmem::Mapping> mapping_;
  std::vector<std::byte> books_ = std::vector<std::byte>(ledger::Ledger::bytes(kLedgerPlan));
  ledger::Ledger ledger_ = ledger::Ledger::create(books_, kLedgerPlan);
  std::vector<process::ListenSocket> sockets_;
  std::vector<Wake> wakes_;
  process::RoleContext context_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Backend> backend_;
  StatementNames names_;
};

TEST_F(Prepared, WhatSqlHasPreparedIsNoStatementOfTheProtocol) {
  auto made = std::make_shared<PreparedStatement>();
  made->name = "p";
  made->by_sql = true;
  names_.define(std::move(made));
  names_.define(statement("q"));
  EXPECT_NE(names_.find("p"), nullptr);
  EXPECT_EQ(names_.find_parsed("p"), nullptr);
  EXPECT_NE(names_.find_parsed("q"), nullptr);
  EXPECT_TRUE(names_.is_by_sql("p"));
  EXPECT_FALSE(names_.is_by_sql("q"));
  EXPECT_FALSE(names_.is_by_sql("r"));
  names_.close_sent("p", false);
  EXPECT_FALSE(names_.is_by_sql("p"));
  succeed();
  EXPECT_EQ(names_.find("p"), nullptr);
}

TEST(PreparedStatement, TextOfTheMessage) {
  EXPECT_EQ(statement("", 1, "SELECT 1")->text(), "SELECT 1");
  EXPECT_EQ(statement("name", 1, "SELECT $1")->text(), "SELECT $1");
  EXPECT_EQ(statement("name", 1, "")->text(), "");
  EXPECT_EQ(PreparedStatement{}.text(), "") << "the message was not kept";
  PreparedStatement named;
  named.name = "a name";
  EXPECT_EQ(named.text(), "");
}

TEST_F(Prepared, AParseCountsFromWhenItWasSent) {
  const PreparedPtr a = statement("a");
  EXPECT_TRUE(names_.empty());
  names_.parse_sent(a, false);
  EXPECT_FALSE(names_.empty());
  EXPECT_EQ(names_.find("a"), a);
  EXPECT_TRUE(names_.is_pending("a"));
  EXPECT_EQ(there("a"), 0U);
  succeed();
  EXPECT_EQ(names_.find("a"), a);
  EXPECT_FALSE(names_.is_pending("a"));
  EXPECT_EQ(there("a"), 1U);
}

TEST_F(Prepared, ACloseCountsFromWhenItWasSent) {
  names_.parse_sent(statement("a"), false);
  succeed();
  names_.close_sent("a", false);
  EXPECT_EQ(names_.find("a"), nullptr);
  EXPECT_FALSE(names_.is_pending("a")) << "no Parse is under way";
  EXPECT_EQ(there("a"), 1U);
  succeed();
  EXPECT_EQ(names_.find("a"), nullptr);
  EXPECT_EQ(there("a"), 0U);
  EXPECT_TRUE(names_.empty());
}

TEST_F(Prepared, TheNewestOfANameCounts) {
  const PreparedPtr first = statement("a", 1);
  const PreparedPtr second = statement("a", 2);
  names_.parse_sent(first, false);
  names_.close_sent("a", false);
  names_.parse_sent(second, false);
  EXPECT_EQ(names_.find("a"), second);
  succeed();
  EXPECT_EQ(there("a"), 1U);
  EXPECT_EQ(names_.find("a"), second);
  succeed();
  EXPECT_EQ(there("a"), 0U);
  EXPECT_EQ(names_.find("a"), second);
  succeed();
  EXPECT_EQ(there("a"), 2U);
  EXPECT_EQ(names_.find("a"), second);
}

// What pgweir prepares again on another node changes what is there and not what the session has.
TEST_F(Prepared, HiddenOnesAreNotTheSessions) {
  const PreparedPtr a = statement("a", 7);
  names_.parse_sent(a, false);
  succeed();
  backend_->prepared.clear();  // as if on another node
  names_.close_sent("a", true);
  EXPECT_EQ(names_.find("a"), a);
  names_.parse_sent(a, true);
  EXPECT_TRUE(names_.is_pending("a"));
  EXPECT_EQ(names_.find("a"), a);
  succeed();
  EXPECT_EQ(names_.find("a"), a);
  succeed();
  EXPECT_EQ(there("a"), 7U);
  EXPECT_EQ(names_.find("a"), a);
  names_.parse_sent(statement("b"), true);
  EXPECT_EQ(names_.find("b"), nullptr);
  succeed();
  EXPECT_EQ(names_.find("b"), nullptr);
  EXPECT_EQ(there("b"), 1U);
}

TEST_F(Prepared, AnErrorTakesBackWhatTheServerSkipped) {
  const PreparedPtr a = statement("a", 1);
  names_.parse_sent(a, false);
  succeed();
  names_.parse_sent(statement("a", 2), false);  // fails: the name exists
  names_.close_sent("a", false);
  names_.parse_sent(statement("b", 3), false);
  names_.parse_sent(statement("c", 4), false);  // after the Sync
  names_.skipped(3);
  EXPECT_EQ(names_.find("a"), a);
  EXPECT_EQ(names_.find("b"), nullptr);
  EXPECT_NE(names_.find("c"), nullptr);
  succeed();
  EXPECT_EQ(there("a"), 1U);
  EXPECT_EQ(there("b"), 0U);
  EXPECT_EQ(there("c"), 4U);
}

TEST_F(Prepared, MoreAnswersThanQuestionsDoNoHarm) {
  succeed();
  names_.skipped(5);
  names_.parse_sent(statement("a"), false);
  names_.skipped(5);
  succeed();
  EXPECT_TRUE(names_.empty());
  EXPECT_TRUE(backend_->prepared.empty());
}

TEST_F(Prepared, DropPending) {
  const PreparedPtr a = statement("a");
  names_.parse_sent(a, false);
  succeed();
  names_.close_sent("a", false);
  names_.parse_sent(statement("b"), false);
  names_.drop_pending();
  EXPECT_EQ(names_.find("a"), a);
  EXPECT_EQ(names_.find("b"), nullptr);
  EXPECT_FALSE(names_.is_pending("b"));
}

TEST_F(Prepared, Forget) {
  for (const char* name : {"", "a", "b", "c"}) {
    names_.parse_sent(statement(name), false);
    succeed();
  }
  names_.forget_unnamed();
  EXPECT_EQ(names_.find(""), nullptr);
  EXPECT_NE(names_.find("a"), nullptr);
  names_.forget("a");
  names_.forget("never seen");
  EXPECT_EQ(names_.find("a"), nullptr);
  EXPECT_NE(names_.find("b"), nullptr);
  names_.forget_all();
  EXPECT_TRUE(names_.empty());
}

TEST_F(Prepared, PgweirsOwnStatementsAreOnNoServer) {
  names_.define(statement("show", 3));
  EXPECT_NE(names_.find("show"), nullptr);
  EXPECT_FALSE(names_.is_pending("show"));
  EXPECT_TRUE(backend_->prepared.empty());
  const PreparedPtr again = statement("show", 4);
  names_.define(again);
  EXPECT_EQ(names_.find("show"), again);
}

TEST(Batch, HasExecute) {
  Batch batch;
  EXPECT_FALSE(batch.has_execute());
  for (const Sent what : {Sent::Parse, Sent::Bind, Sent::DescribePortal, Sent::Query, Sent::Sync}) batch.items.push_back({.what = what, .name = {}, .statement = {}, .facts = {}});
  EXPECT_FALSE(batch.has_execute());
  batch.items.push_back({.what = Sent::Execute, .name = {}, .statement = {}, .facts = {}});
  EXPECT_TRUE(batch.has_execute());
}

TEST(Batch, ClearLeavesNothing) {
  Batch batch;
  batch.kind = Batch::Kind::Extended;
  batch.end = Batch::End::Oversize;
  batch.length = 10;
  batch.items.resize(3);
  batch.node = 2;
  batch.retained = batch.retried = batch.primary_only = true;
  batch.oversize = 100000;
  batch.clear();
  EXPECT_EQ(batch.kind, Batch::Kind::None);
  EXPECT_EQ(batch.end, Batch::End::Open);
  EXPECT_EQ(batch.length, 0U);
  EXPECT_TRUE(batch.items.empty());
  EXPECT_EQ(batch.node, -1);
  EXPECT_FALSE(batch.retained || batch.retried || batch.primary_only);
  EXPECT_EQ(batch.oversize, 0U);
}

}  // namespace
}  // namespace weir::child
