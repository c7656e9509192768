// Connections to the servers: reused, cleaned, limited, closed in time; waiting in a fair queue
// when there is none.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

// Uses database app2, which no test of the shared cluster but these touches, so that connections
// can be counted.
class PoolingTest : public ::testing::Test {
protected:
  std::unique_ptr<Connection> connect(const Pgweir& weir, const std::string& more = "",
                                      const std::string& user = "app") {
    auto connection = std::make_unique<Connection>(weir.conninfo(user, "app2") + " " + more);
    EXPECT_TRUE(connection->ok()) << connection->error();
    return connection;
  }
  // Connections of clients (not pgweir's own) at the node.
  int backends(int node, const std::string& user = "app") {
    Connection super(cluster_.conninfo(node, "postgres", "postgres"));
    return std::stoi(
        super.value("SELECT count(*) FROM pg_stat_activity WHERE datname = 'app2' AND usename = '" +
                    user + "'"));
  }
  // Until a connection that a client has left is clean and free.
  void wait_idle(int node = 0) {
    expect_soon("the connection is free", [&] {
      Connection super(cluster_.conninfo(node, "postgres", "postgres"));
      return super.value("SELECT count(*) FROM pg_stat_activity WHERE datname = 'app2' AND usename "
                         "= 'app' AND "
                         "(state <> 'idle' OR query NOT LIKE 'DISCARD%')") == "0";
    });
  }
  static void ask_later(Connection& connection, const std::string& sql) {
    EXPECT_EQ(PQsendQuery(connection.raw(), sql.c_str()), 1);
    PQflush(connection.raw());
  }
  static bool answered(Connection& connection,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(0)) {
    pollfd what{connection.socket(), POLLIN, 0};
    return ::poll(&what, 1, static_cast<int>(patience.count())) > 0;
  }
  static Answer collect(Connection& connection) {
    Answer last;
    while (PGresult* raw = PQgetResult(connection.raw())) {
      const ResultPtr result(raw);
      last = to_answer(result.get());
    }
    return last;
  }

  static constexpr const char* kWrite = "SELECT pg_backend_pid()"; // of the primary
  Cluster cluster_;
};

TEST_F(PoolingTest, connections_are_reused) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  std::set<std::string> pids;
  for (int i = 0; i < 10; ++i) {
    auto client = connect(weir);
    pids.insert(client->value(kWrite));
    client.reset();
    wait_idle();
  }
  EXPECT_EQ(pids.size(), 1U);
  EXPECT_EQ(backends(0), 1);
}

TEST_F(PoolingTest, a_node_is_connected_when_it_is_first_needed) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  auto client = connect(weir);
  EXPECT_EQ(client->value(kWrite).empty(), false);
  EXPECT_EQ(backends(1) + backends(2), 0);
  EXPECT_TRUE(weir.reaches_standby(*client, "SELECT v FROM plain WHERE id = 1"));
  EXPECT_EQ(backends(1) + backends(2), 1);
}

TEST_F(PoolingTest, a_waiting_client_gets_53300_with_the_cause) {
  Pgweir weir(cluster_,
              {{"num_init_children", "1"}, {"max_pool", "2"}, {"query_wait_timeout", "1"}});
  auto first = connect(weir);
  auto second = connect(weir);
  EXPECT_NE(first->value(kWrite), second->value(kWrite));
  EXPECT_EQ(backends(0), 2);
  const auto start = std::chrono::steady_clock::now();
  Connection third(weir.conninfo("app", "app2")); // may be told at login or at its first statement
  std::string sqlstate;
  std::string text;
  if (third.ok()) {
    const Answer answer = third.exec(kWrite);
    sqlstate = answer.sqlstate;
    text = answer.message + answer.detail + answer.hint;
  } else {
    text = third.error();
    sqlstate = text.find("53300") != std::string::npos || text.find("max_pool") != std::string::npos
                   ? "53300"
                   : "?";
  }
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(sqlstate, "53300") << text;
  EXPECT_NE(text.find("max_pool"), std::string::npos) << text;
  EXPECT_GE(took, std::chrono::milliseconds(900));
  EXPECT_LT(took, std::chrono::seconds(10));
  EXPECT_EQ(backends(0), 2);
  // The others never noticed, and a place that becomes free is there for the next.
  first->must("SELECT 1");
  first.reset();
  auto fourth = connect(weir);
  EXPECT_TRUE(fourth->exec(kWrite).ok());
}

TEST_F(PoolingTest, waiting_clients_are_served_in_order) {
  Pgweir weir(cluster_,
              {{"num_init_children", "1"}, {"max_pool", "1"}, {"query_wait_timeout", "60"}});
  auto holder = connect(weir);
  holder->must(kWrite);
  // Logged in while the pair is known; each then waits for its first statement.
  std::vector<std::unique_ptr<Connection>> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.push_back(connect(weir));
    ask_later(*waiting.back(), kWrite);
    EXPECT_FALSE(answered(*waiting.back(),
                          std::chrono::milliseconds(50))); // also keeps the order of arrival
  }
  holder.reset();
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    EXPECT_TRUE(answered(*waiting[i], kPatience)) << i;
    EXPECT_TRUE(collect(*waiting[i]).ok());
    for (std::size_t later = i + 1; later < waiting.size(); ++later)
      EXPECT_FALSE(answered(*waiting[later])) << later;
    waiting[i].reset();
  }
}

TEST_F(PoolingTest, a_waiting_client_can_be_cancelled_and_can_go) {
  Pgweir weir(cluster_,
              {{"num_init_children", "1"}, {"max_pool", "1"}, {"query_wait_timeout", "60"}});
  auto holder = connect(weir);
  holder->must(kWrite);
  auto cancelled = connect(weir);
  ask_later(*cancelled, kWrite);
  EXPECT_FALSE(answered(*cancelled, std::chrono::milliseconds(100)));
  std::string error(256, '\0');
  PGcancel* cancel = PQgetCancel(cancelled->raw());
  EXPECT_EQ(PQcancel(cancel, error.data(), static_cast<int>(error.size())), 1) << error;
  PQfreeCancel(cancel);
  EXPECT_TRUE(answered(*cancelled, kPatience));
  EXPECT_EQ(collect(*cancelled).sqlstate, "57014");
  auto gone = connect(weir);
  ask_later(*gone, kWrite);
  gone.reset();
  holder.reset();
  EXPECT_TRUE(cancelled->exec(kWrite).ok());
}

TEST_F(PoolingTest, a_read_whose_standby_is_full_uses_the_primary) {
  Pgweir weir(cluster_, {{"num_init_children", "1"},
                         {"max_pool", "2"},
                         {"backend_weight2", "0"},
                         {"query_wait_timeout", "5"}});
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  auto first = connect(weir);
  EXPECT_TRUE(weir.reaches_standby(*first, read));
  auto second = connect(weir);
  EXPECT_EQ(weir.node_of(*second, read), 1);
  // The primary has room for these, the standby not.
  first->must("DISCARD TEMP");
  auto third = connect(weir);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(third->exec(read).value(), "app2 1");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST_F(PoolingTest, nothing_of_a_session_reaches_the_next) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  std::string pid;
  {
    auto client = connect(weir);
    pid = client->value("SELECT pg_backend_pid()");
    client->must("SET work_mem = '3MB'; SET my.secret = 'mine'; SET search_path = nowhere");
    client->must("CREATE TEMP TABLE left_over (i int)");
    client->must("PREPARE left_over AS SELECT 1");
    ASSERT_TRUE(client->prepare("named", "SELECT 2").ok());
    client->must("DECLARE left_over CURSOR WITH HOLD FOR SELECT 1");
    client->must("LISTEN left_over; SELECT pg_advisory_lock(77)");
    client->must("CREATE SEQUENCE IF NOT EXISTS public.seq; SELECT nextval('public.seq')");
  }
  expect_soon("the connection is free", [&] {
    return Connection(cluster_.conninfo(0, "postgres", "app2"))
               .value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0";
  });
  auto next = connect(weir);
  EXPECT_EQ(next->value("SELECT pg_backend_pid()"), pid);
  EXPECT_EQ(next->value("SHOW work_mem"), "4MB");
  EXPECT_NE(next->exec("SHOW my.secret").value(), "mine");
  EXPECT_EQ(next->value("SHOW search_path"), "\"$user\", public");
  EXPECT_EQ(next->exec("SELECT * FROM left_over").sqlstate, "42P01");
  EXPECT_EQ(next->exec("EXECUTE left_over").sqlstate, "26000");
  EXPECT_EQ(next->exec_prepared("named", {}).sqlstate, "26000");
  EXPECT_EQ(next->exec("FETCH 1 FROM left_over").sqlstate, "34000");
  EXPECT_EQ(next->value("SELECT count(*) FROM pg_listening_channels()"), "0");
  EXPECT_EQ(next->exec("SELECT lastval()").sqlstate, "55000");
}

TEST_F(PoolingTest, an_open_transaction_ends_with_its_client) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  {
    auto client = connect(weir);
    client->must("BEGIN; INSERT INTO plain VALUES (1000, 'never')");
  }
  {
    RawClient client(weir.port()); // goes without a word, in the middle of a statement
    client.login("app", "app2");
    client.ask(query("BEGIN; INSERT INTO plain VALUES (1001, 'never')"));
    client.send(query("SELECT pg_sleep(2)"));
  }
  expect_soon("no transaction is open", [&] {
    return Connection(cluster_.conninfo(0, "postgres", "app2"))
               .value("SELECT count(*) FROM pg_stat_activity WHERE datname = 'app2' AND usename = "
                      "'app' AND (state <> 'idle')") == "0";
  });
  EXPECT_EQ(connect(weir)->value("SELECT count(*) FROM plain WHERE id >= 1000"), "0");
}

TEST_F(PoolingTest, unlike_startup_parameters_do_not_share_and_the_oldest_gives_way) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"max_pool", "2"}});
  const auto visit = [&](const std::string& options) {
    const std::string pid = connect(weir, options)->value("SELECT pg_backend_pid()");
    wait_idle();
    return pid;
  };
  const std::string plain = visit("");
  // SET cannot change this one, so it is part of the key.
  const std::string special = visit("options='-c ignore_system_indexes=on'");
  EXPECT_NE(special, plain);
  EXPECT_EQ(
      connect(weir, "options='-c ignore_system_indexes=on'")->value("SHOW ignore_system_indexes"),
      "on");
  wait_idle();
  EXPECT_EQ(visit(""), plain);
  // A third key has no room: the connection that was used longest ago goes.
  const std::string third = visit("options='-c local_preload_libraries='");
  expect_soon("two connections", [&] { return backends(0) <= 2; });
  EXPECT_EQ(visit(""), plain);
  EXPECT_NE(visit("options='-c ignore_system_indexes=on'"), special);
}

TEST_F(PoolingTest, what_set_can_change_is_no_part_of_the_key) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}});
  const std::string pid = connect(weir)->value("SELECT pg_backend_pid()");
  wait_idle();
  auto other = connect(weir, "application_name=elsewhere options='-c work_mem=5MB'");
  EXPECT_EQ(other->value("SELECT pg_backend_pid()"), pid);
  EXPECT_EQ(other->value("SHOW work_mem"), "5MB");
  EXPECT_EQ(other->value("SHOW application_name"), "elsewhere");
  other->must("SET work_mem = '6MB'; RESET work_mem");
  EXPECT_EQ(other->value("SHOW work_mem"), "5MB");
  other->must("DISCARD ALL");
  EXPECT_EQ(other->value("SHOW work_mem"), "5MB");
  EXPECT_EQ(other->value("SHOW application_name"), "elsewhere");
  other.reset();
  EXPECT_EQ(connect(weir)->value("SHOW work_mem"), "4MB");
}

TEST_F(PoolingTest, connection_life_time) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"connection_life_time", "1"}});
  auto used = connect(weir);
  used->must(kWrite);
  connect(weir)->must(kWrite);
  expect_soon("the idle connection is closed", [&] { return backends(0) == 1; });
  EXPECT_TRUE(used->exec(kWrite).ok());
}

TEST_F(PoolingTest, connection_max_age) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"connection_max_age", "1"}});
  connect(weir)->must(kWrite);
  expect_soon("the old connection is closed", [&] { return backends(0) == 0; });
  EXPECT_TRUE(connect(weir)->exec(kWrite).ok());
}

TEST_F(PoolingTest, child_max_connections_drains_a_child_and_cuts_nobody) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"child_max_connections", "5"}});
  expect_soon("the child", [&] { return weir.processes_named("child").size() == 1; });
  const auto before = weir.processes_named("child");
  auto staying = connect(weir);
  staying->must(kWrite);
  for (int i = 0; i < 6; ++i)
    EXPECT_TRUE(connect(weir)->exec(kWrite).ok());
  expect_soon("another child", [&] {
    const auto now = weir.processes_named("child");
    return std::any_of(now.begin(), now.end(), [&](pid_t pid) { return pid != before.at(0); });
  });
  EXPECT_TRUE(staying->exec(kWrite).ok());
  staying.reset();
  expect_soon("the old child is gone", [&] { return !process_exists(before.at(0)); });
  EXPECT_TRUE(connect(weir)->exec(kWrite).ok());
}

TEST_F(PoolingTest, child_life_time_renews_idle_children) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"child_life_time", "1"}});
  expect_soon("the child", [&] { return weir.processes_named("child").size() == 1; });
  const auto before = weir.processes_named("child");
  connect(weir)->must(kWrite);
  expect_soon("a new child", [&] {
    const auto now = weir.processes_named("child");
    return now.size() == 1 && now != before;
  });
  EXPECT_TRUE(connect(weir)->exec(kWrite).ok());
}

TEST_F(PoolingTest, client_idle_limit) {
  Pgweir weir(cluster_, {{"num_init_children", "1"}, {"client_idle_limit", "1"}});
  RawClient idle(weir.port());
  idle.login("app", "app2");
  auto busy = connect(weir);
  ask_later(*busy, "SELECT pg_sleep(3)");
  const auto last_words = idle.read(std::chrono::seconds(20));
  if (last_words) {
    EXPECT_EQ(last_words->tag, 'E');
    EXPECT_EQ(last_words->field('S'), "FATAL");
    EXPECT_EQ(last_words->field('C').substr(0, 2), "57");
  }
  EXPECT_TRUE(idle.wait_closed(std::chrono::seconds(20)));
  EXPECT_TRUE(collect(*busy).ok()); // a statement under way is not idleness
}

TEST_F(PoolingTest, max_client_conn_and_reserved_connections) {
  Pgweir weir(
      cluster_,
      {{"num_init_children", "2"}, {"max_client_conn", "6"}, {"reserved_connections", "2"}});
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 4; ++i)
    clients.push_back(connect(weir));
  // Refused by number 53300, and with the limit named.
  RawClient refused(weir.port());
  refused.send(startup({{"user", "app"}, {"database", "app2"}}));
  const auto answer = refused.read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->tag, 'E');
  EXPECT_EQ(answer->field('C'), "53300");
  EXPECT_NE((answer->field('M') + answer->field('D') + answer->field('H')).find("max_client_conn"),
            std::string::npos)
      << answer->field('M') << answer->field('D') << answer->field('H');
  EXPECT_TRUE(refused.wait_closed());
  clients.pop_back();
  expect_soon("room again", [&] { return Connection(weir.conninfo("app", "app2")).ok(); });
}

TEST_F(PoolingTest, cancel_arrives_at_any_child) {
  Pgweir weir(cluster_, {{"num_init_children", "4"}});
  RawClient sleeper(weir.port());
  sleeper.login("app", "app2");
  RawClient bystander(weir.port());
  bystander.login("app", "app2");
  for (int round = 0; round < 6; ++round) {
    sleeper.send(query("SELECT pg_sleep(60)"));
    bystander.send(query("SELECT pg_sleep(1)"));
    // A wrong key does nothing.
    RawClient(weir.port()).send(cancel_request(sleeper.backend_pid, "xxxx"));
    pollfd what{sleeper.fd(), POLLIN, 0};
    EXPECT_TRUE(wait_until([&] {
      RawClient canceller(weir.port());
      canceller.send(cancel_request(sleeper.backend_pid, sleeper.backend_secret));
      EXPECT_TRUE(canceller.wait_closed());
      return ::poll(&what, 1, 300) > 0;
    }));
    EXPECT_EQ(outline(sleeper.read_to_ready()), "T E:57014 Z:I");
    EXPECT_EQ(outline(bystander.read_to_ready()), "T D: C:SELECT 1 Z:I");
    // A late cancel may hit the next statement, never one after it has been answered for long.
    wait_until([&] { return outline(sleeper.ask(query("SELECT 1"))) == "T D:1 C:SELECT 1 Z:I"; });
  }
}

TEST_F(PoolingTest, a_thousand_idle_clients) {
  Pgweir weir(cluster_, {{"num_init_children", "2"}, {"max_client_conn", "1200"}});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(std::make_unique<RawClient>(weir.port()));
    clients.back()->login("app", "app2");
  }
  // Logged in, they hold no connection to a server.
  EXPECT_LE(backends(0), 4);
  long ticks = 0;
  for (const pid_t pid : weir.processes_named("child"))
    ticks -= cpu_ticks(pid);
  std::this_thread::sleep_for(std::chrono::seconds(2)); // idleness has no condition to wait for
  for (const pid_t pid : weir.processes_named("child"))
    ticks += cpu_ticks(pid);
  EXPECT_LE(ticks, 6);
  for (int i = 0; i < 1000; i += 50) {
    EXPECT_EQ(outline(clients[static_cast<std::size_t>(i)]->ask(query("SELECT 1"))),
              "T D:1 C:SELECT 1 Z:I");
    clients[static_cast<std::size_t>(i)].reset();
  }
}

TEST_F(PoolingTest, clients_spread_over_the_children) {
  Pgweir weir(cluster_, {{"num_init_children", "4"}});
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 80; ++i)
    clients.push_back(connect(weir));
  // Each child has connected sockets; counted through the descriptors of the processes.
  const Answer pools = clients[0]->exec("SHOW POOL_PROCESSES");
  ASSERT_TRUE(pools.ok()) << pools.message;
  std::set<std::string> busy;
  for (const Row& row : pools.rows) {
    if (!row.at(3).value_or("").empty())
      busy.insert(row.at(0).value_or(""));
  }
  EXPECT_EQ(busy.size(), 4U);
}

} // namespace
} // namespace weir::test
