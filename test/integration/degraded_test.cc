// Nodes that are down at start, die, freeze and come back: what can be served is served.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

namespace fs = std::filesystem;
using msg::query;

const char* const kRead = "SELECT v FROM plain WHERE id = 1";
const Settings kQuick{{"health_check_period", "1"},      {"health_check_timeout", "2"},
                      {"health_check_max_retries", "0"}, {"connect_timeout", "2000"},
                      {"query_wait_timeout", "3"},       {"statement_level_load_balance", "on"}};

class DegradedTest : public ::testing::Test {
protected:
  // The column of SHOW POOL_NODES for the node.
  static std::string shown(const Pgweir& weir, int node, const std::string& column) {
    Connection client(weir.conninfo());
    const Answer nodes = client.exec("SHOW POOL_NODES");
    const auto at = std::find(nodes.columns.begin(), nodes.columns.end(), column);
    if (at == nodes.columns.end() || nodes.rows.size() <= static_cast<std::size_t>(node))
      return "";
    return nodes
        .rows[static_cast<std::size_t>(node)][static_cast<std::size_t>(at - nodes.columns.begin())]
        .value_or("");
  }
  static bool down(const Pgweir& weir, int node) { return shown(weir, node, "status") == "down"; }
  static bool usable(const Pgweir& weir, int node) {
    const std::string status = shown(weir, node, "status");
    return status == "up" || status == "waiting";
  }
  // Whether reads reach the node.
  static bool reads_reach(Pgweir& weir, int node) {
    Connection client(weir.conninfo());
    for (int i = 0; i < 20; ++i) {
      if (weir.node_of(client, kRead) == node)
        return true;
    }
    return false;
  }

  Cluster cluster_;
};

TEST_F(DegradedTest, a_standby_is_down_at_start_and_comes_later) {
  cluster_.stop(2);
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  ASSERT_TRUE(client.ok()) << client.error();
  expect_soon("node 2 is marked", [&] { return down(weir, 2); });
  expect_soon("reads on node 1", [&] { return weir.node_of(client, kRead) == 1; });
  client.must("INSERT INTO written(v) VALUES ('degraded')");
  EXPECT_FALSE(reads_reach(weir, 2));
  cluster_.start(2);
  expect_soon("node 2 is used again", [&] { return reads_reach(weir, 2); });
  EXPECT_TRUE(usable(weir, 2));
}

TEST_F(DegradedTest, no_node_at_start_then_one_arrives) {
  for (int node = kNodes - 1; node >= 0; --node)
    cluster_.stop(node);
  Pgweir weir(cluster_, kQuick, Pgweir::Unstarted{});
  weir.launch();
  EXPECT_TRUE(weir.wait_ready()) << "it can be asked and stopped while it waits";
  expect_soon("it says that it waits", [&] { return weir.logged("no node can be used"); });
  RawClient early(weir.port());
  early.send(msg::startup({{"user", "app"}, {"database", "app"}}));
  cluster_.start(0);
  const auto answer = early.read(std::chrono::seconds(30));
  ASSERT_TRUE(answer.has_value()) << "who came before the node has waited for it";
  EXPECT_EQ(answer->tag, 'R');
  Connection client(weir.conninfo());
  ASSERT_TRUE(client.ok()) << client.error();
  EXPECT_EQ(client.value(kRead), "row 1");
  client.must("INSERT INTO written(v) VALUES ('the first')");
}

TEST_F(DegradedTest, stops_while_it_waits_for_the_first_node) {
  for (int node = kNodes - 1; node >= 0; --node)
    cluster_.stop(node);
  Pgweir weir(cluster_, kQuick, Pgweir::Unstarted{});
  weir.launch();
  EXPECT_TRUE(weir.wait_ready());
  weir.stop(SIGTERM);
}

TEST_F(DegradedTest, without_any_node_a_client_is_told_so_in_time) {
  for (int node = kNodes - 1; node >= 0; --node)
    cluster_.stop(node);
  Settings settings = kQuick;
  settings["query_wait_timeout"] = "1";
  Pgweir weir(cluster_, settings, Pgweir::Unstarted{});
  weir.launch();
  EXPECT_TRUE(weir.wait_ready());
  RawClient client(weir.port());
  client.send(msg::startup({{"user", "app"}, {"database", "app"}}));
  const auto answer = client.read(std::chrono::seconds(30));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->tag, 'E');
  EXPECT_EQ(answer->field('C'), "57P03");
}

// A frozen server neither answers nor closes: health finds it silent, and its clients are let go.
TEST_F(DegradedTest, a_frozen_standby_holds_nobody) {
  Settings settings = kQuick;
  settings["health_check_timeout"] = "1";
  settings["backend_weight2"] = "0";
  Pgweir weir(cluster_, settings);
  Connection client(weir.conninfo());
  expect_soon("reads on node 1", [&] { return weir.node_of(client, kRead) == 1; });
  cluster_.freeze(1);
  const Answer answer = client.exec(kRead);
  EXPECT_TRUE(answer.ok()) << answer.message << " " << answer.sqlstate;
  EXPECT_FALSE(reads_reach(weir, 1));
  cluster_.thaw(1);
  expect_soon("node 1 is used again", [&] { return reads_reach(weir, 1); });
}

TEST_F(DegradedTest, only_a_standby_at_start) {
  cluster_.stop(0);
  Pgweir weir(cluster_, kQuick);
  // Reads may be served or told why not; a write waits for a primary and then gets an error, never
  // a hang.
  Connection client(weir.conninfo());
  if (client.ok()) {
    const Answer write = client.exec("INSERT INTO written(v) VALUES ('nowhere')");
    EXPECT_FALSE(write.ok());
    EXPECT_NE(write.sqlstate, "");
  } else {
    EXPECT_NE(client.error(), "");
  }
  cluster_.start(0);
  expect_soon("writes", [&] {
    Connection again(weir.conninfo());
    return again.ok() && again.exec("INSERT INTO written(v) VALUES ('at last')").ok();
  });
}

TEST_F(DegradedTest, a_standby_dies_under_readers_who_do_not_notice) {
  Pgweir weir(cluster_, kQuick);
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    ASSERT_TRUE(clients.back()->ok());
    expect_soon("both standbys are used",
                [&] { return weir.node_of(*clients.back(), kRead) == 1; });
    expect_soon("both standbys are used",
                [&] { return weir.node_of(*clients.back(), kRead) == 2; });
  }
  cluster_.kill_hard(1);
  for (int round = 0; round < 30; ++round) {
    for (auto& client : clients) {
      const Answer answer = client->exec(kRead);
      ASSERT_TRUE(answer.ok()) << answer.sqlstate << " " << answer.message;
      ASSERT_EQ(answer.value(), "row 1");
    }
  }
  expect_soon("node 1 is marked", [&] { return down(weir, 1); });
  EXPECT_EQ(clients[0]->value("SELECT 'same connection'"), "same connection");
  cluster_.start(1);
  expect_soon("node 1 is used again", [&] { return reads_reach(weir, 1); });
}

TEST_F(DegradedTest, a_read_whose_server_dies_before_it_answers_runs_elsewhere) {
  Pgweir weir(cluster_, kQuick);
  RawClient client(weir.port());
  client.login();
  Connection warm(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(warm, "SELECT count(pg_sleep(0)) FROM plain WHERE id = 1"));
  client.send(query(
      "/*pgweir: standby*/ SELECT count(pg_sleep(1.5)) FROM plain WHERE id = 1 /* slow read */"));
  expect_soon("it runs", [&] { return !weir.nodes_of("slow read").empty(); });
  const int node = weir.nodes_of("slow read").back();
  ASSERT_GT(node, 0);
  cluster_.kill_hard(node);
  EXPECT_EQ(outline(client.read_to_ready()), "T D:1 C:SELECT 1 Z:I");
  EXPECT_NE(weir.nodes_of("slow read").back(), node);
}

TEST_F(DegradedTest, a_server_that_dies_in_the_middle_of_a_row) {
  Pgweir weir(cluster_, kQuick);
  Connection warm(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(warm, "SELECT v FROM wide WHERE id = 1"));
  RawClient client(weir.port());
  client.login();
  client.send(query("SELECT a.v FROM wide a, wide b /* long answer */"));
  const std::string begun = client.read_bytes(100000);
  EXPECT_FALSE(begun.empty());
  const auto nodes = weir.nodes_of("long answer");
  ASSERT_FALSE(nodes.empty());
  cluster_.kill_hard(nodes.back());
  // What comes is rows, then an error or the end of the connection; never somebody else's data.
  std::string rest;
  for (std::string piece = client.read_bytes(1U << 20U); !piece.empty();
       piece = client.read_bytes(1U << 20U, std::chrono::seconds(10))) {
    rest = piece;
  }
  EXPECT_TRUE(warm.exec(kRead).ok());
}

TEST_F(DegradedTest, the_primary_dies_and_comes_back) {
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  client.must("INSERT INTO written(v) VALUES ('before')");
  ASSERT_TRUE(weir.reaches_standby(client, kRead)); // what it wrote to is known
  Connection in_block(weir.conninfo());
  in_block.must("BEGIN; INSERT INTO written(v) VALUES ('lost')");
  cluster_.kill_hard(0);
  // The open transaction is lost and says so; its connection goes on.
  const Answer lost = in_block.exec("INSERT INTO written(v) VALUES ('lost too')");
  EXPECT_FALSE(lost.ok());
  // Reads go on, on the same connection.
  for (int i = 0; i < 20; ++i) {
    const Answer answer = client.exec(kRead);
    ASSERT_TRUE(answer.ok()) << answer.sqlstate << " " << answer.message;
  }
  // A write waits for a primary and then is told.
  const Answer write = client.exec("INSERT INTO written(v) VALUES ('waits')");
  EXPECT_FALSE(write.ok());
  EXPECT_NE(write.sqlstate, "");
  cluster_.start(0);
  expect_soon("writes again", [&] {
    Connection again(weir.conninfo());
    return again.ok() && again.exec("INSERT INTO written(v) VALUES ('after')").ok();
  });
  EXPECT_EQ(
      Connection(cluster_.conninfo(0)).value("SELECT count(*) FROM written WHERE v LIKE 'lost%'"),
      "0");
}

// What was written is lost with its server or not, but nobody is told that it was committed.
TEST_F(DegradedTest, a_transaction_that_has_written_is_not_opened_anew) {
  Pgweir weir(cluster_, kQuick);
  for (const char* end : {"COMMIT", "INSERT INTO written(v) VALUES ('again')"}) {
    Connection client(weir.conninfo());
    ASSERT_TRUE(weir.reaches_standby(client, kRead));
    client.must("BEGIN");
    client.must("INSERT INTO written(v) VALUES ('frozen')");
    cluster_.freeze(0);
    expect_soon("the primary is marked", [&] { return down(weir, 0); });
    const Answer answer = client.exec(end);
    EXPECT_FALSE(answer.ok()) << answer.tag;
    cluster_.thaw(0);
    expect_soon("the primary is back", [&] { return !down(weir, 0); });
  }
}

TEST_F(DegradedTest, a_client_that_waits_for_the_primary_goes_on_when_it_is_back) {
  Settings patient = kQuick;
  patient["query_wait_timeout"] = "60";
  Pgweir weir(cluster_, patient);
  Connection client(weir.conninfo());
  client.must("INSERT INTO written(v) VALUES ('before')");
  cluster_.kill_hard(0);
  // Until it is known that there is none: before, a write in doubt may be answered with an error.
  expect_soon("the primary is marked", [&] { return down(weir, 0); });
  PQsendQuery(client.raw(), "INSERT INTO written(v) VALUES ('patient')");
  PQflush(client.raw());
  cluster_.start(0);
  const ResultPtr result(PQgetResult(client.raw()));
  EXPECT_EQ(to_answer(result.get()).tag, "INSERT 0 1") << to_answer(result.get()).text();
}

TEST_F(DegradedTest, a_frozen_standby_is_left_out) {
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  cluster_.freeze(2);
  expect_soon("node 2 is marked", [&] { return down(weir, 2); });
  EXPECT_FALSE(reads_reach(weir, 2));
  cluster_.thaw(2);
  expect_soon("node 2 is used again", [&] { return reads_reach(weir, 2); });
}

TEST_F(DegradedTest, all_standbys_gone_means_the_primary_serves_the_reads) {
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  cluster_.kill_hard(1);
  cluster_.kill_hard(2);
  for (int i = 0; i < 20; ++i) {
    const Answer answer = client.exec(kRead);
    ASSERT_TRUE(answer.ok()) << answer.sqlstate << " " << answer.message;
  }
  EXPECT_EQ(weir.node_of(client, kRead), 0);
}

TEST_F(DegradedTest, a_restart_of_a_standby_between_two_statements) {
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  for (int node = 1; node < kNodes; ++node) {
    cluster_.stop(node);
    cluster_.start(node);
    for (int i = 0; i < 10; ++i) {
      const Answer answer = client.exec(kRead);
      ASSERT_TRUE(answer.ok()) << answer.sqlstate << " " << answer.message;
    }
  }
}

TEST_F(DegradedTest, one_terminated_backend_is_no_dead_node) {
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  for (int node = 1; node < kNodes; ++node) {
    Connection super(cluster_.conninfo(node, "postgres", "postgres"));
    super.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
  }
  for (int i = 0; i < 20; ++i) {
    const Answer answer = client.exec(kRead);
    ASSERT_TRUE(answer.ok()) << answer.sqlstate << " " << answer.message;
  }
  EXPECT_TRUE(usable(weir, 1));
  EXPECT_TRUE(usable(weir, 2));
  expect_soon("standbys are read", [&] { return weir.node_of(client, kRead) > 0; });
}

TEST_F(DegradedTest, too_many_clients_at_a_node_is_no_dead_node) {
  Pgweir weir(cluster_, kQuick);
  Connection limited(weir.conninfo("limited"));
  ASSERT_TRUE(limited.ok()) << limited.error();
  // The role may have two connections a node: the third gets the server's own error or waits, and
  // the node stays up.
  std::vector<std::unique_ptr<Connection>> direct;
  for (int i = 0; i < 2; ++i)
    direct.push_back(std::make_unique<Connection>(cluster_.conninfo(1, "limited")));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(limited.exec(kRead).value(), "row 1");
  EXPECT_TRUE(usable(weir, 1));
}

TEST_F(DegradedTest, a_read_does_not_wait_for_a_standby_without_a_free_slot) {
  Settings patient = kQuick;
  patient["query_wait_timeout"] = "60";
  Pgweir weir(cluster_, patient);
  Connection other(weir.conninfo()); // leaves connections to the standbys that could be given up
  expect_soon("reads on node 1", [&] { return weir.node_of(other, kRead) == 1; });
  expect_soon("reads on node 2", [&] { return weir.node_of(other, kRead) == 2; });
  std::vector<std::unique_ptr<Connection>> direct;
  for (int i = 0; i < 4; ++i)
    direct.push_back(std::make_unique<Connection>(cluster_.conninfo(1 + i % 2, "limited")));
  Connection limited(weir.conninfo("limited"));
  ASSERT_TRUE(limited.ok()) << limited.error();
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    const Answer answer = limited.exec(kRead);
    ASSERT_EQ(answer.value(), "row 1") << answer.sqlstate << " " << answer.message;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
  EXPECT_EQ(weir.node_of(limited, kRead), 0);
  direct.clear();
  expect_soon("the standbys are read again", [&] { return weir.node_of(limited, kRead) > 0; });
}

// The only slot is held by an idle connection of the child that the client is not in.
TEST_F(DegradedTest, a_slot_that_another_child_leaves_idle_is_given_up) {
  Settings patient = kQuick;
  patient["query_wait_timeout"] = "60";
  Pgweir weir(cluster_, patient);
  expect_soon("two children", [&] { return weir.processes_named("child").size() == 2; });
  Connection direct(cluster_.conninfo(0, "limited")); // the role may have two
  const auto begun = std::chrono::steady_clock::now();
  auto weight = std::make_unique<Connection>(weir.conninfo());
  for (int i = 0; i < 6; ++i) {
    Connection client(weir.conninfo("limited")); // in the child without WEIGHT
    ASSERT_TRUE(client.ok()) << client.error();
    const Answer answer = client.exec("/*NO LOAD BALANCE*/ SELECT v FROM plain WHERE id = 1");
    ASSERT_EQ(answer.value(), "row 1") << answer.sqlstate << " " << answer.message;
    auto next = std::make_unique<Connection>(weir.conninfo());
    weight = std::move(next);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST_F(DegradedTest, a_promoted_standby_becomes_the_primary) {
  Pgweir weir(cluster_, kQuick);
  Connection client(weir.conninfo());
  client.must("INSERT INTO written(v) VALUES ('before')");
  cluster_.wait_replayed();
  cluster_.stop(0);
  cluster_.promote(1);
  expect_soon("writes on the new primary", [&] {
    Connection again(weir.conninfo());
    return again.ok() && again.exec("INSERT INTO written(v) VALUES ('after')").ok();
  });
  EXPECT_EQ(shown(weir, 1, "role"), "primary");
  EXPECT_EQ(
      Connection(cluster_.conninfo(1)).value("SELECT count(*) FROM written WHERE v = 'after'"),
      "1");
}

} // namespace
} // namespace weir::test
