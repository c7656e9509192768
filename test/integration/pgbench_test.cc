// pgbench in all its modes: nothing fails, no transaction is lost, and reads run on the standbys.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

Output pgbench(const Pgweir& weir, std::vector<std::string> more) {
  SpawnOptions options;
  options.argv = {postgres_bin() + "/pgbench", "-h", "127.0.0.1", "-p",
                  std::to_string(weir.port()), "-U", "app"};
  options.argv.insert(options.argv.end(), more.begin(), more.end());
  options.argv.emplace_back("bench");
  options.as_server_user = false;
  options.environment = {{"LC_ALL", "C.UTF-8"}};
  return run(options);
}

// A run of its own cluster: the tables are written by nobody else.
class PgbenchTest : public ::testing::Test {
protected:
  void SetUp() override {
    const Output made = pgbench(weir_, {"-i", "-q", "-s", "1"});
    ASSERT_EQ(made.code, 0) << made.out;
    cluster_.wait_replayed();
  }
  std::string direct(const std::string& sql) {
    return Connection(cluster_.conninfo(0, "app", "bench")).value(sql);
  }
  std::vector<int> selects() const {
    std::vector<int> per_node(kNodes);
    for (const NodeStatement& s : weir_.statements("SELECT abalance FROM pgbench_accounts")) {
      ++per_node.at(static_cast<std::size_t>(s.node));
    }
    return per_node;
  }

  Cluster cluster_;
  Pgweir weir_{cluster_, {{"statement_level_load_balance", "on"}}};
};

TEST_F(PgbenchTest, initialises_through_pgweir) {
  EXPECT_EQ(direct("SELECT count(*) FROM pgbench_accounts"), "100000");
  EXPECT_EQ(direct("SELECT count(*) FROM pgbench_tellers"), "10");
  const Output again = pgbench(weir_, {"-i", "-I", "dtGvp", "-s", "1"});
  EXPECT_EQ(again.code, 0) << again.out;
  EXPECT_EQ(direct("SELECT count(*) FROM pgbench_accounts"), "100000");
}

TEST_F(PgbenchTest, tpcb_in_every_mode) {
  int transactions = 0;
  for (const char* mode : {"simple", "extended", "prepared"}) {
    SCOPED_TRACE(mode);
    const Output output = pgbench(weir_, {"-n", "-M", mode, "-c", "4", "-j", "2", "-t", "50"});
    EXPECT_EQ(output.code, 0) << output.out;
    EXPECT_NE(output.out.find("actually processed: 200/200"), std::string::npos) << output.out;
    transactions += 200;
    EXPECT_EQ(direct("SELECT count(*) FROM pgbench_history"), std::to_string(transactions));
    EXPECT_EQ(direct("SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) "
                     "FROM pgbench_history)"),
              "t");
    EXPECT_EQ(direct("SELECT (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) "
                     "FROM pgbench_branches)"),
              "t");
  }
  // The read inside each read-write transaction belongs to it.
  EXPECT_EQ(selects(), (std::vector<int>{transactions, 0, 0}));
}

TEST_F(PgbenchTest, select_only_in_every_mode) {
  // The first ones, before the catalogue is known, are the primary's.
  EXPECT_EQ(pgbench(weir_, {"-n", "-S", "-c", "4", "-j", "2", "-t", "100"}).code, 0);
  for (const char* mode : {"simple", "extended", "prepared"}) {
    SCOPED_TRACE(mode);
    const std::vector<int> before = selects();
    const Output output =
        pgbench(weir_, {"-n", "-S", "-M", mode, "-c", "4", "-j", "2", "-t", "100"});
    EXPECT_EQ(output.code, 0) << output.out;
    EXPECT_NE(output.out.find("actually processed: 400/400"), std::string::npos) << output.out;
    const std::vector<int> after = selects();
    EXPECT_EQ(after[0] + after[1] + after[2] - before[0] - before[1] - before[2], 400);
    EXPECT_LT(after[0] - before[0], 20);
    EXPECT_GT(after[1] - before[1], 100);
    EXPECT_GT(after[2] - before[2], 100);
  }
}

TEST_F(PgbenchTest, connecting_for_each_transaction) {
  const Output output = pgbench(weir_, {"-n", "-S", "-C", "-c", "4", "-j", "2", "-t", "50"});
  EXPECT_EQ(output.code, 0) << output.out;
  EXPECT_NE(output.out.find("actually processed: 200/200"), std::string::npos) << output.out;
}

TEST_F(PgbenchTest, pipeline_script) {
  write_file(weir_.folder() + "/pipeline.sql",
             "\\startpipeline\nSELECT abalance FROM pgbench_accounts WHERE aid = 1;\n"
             "UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n"
             "SELECT abalance FROM pgbench_accounts WHERE aid = 2;\n\\endpipeline\n");
  for (const char* mode : {"extended", "prepared"}) {
    const Output output = pgbench(
        weir_, {"-n", "-M", mode, "-f", weir_.folder() + "/pipeline.sql", "-c", "2", "-t", "50"});
    EXPECT_EQ(output.code, 0) << output.out;
  }
  EXPECT_EQ(direct("SELECT bbalance FROM pgbench_branches"), "200");
}

} // namespace
} // namespace weir::test
