// Idle clients are kept as snapshots, and clients of pooling by transaction move to the child that has time: nobody notices.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

// Of all children, by a connection of its own: that one is awake, and counted by nobody else.
long sum_of(const Pgweir& weir, const std::string& column) {
  Connection observer(weir.socket_conninfo());
  const Answer answer = observer.exec("SHOW POOL_PROCESSES");
  long sum = 0;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    if (answer.columns[i] != column) continue;
    for (const Row& row : answer.rows) sum += std::stol(row[i].value_or("0"));
  }
  return sum;
}

bool asleep(const Pgweir& weir, long clients) {
  return expect_soon("clients asleep", [&] { return sum_of(weir, "asleep") >= clients; });
}

std::unique_ptr<Pgweir> started(const Cluster& cluster, const std::string& mode, int children, const Settings& more = {}) {
  Settings settings{{"pool_mode", "'" + mode + "'"}, {"num_init_children", std::to_string(children)}};
  for (const auto& [name, value] : more) settings[name] = value;
  return std::make_unique<Pgweir>(cluster, settings);
}

void cancel(Connection& client) {
  PGcancel* request = PQgetCancel(client.raw());
  char error[256];
  EXPECT_EQ(PQcancel(request, error, sizeof error), 1) << error;
  PQfreeCancel(request);
}

class SleepingTest : public testing::Test {
protected:
  const Cluster& cluster_ = Cluster::shared();
};

TEST_F(SleepingTest, nothing_of_the_session_is_lost) {
  const auto weir = started(cluster_, "transaction", 1);
  Connection client(weir->conninfo());
  client.must("SET work_mem = '3MB'");
  client.must("SET application_name = 'sleeper'");
  EXPECT_TRUE(client.prepare("mine", "SELECT $1::int + 1").ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(asleep(*weir, 1));
    EXPECT_EQ(client.value("SHOW work_mem"), "3MB");
    EXPECT_EQ(client.value("SELECT current_setting('application_name')"), "sleeper");
    EXPECT_EQ(client.exec_prepared("mine", {"41"}).value(), "42");
    EXPECT_EQ(client.exec_params("SELECT 1", {}).value(), "1");
  }
  client.must("RESET work_mem");
  ASSERT_TRUE(asleep(*weir, 1));
  EXPECT_EQ(client.value("SHOW work_mem"), "4MB");
  EXPECT_EQ(client.parameter("application_name"), "sleeper");
  EXPECT_EQ(client.exec_prepared("nobody", {}).sqlstate, "26000");
}

TEST_F(SleepingTest, what_cannot_be_kept_keeps_its_session_awake) {
  const auto weir = started(cluster_, "transaction", 1);
  Connection in_block(weir->conninfo());
  in_block.must("BEGIN");
  in_block.must("CREATE TEMP TABLE mine (x int)");
  Connection prepared(weir->conninfo());
  prepared.must("PREPARE p AS SELECT 7");
  Connection listens(weir->conninfo());
  listens.must("LISTEN somebody");
  Connection sleeps(weir->conninfo());
  sleeps.value("SELECT 1");
  ASSERT_TRUE(asleep(*weir, 1));
  EXPECT_EQ(prepared.value("EXECUTE p"), "7");
  EXPECT_EQ(in_block.value("SELECT count(*) FROM mine"), "0");
  sleeps.must("NOTIFY somebody, 'up'");
  EXPECT_TRUE(expect_soon("notified", [&] {
    PQconsumeInput(listens.raw());
    PGnotify* got = PQnotifies(listens.raw());
    const bool there = got != nullptr;
    PQfreemem(got);
    return there;
  }));
}

TEST_F(SleepingTest, clients_of_session_pooling_sleep_until_they_ask_something) {
  const auto weir = started(cluster_, "session", 1);
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(std::make_unique<Connection>(weir->conninfo()));
  ASSERT_TRUE(asleep(*weir, 4));  // the login of the first has left it a connection
  for (auto& client : clients) EXPECT_EQ(client->value("SELECT 1"), "1");
}

TEST_F(SleepingTest, a_client_that_goes_while_it_sleeps_is_gone) {
  const auto weir = started(cluster_, "transaction", 1);
  auto polite = std::make_unique<Connection>(weir->conninfo());
  auto rude = std::make_unique<RawClient>(weir->port());
  rude->login("app", "app");
  ASSERT_TRUE(asleep(*weir, 2));
  polite.reset();
  rude.reset();
  EXPECT_TRUE(expect_soon("gone", [&] { return sum_of(*weir, "clients") == 1; }));  // who asks
}

// Half a message wakes it, and the other half is understood.
TEST_F(SleepingTest, a_message_in_pieces) {
  const auto weir = started(cluster_, "transaction", 1);
  RawClient client(weir->port());
  client.login("app", "app");
  ASSERT_TRUE(asleep(*weir, 1));
  const std::string question = query("SELECT 'in pieces'");
  for (const char byte : question) {
    client.send(std::string(1, byte));
    std::this_thread::yield();
  }
  EXPECT_EQ(outline(client.read_to_ready()), "T D:in pieces C:SELECT 1 Z:I");
}

TEST_F(SleepingTest, sleepers_are_told_of_the_end) {
  const auto weir = started(cluster_, "transaction", 1);
  RawClient client(weir->port());
  client.login("app", "app");
  ASSERT_TRUE(asleep(*weir, 1));
  weir->stop(SIGINT);
  EXPECT_EQ(outline(client.read_to_ready()), "E:57P01");
}

TEST_F(SleepingTest, client_idle_limit_counts_from_the_last_word) {
  const auto weir = started(cluster_, "transaction", 1, {{"client_idle_limit", "3"}});
  Connection client(weir->conninfo());
  client.value("SELECT 1");
  ASSERT_TRUE(asleep(*weir, 1));
  EXPECT_TRUE(expect_soon("the end", [&] { return !PQconsumeInput(client.raw()) || PQstatus(client.raw()) == CONNECTION_BAD; }));
}

// Clients on two children that have hardly anything to do are brought together on one.
TEST_F(SleepingTest, clients_move_to_the_child_that_has_time) {
  const auto weir = started(cluster_, "transaction", 2);
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<Connection>(weir->conninfo()));
    ASSERT_TRUE(clients.back()->ok()) << clients.back()->error();
    clients.back()->must("SET work_mem = '" + std::to_string(i + 1) + "MB'");
    EXPECT_TRUE(clients.back()->prepare("mine", "SELECT " + std::to_string(i)).ok());
  }
  const auto all_right = [&] {
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(clients[static_cast<std::size_t>(i)]->value("SHOW work_mem"), std::to_string(i + 1) + "MB");
      EXPECT_EQ(clients[static_cast<std::size_t>(i)]->exec_prepared("mine", {}).value(), std::to_string(i));
    }
  };
  EXPECT_TRUE(expect_soon("moved", [&] {
    all_right();
    return sum_of(*weir, "moved_away") >= 1;
  }));
  all_right();
  // A cancel request goes to where the client began, and finds it all the same.
  for (auto& client : clients) {
    ASSERT_EQ(PQsendQuery(client->raw(), "SELECT pg_sleep(60)"), 1);
    PQflush(client->raw());
    EXPECT_TRUE(expect_soon("running", [&] {
      bool runs = false;
      for (int node = 0; node < 3; ++node) {
        runs = runs || Connection(cluster_.conninfo(node, "postgres", "app")).value("SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active'") != "0";
      }
      return runs;
    }));
    cancel(*client);
    const ResultPtr result(PQgetResult(client->raw()));
    EXPECT_EQ(to_answer(result.get()).sqlstate, "57014");
    while (PGresult* rest = PQgetResult(client->raw())) PQclear(rest);
  }
}

// Under load, in all protocol forms, with clients that each check what is theirs.
TEST_F(SleepingTest, clients_that_move_under_load_get_what_is_theirs) {
  const auto weir = started(cluster_, "transaction", 3, {{"default_pool_size", "2"}});
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 9; ++i) {
    threads.emplace_back([&, i] {
      Connection client(weir->conninfo());
      const std::string own = std::to_string(1000 + i);
      if (!client.exec("SET myapp.token = '" + own + "'").ok() || !client.prepare("p", "SELECT current_setting('myapp.token') || $1").ok()) ++wrong;
      while (!stop) {
        if (client.exec("SELECT current_setting('myapp.token')").value() != own) ++wrong;
        if (client.exec_prepared("p", {"x"}).value() != own + "x") ++wrong;
        if (client.exec_params("SELECT $1 || current_setting('myapp.token')", {"y"}).value() != "y" + own) ++wrong;
        if (!client.exec("BEGIN").ok() || client.exec("SELECT current_setting('myapp.token')").value() != own || !client.exec("COMMIT").ok()) ++wrong;
        ++done;
      }
    });
  }
  expect_soon("moved", [&] { return sum_of(*weir, "moved_away") >= 2; });
  const int before = done;
  expect_soon("work goes on", [&] { return done > before + 100; });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A child that dies takes its clients with it, and nobody else's.
TEST_F(SleepingTest, a_child_is_killed_while_clients_move) {
  const auto weir = started(cluster_, "transaction", 2);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::atomic<int> served{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const std::string own = std::to_string(2000 + i);
      while (!stop) {
        Connection client(weir->conninfo());
        if (!client.ok()) continue;
        client.exec("SET myapp.token = '" + own + "'");
        while (!stop) {
          const Answer answer = client.exec("SELECT current_setting('myapp.token')");
          if (!answer.ok()) break;
          if (answer.value() != own) ++wrong;
          ++served;
        }
      }
    });
  }
  for (int round = 0; round < 5; ++round) {
    const int before = served;
    expect_soon("served", [&] { return served > before + 200; });
    const auto children = weir->processes_named("child");
    if (!children.empty()) ::kill(children[static_cast<std::size_t>(round) % children.size()], SIGKILL);
  }
  const int before = served;
  expect_soon("served again", [&] { return served > before + 200; });
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Times a process was woken up, and did not wait for nothing but a lock.
long wake_ups(pid_t pid) {
  const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
  const std::string name = "\nvoluntary_ctxt_switches:";
  return std::stol(status.substr(status.find(name) + name.size()));
}

// A session whose snapshot would be too large stays awake, and is not encoded ten times a second to find that out again.
TEST_F(SleepingTest, one_that_is_too_large_is_left_alone) {
  const auto weir = started(cluster_, "transaction", 1);
  Connection large(weir->conninfo());
  EXPECT_TRUE(large.prepare("mine", "SELECT " + std::string(40000, ' ') + "7").ok());
  EXPECT_EQ(large.exec_prepared("mine", {}).value(), "7");
  const pid_t child = weir->processes_named("child").at(0);
  EXPECT_TRUE(expect_soon("it rests", [&] {
    const long before = wake_ups(child);
    const auto since = std::chrono::steady_clock::now();
    wait_until([&] { return std::chrono::steady_clock::now() - since > std::chrono::seconds(1); });
    return wake_ups(child) - before <= 5;
  }));
  EXPECT_EQ(large.exec_prepared("mine", {}).value(), "7");
}

// A child that has served as many as it may gives the clients that are idle to the one that takes its place, and ends.
TEST_F(SleepingTest, a_child_that_ends_gives_its_clients_away) {
  Pgweir weir(cluster_, {{"pool_mode", "'transaction'"}, {"num_init_children", "1"}, {"child_max_connections", "6"}});
  const pid_t old = weir.processes_named("child").at(0);
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    clients.back()->must("SET work_mem = '3MB'");
  }
  clients[0]->must("BEGIN");
  clients[0]->must("INSERT INTO written(v) VALUES ('stays until COMMIT')");
  EXPECT_TRUE(expect_soon("another child", [&] {
    const auto now = weir.processes_named("child");
    return std::any_of(now.begin(), now.end(), [&](pid_t pid) { return pid != old; });
  }));
  for (int round = 0; round < 3; ++round)
    for (std::size_t i = 1; i < clients.size(); ++i)
      EXPECT_EQ(clients[i]->value("SHOW work_mem"), "3MB");
  EXPECT_TRUE(process_exists(old)) << "one is in a transaction";
  clients[0]->must("COMMIT");
  EXPECT_TRUE(expect_soon("the old child is gone", [&] { return !process_exists(old); }));
  for (const auto& client : clients)
    EXPECT_EQ(client->value("SHOW work_mem"), "3MB");
}

}  // namespace
}  // namespace weir::test
