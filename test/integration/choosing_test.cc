// Which node a balanced read uses: redirects, delays, loads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

constexpr const char* kRead = "SELECT v FROM plain WHERE id = 1";

std::string named(const Pgweir& weir, const std::string& application_name) {
  return weir.conninfo() + " application_name='" + application_name + "'";
}

TEST(Redirects, reads_of_an_application_go_to_the_named_node) {
  Pgweir weir(Cluster::shared(), {{"app_name_redirect_preference_list",
                                   "'report[0-9]:2,batch:primary,never:1(0.0)'"}});
  Connection first(named(weir, "other"));
  ASSERT_TRUE(weir.reaches_standby(first, kRead));
  for (int i = 0; i < 8; ++i) {
    Connection report(named(weir, "report7"));
    EXPECT_EQ(weir.node_of(report, kRead), 2);
    EXPECT_EQ(weir.node_of(report, "INSERT INTO written(v) VALUES ('redirect')"), 0);
    // Until it is known that the table's triggers and defaults do nothing to the session.
    EXPECT_TRUE(wait_until([&] { return weir.node_of(report, kRead) == 2; }));
    Connection batch(named(weir, "Batch"));
    EXPECT_EQ(weir.node_of(batch, kRead), 0);
    EXPECT_GT(weir.node_of(batch, "/*pgweir: standby*/ SELECT v FROM plain WHERE id = 1"), 0);
    Connection never(named(weir, "never"));
    EXPECT_EQ(weir.node_of(never, kRead), 2); // any node but that one, by weight
  }
}

TEST(Redirects, application_goes_before_database_and_user) {
  Pgweir weir(Cluster::shared(), {{"app_name_redirect_preference_list", "'a:1'"},
                                  {"database_redirect_preference_list", "'app:2'"},
                                  {"user_redirect_preference_list", "'app:primary'"}});
  Connection first(named(weir, "a"));
  ASSERT_TRUE(weir.reaches_standby(first, kRead));
  EXPECT_EQ(weir.node_of(first, kRead), 1);
  Connection second(named(weir, "b"));
  EXPECT_EQ(weir.node_of(second, kRead), 2);
}

TEST(Redirects, the_ratio_is_drawn_for_a_session_or_a_statement) {
  Pgweir weir(Cluster::shared(), {{"database_redirect_preference_list", "'app:primary(0.5)'"}});
  Connection first(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(first, "/*pgweir: standby*/ SELECT v FROM plain WHERE id = 1"));
  int primary = 0;
  for (int i = 0; i < 40; ++i) {
    Connection client(weir.conninfo());
    const int node = weir.node_of(client, kRead);
    EXPECT_EQ(weir.node_of(client, kRead), node);
    if (node == 0)
      ++primary;
  }
  EXPECT_GE(primary, 5);
  EXPECT_LE(primary, 35);
  weir.set("statement_level_load_balance", "on");
  weir.reload();
  Connection client(weir.conninfo());
  primary = 0;
  for (int i = 0; i < 40; ++i) {
    if (weir.node_of(client, kRead) == 0)
      ++primary;
  }
  EXPECT_GE(primary, 5);
  EXPECT_LE(primary, 35);
}

TEST(Redirects, a_bad_entry_is_refused_with_its_place) {
  Pgweir weir(Cluster::shared(), {{"app_name_redirect_preference_list", "'psql:nowhere'"}},
              Pgweir::Unstarted{});
  weir.launch();
  EXPECT_FALSE(weir.wait_ready());
  EXPECT_TRUE(weir.logged(weir.config_file() + ":1: app_name_redirect_preference_list: "
                                               "\"nowhere\" in \"psql:nowhere\" is no node"))
      << weir.log();
}

// Two standbys of which the second can be held back, and a pgweir that looks at their delay each second.
class DelayTest : public ::testing::Test {
protected:
  static Settings settings(const Settings& more) {
    Settings all{{"sr_check_period", "1"},
                 {"backend_application_name1", "'n1'"},
                 {"backend_application_name2", "'n2'"},
                 {"app_name_redirect_preference_list", "'one:1,two:2'"}};
    for (const auto& [name, value] : more)
      all[name] = value;
    return all;
  }
  void SetUp() override {
    cluster_.wait_streaming();
    primary().must("CREATE TABLE IF NOT EXISTS filling(v text)");
    cluster_.wait_replayed();
  }
  Connection primary() const { return Connection(cluster_.conninfo(0, "postgres")); }
  Connection standby(int node) const { return Connection(cluster_.conninfo(node, "postgres")); }
  void hold_back(int node) const { standby(node).must("SELECT pg_wal_replay_pause()"); }
  void let_go(int node) const { standby(node).must("SELECT pg_wal_replay_resume()"); }
  // Half a megabyte of WAL.
  void write() const {
    primary().must("INSERT INTO filling SELECT repeat(md5(i::text), 30) FROM generate_series(1, 500) i");
  }
  static std::string shown(Connection& client, int node, const std::string& column) {
    const Answer answer = client.exec("SHOW POOL_NODES");
    for (std::size_t i = 0; i < answer.columns.size(); ++i) {
      if (answer.columns[i] == column && answer.rows.size() > static_cast<std::size_t>(node))
        return answer.rows[static_cast<std::size_t>(node)][i].value_or("NULL");
    }
    return "no such column";
  }
  // The node of a session's reads settles on NODE.
  static bool settles(Pgweir& weir, Connection& client, int node) {
    return wait_until([&] { return weir.node_of(client, kRead) == node; });
  }

  Cluster cluster_;
};

TEST_F(DelayTest, a_standby_that_is_held_back_leaves_the_reads_and_comes_back) {
  Pgweir weir(cluster_, settings({{"delay_threshold", "10000"}}));
  Connection one(named(weir, "one"));
  Connection two(named(weir, "two"));
  ASSERT_TRUE(settles(weir, one, 1));
  ASSERT_TRUE(settles(weir, two, 2));
  hold_back(2);
  write();
  EXPECT_TRUE(settles(weir, two, 0));
  EXPECT_EQ(weir.node_of(one, kRead), 1);
  const std::string explain = std::string("SHOW ROUTE $$") + kRead + "$$";
  EXPECT_EQ(two.exec(explain).rows.at(0).at(1), "0");
  EXPECT_EQ(one.exec(explain).rows.at(0).at(1), "1");
  EXPECT_EQ(weir.node_of(two, "/*pgweir: standby*/ SELECT v FROM plain WHERE id = 1"), 1);
  EXPECT_EQ(weir.node_of(two, "/*pgweir: node=2*/ SELECT v FROM plain WHERE id = 1"), 0);
  const std::string delay = shown(one, 2, "replication_delay");
  EXPECT_GT(std::atol(delay.c_str()), 100000) << delay;
  EXPECT_NE(shown(one, 2, "reason").find("further behind"), std::string::npos);
  EXPECT_EQ(shown(one, 2, "status"), "up");
  EXPECT_TRUE(wait_until([&] { return shown(one, 1, "replication_delay") == "0"; }));
  EXPECT_EQ(shown(one, 1, "reason"), "");
  EXPECT_EQ(shown(one, 1, "replication_state"), "streaming");
  EXPECT_EQ(shown(one, 1, "replication_sync_state"), "async");
  EXPECT_EQ(shown(one, 0, "replication_delay"), "0");
  EXPECT_TRUE(weir.logged("Replication of node: 2 is behind " + delay + " bytes from the primary server (node: 0)"));
  let_go(2);
  EXPECT_TRUE(settles(weir, two, 2));
  EXPECT_TRUE(wait_until([&] { return shown(one, 2, "reason").empty(); }));
}

TEST_F(DelayTest, prefer_lower_delay_standby_reads_the_other_standby) {
  Pgweir weir(cluster_, settings({{"delay_threshold", "10000"}, {"prefer_lower_delay_standby", "on"}}));
  Connection two(named(weir, "two"));
  ASSERT_TRUE(settles(weir, two, 2));
  hold_back(2);
  write();
  EXPECT_TRUE(settles(weir, two, 1));
  hold_back(1);
  write();
  EXPECT_TRUE(settles(weir, two, 0));
  let_go(1);
  let_go(2);
  EXPECT_TRUE(settles(weir, two, 2));
}

TEST_F(DelayTest, by_time) {
  Pgweir weir(cluster_, settings({{"delay_threshold", "1"}, {"delay_threshold_by_time", "5s"}, {"log_standby_delay", "always"}}));
  Connection two(named(weir, "two"));
  ASSERT_TRUE(settles(weir, two, 2));
  hold_back(2);
  write();
  // Not late yet, though many bytes are missing; it gets late by standing still.
  EXPECT_EQ(weir.node_of(two, kRead), 2);
  EXPECT_TRUE(settles(weir, two, 0));
  const std::string delay = shown(two, 2, "replication_delay");
  EXPECT_NE(delay.find(" second"), std::string::npos) << delay;
  EXPECT_GT(std::atof(delay.c_str()), 5.0) << delay;
  let_go(2);
  EXPECT_TRUE(settles(weir, two, 2));
}

TEST_F(DelayTest, an_idle_primary_never_looks_lagging) {
  Pgweir weir(cluster_, settings({{"delay_threshold_by_time", "1500ms"}}));
  Connection two(named(weir, "two"));
  ASSERT_TRUE(settles(weir, two, 2));
  // Several measurements, for longer than the limit: now() - pg_last_xact_replay_timestamp() grows all the time.
  const std::size_t before = weir.log_size();
  EXPECT_TRUE(wait_until([&] {
    return std::atof(standby(2).value("SELECT extract(epoch FROM now() - pg_last_xact_replay_timestamp())").c_str()) > 5.0;
  }));
  EXPECT_EQ(weir.node_of(two, kRead), 2);
  EXPECT_EQ(shown(two, 2, "replication_delay"), "0.000000 second");
  EXPECT_EQ(weir.log().find("is behind", before), std::string::npos);
}

TEST_F(DelayTest, an_unknown_delay_keeps_reads_away) {
  Pgweir weir(cluster_, settings({{"delay_threshold", "1GB"}, {"sr_check_period", "0"}}));
  Connection client(weir.conninfo());
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(weir.node_of(client, kRead), 0);
  EXPECT_EQ(shown(client, 1, "replication_delay"), "unknown");
  EXPECT_NE(shown(client, 1, "reason").find("not known"), std::string::npos);
  EXPECT_TRUE(weir.logged("sr_check_period is 0"));
  weir.set("sr_check_period", "1");
  weir.reload();
  EXPECT_TRUE(wait_until([&] { return weir.node_of(client, kRead) > 0; }));
}

TEST(Algorithms, least_connections_evens_out_the_sessions) {
  Pgweir weir(Cluster::shared(), {{"load_balance_algorithm", "least_connections"}});
  Connection first(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(first, kRead));
  std::vector<std::unique_ptr<Connection>> sessions;
  std::vector<int> count(kNodes);
  ++count.at(static_cast<std::size_t>(weir.node_of(first, kRead)));
  for (int i = 0; i < 11; ++i) {
    sessions.push_back(std::make_unique<Connection>(weir.conninfo()));
    ++count.at(static_cast<std::size_t>(weir.node_of(*sessions.back(), kRead)));
  }
  EXPECT_EQ(count, (std::vector<int>{0, 6, 6}));
}

TEST(Algorithms, least_latency_leaves_a_slow_node) {
  Pgweir weir(Cluster::shared(), {{"load_balance_algorithm", "least_latency"},
                                  {"statement_level_load_balance", "on"},
                                  {"num_init_children", "1"}});
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  const char* slow = "/*pgweir: node=2*/ SELECT pg_sleep(0.03)";
  ASSERT_TRUE(wait_until([&] { return weir.node_of(client, slow) == 2; }));
  // Node 2 takes its time with every read that a hint sends there.
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(weir.node_of(client, slow), 2);
    ASSERT_EQ(weir.node_of(client, "/*pgweir: node=1*/ SELECT v FROM plain WHERE id = 1"), 1);
  }
  std::vector<int> count(kNodes);
  for (int i = 0; i < 20; ++i)
    ++count.at(static_cast<std::size_t>(weir.node_of(client, kRead)));
  EXPECT_EQ(count[0], 0);
  EXPECT_GE(count[1], 14);
}

} // namespace
} // namespace weir::test
