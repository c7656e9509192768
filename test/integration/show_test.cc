// SHOW POOL_…: Pgpool-II's columns, typed, in both protocols, with the true transaction state.
#include <gtest/gtest.h>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

using Columns = std::vector<std::string>;

class ShowTest : public ::testing::Test {
protected:
  // Pgpool-II's columns come first; ours may follow.
  static void expect_columns(const Answer& answer, const Columns& expected) {
    ASSERT_TRUE(answer.ok()) << answer.message;
    ASSERT_GE(answer.columns.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(answer.columns[i], expected[i]);
  }
  static std::string at(const Answer& answer, std::size_t row, const std::string& column) {
    for (std::size_t i = 0; i < answer.columns.size(); ++i) {
      if (answer.columns[i] == column)
        return answer.rows.at(row).at(i).value_or("");
    }
    return "no such column";
  }

  Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_};
  Connection client_{weir_.conninfo()};
};

TEST_F(ShowTest, pool_nodes) {
  ASSERT_TRUE(weir_.reaches_standby(client_, "SELECT v FROM plain WHERE id = 1"));
  client_.must("INSERT INTO written(v) VALUES ('shown')");
  Answer nodes;
  // A node is "up" instead of "waiting" once the parent has been told of the first use of it.
  expect_soon("node 0 is known to be in use", [&] {
    nodes = client_.exec("SHOW POOL_NODES");
    return nodes.rows.size() == 3U && at(nodes, 0, "status") == "up";
  });
  expect_columns(nodes, {"node_id", "hostname", "port", "status", "pg_status", "lb_weight", "role",
                         "pg_role", "select_cnt", "load_balance_node", "replication_delay",
                         "replication_state", "replication_sync_state", "last_status_change"});
  ASSERT_EQ(nodes.rows.size(), 3U);
  int balance_nodes = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(at(nodes, i, "node_id"), std::to_string(i));
    EXPECT_EQ(at(nodes, i, "hostname"), "127.0.0.1");
    EXPECT_EQ(at(nodes, i, "port"), std::to_string(cluster_.port(static_cast<int>(i))));
    EXPECT_EQ(at(nodes, i, "role"), i == 0 ? "primary" : "standby");
    EXPECT_EQ(at(nodes, i, "lb_weight"), i == 0 ? "0.000000" : "0.500000");
    EXPECT_TRUE(at(nodes, i, "status") == "up" || at(nodes, i, "status") == "waiting")
        << at(nodes, i, "status");
    if (at(nodes, i, "load_balance_node") == "true")
      ++balance_nodes;
  }
  EXPECT_EQ(at(nodes, 0, "status"), "up");
  EXPECT_EQ(balance_nodes, 1);
}

TEST_F(ShowTest, select_counts_grow) {
  ASSERT_TRUE(weir_.reaches_standby(client_, "SELECT v FROM plain WHERE id = 1"));
  const auto count = [this] {
    const Answer nodes = client_.exec("SHOW POOL_NODES");
    return std::stol(at(nodes, 1, "select_cnt")) + std::stol(at(nodes, 2, "select_cnt"));
  };
  const long before = count();
  for (int i = 0; i < 10; ++i)
    client_.must("SELECT v FROM plain WHERE id = 1");
  EXPECT_EQ(count() - before, 10);
}

TEST_F(ShowTest, pool_processes) {
  const Answer processes = client_.exec("show pool_processes");
  expect_columns(processes, {"pool_pid", "start_time", "client_connection_count", "database",
                             "username", "backend_connection_time", "pool_counter", "status"});
  EXPECT_EQ(processes.rows.size(), 2U);
  bool own = false;
  for (std::size_t i = 0; i < processes.rows.size(); ++i) {
    EXPECT_TRUE(process_exists(std::stoi(at(processes, i, "pool_pid"))));
    own = own || at(processes, i, "database") == "app";
  }
  EXPECT_TRUE(own);
}

TEST_F(ShowTest, pool_pools) {
  client_.must("SELECT f_volatile(1)");
  const Answer pools = client_.exec("SHOW POOL_POOLS");
  expect_columns(pools, {"pool_pid", "start_time", "client_connection_count", "pool_id",
                         "backend_id", "database", "username", "backend_connection_time",
                         "client_connection_time", "client_disconnection_time",
                         "client_idle_duration", "majorversion", "minorversion", "pool_counter",
                         "pool_backendpid", "pool_connected", "status", "load_balance_node"});
  bool found = false;
  for (std::size_t i = 0; i < pools.rows.size(); ++i) {
    found = found || (at(pools, i, "database") == "app" && at(pools, i, "username") == "app" &&
                      at(pools, i, "backend_id") == "0");
  }
  EXPECT_TRUE(found);
}

TEST_F(ShowTest, pool_status_and_version) {
  const Answer status = client_.exec("SHOW POOL_STATUS");
  expect_columns(status, {"item", "value", "description"});
  bool port = false;
  for (std::size_t i = 0; i < status.rows.size(); ++i) {
    if (at(status, i, "item") == "port") {
      port = true;
      EXPECT_EQ(at(status, i, "value"), std::to_string(weir_.port()));
    }
    EXPECT_EQ(at(status, i, "value").find("secret"), std::string::npos);
  }
  EXPECT_TRUE(port);
  EXPECT_GT(status.rows.size(), 50U);
  const Answer version = client_.exec("SHOW POOL_VERSION");
  expect_columns(version, {"pool_version"});
  EXPECT_EQ(version.rows.size(), 1U);
}

TEST_F(ShowTest, any_case_blanks_and_semicolon) {
  for (const char* sql :
       {"SHOW POOL_NODES", "show pool_nodes", "  Show  Pool_Nodes ; ", "SHOW pool_nodes;"}) {
    EXPECT_EQ(client_.exec(sql).rows.size(), 3U) << sql;
  }
}

TEST_F(ShowTest, both_protocols_and_types) {
  RawClient client(weir_.port());
  client.login();
  const auto simple = client.ask(query("SHOW POOL_VERSION"));
  ASSERT_EQ(simple.size(), 4U) << outline(simple);
  EXPECT_EQ(simple[2].body, cstring("SELECT 1"));
  const auto extended = client.ask(parse("", "SHOW POOL_VERSION") + bind("", "") +
                                   describe('P', "") + execute("") + sync());
  ASSERT_EQ(extended.size(), 6U) << outline(extended);
  EXPECT_EQ(extended[2].body, simple[0].body);
  EXPECT_EQ(extended[3].body, simple[1].body);
  // The type of a column is a real one.
  const std::string& row = simple[0].body; // count, name, table, attribute, type
  const std::size_t type_at = 2 + std::string("pool_version").size() + 1 + 4 + 2;
  EXPECT_NE(row.substr(type_at, 4), int32(0));
  // Named, described as a statement, executed twice, with a row limit.
  EXPECT_EQ(outline(client.ask(parse("n", "SHOW POOL_NODES") + describe('S', "n") + sync())),
            "1 t T Z:I");
  for (int i = 0; i < 2; ++i) {
    const auto answer = client.ask(bind("", "n") + execute("") + sync());
    EXPECT_EQ(answer.size(), 1U + 3U + 1U + 1U) << outline(answer);
  }
  const auto limited = client.ask(bind("p", "n") + execute("p", 2) + execute("p", 2) + sync());
  ASSERT_EQ(limited.size(), 1U + 2U + 1U + 1U + 1U + 1U) << outline(limited);
  EXPECT_EQ(limited[3].tag, 's');
  EXPECT_EQ(outline(client.ask(close('S', "n") + sync())), "3 Z:I");
}

TEST_F(ShowTest, the_transaction_state_is_true) {
  client_.must("BEGIN");
  EXPECT_EQ(client_.exec("SHOW POOL_NODES").rows.size(), 3U);
  EXPECT_EQ(client_.transaction(), 'T');
  client_.must("INSERT INTO written(v) VALUES ('x')");
  EXPECT_EQ(client_.exec("SHOW POOL_NODES").rows.size(), 3U);
  EXPECT_EQ(client_.transaction(), 'T');
  client_.exec("SELECT 1/0");
  EXPECT_EQ(client_.exec("SHOW POOL_NODES").sqlstate, "25P02");
  EXPECT_EQ(client_.transaction(), 'E');
  client_.must("ROLLBACK");
  EXPECT_EQ(client_.exec("SHOW POOL_NODES").rows.size(), 3U);
  EXPECT_EQ(client_.transaction(), 'I');
}

TEST_F(ShowTest, drivers_see_them_as_any_result) {
  EXPECT_EQ(client_.exec_params("SHOW POOL_NODES", {}).rows.size(), 3U);
  ASSERT_TRUE(client_.prepare("nodes", "SHOW POOL_NODES").ok());
  EXPECT_EQ(client_.exec_prepared("nodes", {}).rows.size(), 3U);
  EXPECT_EQ(client_.exec("SHOW pool_no_such_thing").sqlstate, "42704");
}

} // namespace
} // namespace weir::test
