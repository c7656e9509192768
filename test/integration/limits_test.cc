// Limits of server connections hold over all children, at every moment that the servers show: also while children are
// killed. Everybody is served, and nobody who shares a limit is left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

#include "test/support/load.h"
#include "test/support/pgweir.h"

namespace weir::test {
namespace {

using Moment = std::chrono::steady_clock;

class LimitsTest : public testing::Test {
protected:
  static Settings with(Settings more) {
    Settings settings{{"pool_mode", "'transaction'"}, {"num_init_children", "2"}, {"query_wait_timeout", "60"}, {"log_per_node_statement", "off"}};
    for (const auto& [name, value] : more)
      settings[name] = value;
    return settings;
  }
  // With sections behind the parameters.
  static void start(Pgweir& weir, const std::string& sections) {
    weir.add_file("pgweir.conf", read_file(weir.config_file()) + sections);
    weir.start();
  }
  static void expect_at_most(const Cluster& cluster, int size, const Settings& settings) {
    Pgweir weir(cluster, settings);
    Sampler sampler(cluster);
    Load load;
    load.add(weir.conninfo(), 20);
    EXPECT_TRUE(expect_soon("everybody served", [&] { return load.all_served(5); }));
    load.stop();
    EXPECT_EQ(load.errors(), "");
    sampler.stop();
    EXPECT_LE(sampler.most_of_pool(), size) << sampler.samples() << " samples";
    EXPECT_GE(sampler.most_of_pool(), 1);
  }

  Cluster cluster_; // of its own: what others do would be counted
};

TEST_F(LimitsTest, default_pool_size_1) { expect_at_most(cluster_, 1, with({{"default_pool_size", "1"}})); }
TEST_F(LimitsTest, default_pool_size_2) { expect_at_most(cluster_, 2, with({{"default_pool_size", "2"}})); }
TEST_F(LimitsTest, default_pool_size_5) { expect_at_most(cluster_, 5, with({{"default_pool_size", "5"}})); }
TEST_F(LimitsTest, max_user_connections) { expect_at_most(cluster_, 2, with({{"max_user_connections", "2"}})); }

TEST_F(LimitsTest, reads_alone) {
  Pgweir weir(cluster_, with({{"default_pool_size", "2"}}));
  Sampler sampler(cluster_);
  Load load;
  load.statement = "SELECT 1";
  load.add(weir.conninfo(), 20);
  EXPECT_TRUE(expect_soon("everybody served", [&] { return load.all_served(20); }));
  load.stop();
  EXPECT_EQ(load.errors(), "");
  sampler.stop();
  EXPECT_LE(sampler.most_of_pool(), 2);
}

TEST_F(LimitsTest, while_children_are_killed) {
  for (const int size : {1, 2}) {
    Pgweir weir(cluster_, with({{"default_pool_size", std::to_string(size)}}));
    Sampler sampler(cluster_);
    Load load;
    load.may_break = true;
    load.add(weir.conninfo(), 20);
    for (int round = 0; round < 4; ++round) {
      const int before = load.done(0, 20);
      ASSERT_TRUE(expect_soon("work goes on", [&] { return load.done(0, 20) >= before + 40; }));
      const auto children = weir.processes_named("child");
      ASSERT_FALSE(children.empty());
      ::kill(children[static_cast<std::size_t>(round) % children.size()], SIGKILL);
    }
    const int before = load.done(0, 20);
    EXPECT_TRUE(expect_soon("work goes on", [&] { return load.done(0, 20) >= before + 40; }));
    load.stop();
    sampler.stop();
    EXPECT_LE(sampler.most_of_pool(), size) << sampler.samples() << " samples";
  }
}

// A query of a client that is gone runs on: its place is not free before it ends.
TEST_F(LimitsTest, a_query_that_outlives_its_child) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}, {"num_init_children", "1"}}));
  Sampler sampler(cluster_);
  Connection gone(weir.conninfo());
  ASSERT_EQ(PQsendQuery(gone.raw(), "BEGIN; SELECT pg_sleep(3); COMMIT"), 1);
  PQflush(gone.raw());
  Connection server(cluster_.conninfo(0, "postgres", "postgres"));
  ASSERT_TRUE(expect_soon("it runs", [&] { return server.value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3)%' AND pid <> pg_backend_pid()") == "1"; }));
  for (const pid_t child : weir.processes_named("child"))
    ::kill(child, SIGKILL);
  std::unique_ptr<Connection> next;
  ASSERT_TRUE(expect_soon("another child", [&] {
    next = std::make_unique<Connection>(weir.conninfo());
    return next->ok();
  }));
  next->must("BEGIN");
  next->must("CREATE TABLE IF NOT EXISTS outlived (x int)");
  EXPECT_EQ(server.value("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3)%' AND pid <> pg_backend_pid()"), "0");
  next->must("COMMIT");
  sampler.stop();
  EXPECT_EQ(sampler.most_of_pool(), 1);
}

// The one that was idle longest, and not the one used last.
TEST_F(LimitsTest, server_round_robin) {
  for (const bool round_robin : {false, true}) {
    Pgweir weir(cluster_, with({{"default_pool_size", "3"}, {"num_init_children", "1"}, {"load_balance_mode", "off"}, {"server_round_robin", round_robin ? "on" : "off"}}));
    std::vector<std::unique_ptr<Connection>> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(std::make_unique<Connection>(weir.conninfo()));
      clients.back()->must("BEGIN");
      clients.back()->value("SELECT pg_backend_pid()");
    }
    for (const auto& client : clients)
      client->must("COMMIT");
    std::vector<std::string> pids;
    const auto used = [&] {
      pids.clear();
      for (int i = 0; i < 9; ++i)
        pids.push_back(clients[0]->value("SELECT pg_backend_pid()"));
      return std::set<std::string>(pids.begin(), pids.end()).size();
    };
    // At first it keeps one, until the function is looked up.
    EXPECT_TRUE(expect_soon("in turn", [&] { return used() == (round_robin ? 3U : 1U); })) << used();
    used();
    for (std::size_t i = 3; i < pids.size(); ++i)
      EXPECT_EQ(pids[i], pids[i - 3]);
  }
}

TEST_F(LimitsTest, session_mode) {
  Pgweir weir(cluster_, with({{"pool_mode", "'session'"}, {"default_pool_size", "2"}, {"num_init_children", "2"}}));
  Sampler sampler(cluster_);
  std::vector<std::thread> threads;
  std::atomic<int> served{0};
  for (int i = 0; i < 12; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        Connection client(weir.conninfo());
        if (client.exec("BEGIN; SELECT pg_sleep(0.01); COMMIT").ok())
          ++served;
      }
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(served, 36);
  sampler.stop();
  EXPECT_LE(sampler.most_of_pool(), 2);
}

TEST_F(LimitsTest, sizes_of_sections) {
  Pgweir weir(cluster_, with({{"default_pool_size", "4"}}), Pgweir::Unstarted{});
  start(weir, "[databases]\napp2 = pool_size=3\n[users]\nweir_trust = pool_size=2\n[pools]\nweir_trust.app2 = pool_size=1\n");
  Sampler sampler(cluster_);
  Load load;
  load.add(weir.conninfo("app", "app"), 8);
  load.add(weir.conninfo("app", "app2"), 8);
  load.add(weir.conninfo("weir_trust", "app"), 8);
  load.add(weir.conninfo("weir_trust", "app2"), 8);
  EXPECT_TRUE(expect_soon("everybody served", [&] { return load.all_served(5); }));
  load.stop();
  EXPECT_EQ(load.errors(), "");
  sampler.stop();
  EXPECT_LE(sampler.most_of("app", "app"), 6);
  EXPECT_LE(sampler.most_of("app", "app2"), 3);
  EXPECT_LE(sampler.most_of("weir_trust", "app"), 2);
  EXPECT_EQ(sampler.most_of("weir_trust", "app2"), 1);
  EXPECT_GE(sampler.most_of("app", "app"), 2);
}

TEST_F(LimitsTest, nobody_starves_at_a_shared_limit) {
  Connection(cluster_.conninfo(0, "postgres", "app")).must("CREATE ROLE third LOGIN");
  cluster_.wait_replayed();
  Pgweir weir(cluster_, with({{"max_db_connections", "3"}}));
  Sampler sampler(cluster_);
  Load load;
  for (const char* user : {"app", "weir_trust", "third"})
    load.add(weir.conninfo(user), 6);
  EXPECT_TRUE(expect_soon("everybody served", [&] { return load.all_served(2); }));
  const std::array<int, 3> before{load.done(0, 6), load.done(6, 12), load.done(12, 18)};
  const auto since = Moment::now();
  wait_until([&] { return Moment::now() - since > std::chrono::seconds(6); });
  std::array<int, 3> work{load.done(0, 6) - before[0], load.done(6, 12) - before[1], load.done(12, 18) - before[2]};
  load.stop();
  EXPECT_EQ(load.errors(), "");
  sampler.stop();
  EXPECT_LE(sampler.most_of_database(), 3);
  std::sort(work.begin(), work.end());
  // Equal by the rules (the simulation of the ledger holds them to it); how far apart they are here is the machine's doing too.
  EXPECT_GE(work[0] * 3, work[2]) << work[0] << " " << work[1] << " " << work[2];
}

// Clients that ask for the process that serves them, as fast as they get answers.
class Visitors {
public:
  Visitors(const std::string& conninfo, int clients) {
    for (int i = 0; i < clients; ++i) {
      served_.push_back(std::make_unique<std::atomic<int>>(0));
      threads_.emplace_back([this, conninfo, count = served_.back().get()] {
        Connection client(conninfo);
        while (client.ok() && !stopping_) {
          const std::string pid = client.value("BEGIN; SELECT pg_backend_pid(); COMMIT");
          const std::lock_guard lock(mutex_);
          pids_.insert(pid);
          ++*count;
        }
      });
    }
  }
  ~Visitors() { stop(); }
  void stop() {
    stopping_ = true;
    for (auto& thread : threads_)
      if (thread.joinable())
        thread.join();
  }
  int served() const {
    int sum = 0;
    for (const auto& count : served_)
      sum += *count;
    return sum;
  }
  int least() const {
    int least = 1 << 30;
    for (const auto& count : served_)
      least = std::min<int>(least, *count);
    return least;
  }
  std::size_t processes() {
    const std::lock_guard lock(mutex_);
    return pids_.size();
  }

private:
  std::vector<std::thread> threads_;
  std::vector<std::unique_ptr<std::atomic<int>>> served_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::set<std::string> pids_;
};

// One connection is enough for two children: it goes from one to the other, and nobody logs in for that.
TEST_F(LimitsTest, a_connection_goes_from_child_to_child) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}}));
  Sampler sampler(cluster_);
  Visitors visitors(weir.conninfo(), 8);
  EXPECT_TRUE(expect_soon("everybody served", [&] { return visitors.least() >= 20; }));
  const std::size_t before = visitors.processes();
  const int served = visitors.served();
  const auto since = Moment::now();
  wait_until([&] { return Moment::now() - since > std::chrono::seconds(3); });
  const std::size_t logins = visitors.processes() - before;
  const int later = visitors.served() - served;
  visitors.stop();
  sampler.stop();
  EXPECT_LE(logins, 3U) << later << " served";
  EXPECT_GT(later, 100);
  EXPECT_EQ(sampler.most_of_pool(), 1);
}

// Children that have the same load leave each other alone.
TEST_F(LimitsTest, nobody_logs_in_again_and_again) {
  Pgweir weir(cluster_, with({{"default_pool_size", "6"}}));
  Visitors visitors(weir.conninfo(), 24);
  EXPECT_TRUE(expect_soon("everybody served", [&] { return visitors.least() >= 20; }));
  const std::size_t before = visitors.processes();
  const int served = visitors.served();
  const auto since = Moment::now();
  wait_until([&] { return Moment::now() - since > std::chrono::seconds(4); });
  const std::size_t logins = visitors.processes() - before;
  const int later = visitors.served() - served;
  visitors.stop();
  EXPECT_LE(logins, 2U) << later << " served";
}

TEST_F(LimitsTest, a_stopped_child_keeps_its_connection_and_no_more) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}}));
  Sampler sampler(cluster_);
  Load load;
  load.may_break = true;
  load.add(weir.conninfo(), 12);
  ASSERT_TRUE(expect_soon("everybody served", [&] { return load.all_served(3); }));
  for (int round = 0; round < 6; ++round) {
    const auto children = weir.processes_named("child");
    ASSERT_EQ(children.size(), 2U);
    const pid_t child = children[static_cast<std::size_t>(round) % 2];
    ::kill(child, SIGSTOP);
    const auto since = Moment::now();
    wait_until([&] { return Moment::now() - since > std::chrono::milliseconds(500); });
    ::kill(child, SIGCONT);
    const int before = load.done(0, 12);
    ASSERT_TRUE(expect_soon("work goes on", [&] { return load.done(0, 12) >= before + 40; }));
  }
  load.stop();
  sampler.stop();
  EXPECT_EQ(sampler.most_of_pool(), 1);
}

// The one connection goes from hand to hand every few milliseconds: children are stopped and killed in all moments of that.
TEST_F(LimitsTest, children_stop_and_die_while_they_hand_over) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}}));
  Sampler sampler(cluster_);
  Load load;
  load.may_break = true;
  load.add(weir.conninfo(), 12);
  ASSERT_TRUE(expect_soon("everybody served", [&] { return load.all_served(3); }));
  for (int round = 0; round < 30; ++round) {
    const auto children = weir.processes_named("child");
    if (children.empty())
      continue;
    const pid_t child = children[static_cast<std::size_t>(round) % children.size()];
    ::kill(child, SIGSTOP);
    const auto since = Moment::now();
    wait_until([&] { return Moment::now() - since > std::chrono::milliseconds(round * 7 % 60); });
    ::kill(child, round % 5 == 4 ? SIGKILL : SIGCONT);
    const int before = load.done(0, 12);
    ASSERT_TRUE(expect_soon("work goes on", [&] { return load.done(0, 12) >= before + 3; })) << round;
  }
  const int before = load.done(0, 12);
  EXPECT_TRUE(expect_soon("nothing is lost", [&] { return load.done(0, 12) >= before + 100; }));
  load.stop();
  sampler.stop();
  EXPECT_EQ(sampler.most_of_pool(), 1) << sampler.samples() << " samples";
}

TEST_F(LimitsTest, min_pool_size_over_all_children) {
  Pgweir weir(cluster_, with({{"default_pool_size", "8"}, {"min_pool_size", "3"}}));
  Connection server(cluster_.conninfo(0, "postgres", "postgres"));
  const auto there = [&] { return server.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND datname = 'app' AND application_name <> 'pgweir service'"); };
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    clients.back()->must("/*NO LOAD BALANCE*/ SELECT 1");
  }
  Sampler sampler(cluster_);
  // A child that needs one opens it, although another has some idle: so there may be more than three.
  EXPECT_TRUE(expect_soon("three", [&] { return there() >= "3"; })) << there();
  const auto since = Moment::now();
  wait_until([&] { return Moment::now() - since > std::chrono::seconds(3); });
  sampler.stop();
  EXPECT_LE(sampler.most_of("app", "app"), 6);
  server.must("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app' AND datname = 'app' AND application_name <> 'pgweir service'");
  EXPECT_TRUE(expect_soon("three again", [&] { return there() == "3"; })) << there();
}

TEST_F(LimitsTest, clients_of_a_user_and_of_a_database) {
  Pgweir weir(cluster_, with({{"max_db_client_connections", "3"}}), Pgweir::Unstarted{});
  start(weir, "[users]\nweir_trust = max_user_client_connections=1\n");
  std::vector<std::unique_ptr<Connection>> clients;
  clients.push_back(std::make_unique<Connection>(weir.conninfo("weir_trust")));
  ASSERT_TRUE(clients.back()->ok()) << clients.back()->error();
  Connection second(weir.conninfo("weir_trust"));
  EXPECT_NE(second.error().find("client connections exceeded (max_user_client_connections)"), std::string::npos) << second.error();
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    EXPECT_TRUE(clients.back()->ok()) << clients.back()->error();
  }
  Connection fourth(weir.conninfo());
  EXPECT_NE(fourth.error().find("client connections exceeded (max_db_client_connections)"), std::string::npos) << fourth.error();
  Connection elsewhere(weir.conninfo("app", "app2"));
  EXPECT_TRUE(elsewhere.ok()) << elsewhere.error();
  clients.pop_back();
  EXPECT_TRUE(expect_soon("room", [&] { return Connection(weir.conninfo()).ok(); }));
}

class WaitingTest : public LimitsTest {
protected:
  // Connections in a block, so that each has a server connection of the primary.
  std::vector<std::unique_ptr<Connection>> in_blocks(const Pgweir& weir, int count) {
    std::vector<std::unique_ptr<Connection>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(std::make_unique<Connection>(weir.conninfo()));
      all.back()->must("BEGIN");
      all.back()->must("CREATE TEMP TABLE IF NOT EXISTS held (x int) ON COMMIT DROP");
    }
    return all;
  }
};

TEST_F(WaitingTest, query_wait_timeout_tells_the_limit) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}, {"query_wait_timeout", "1"}}));
  Connection waits(weir.conninfo()); // first: its child then knows what a login needs
  const auto held = in_blocks(weir, 1);
  const Answer answer = waits.exec("CREATE TABLE never (x int)");
  EXPECT_EQ(answer.sqlstate, "53300");
  EXPECT_EQ(answer.message, "query_wait_timeout: no connection to the server came free in time");
  EXPECT_EQ(answer.detail, "All 1 server connections of user \"app\" to database \"app\" on node 0 are in use.");
  EXPECT_NE(answer.hint.find("default_pool_size"), std::string::npos) << answer.hint;
  held[0]->must("COMMIT");
  EXPECT_EQ(waits.value("SELECT 1"), "1");
}

// Who does not end its transaction in time, although there are too many, is ended: with an error that tells why.
TEST_F(WaitingTest, a_lowered_limit_is_enforced) {
  Pgweir weir(cluster_, with({{"default_pool_size", "3"}}));
  Connection server(cluster_.conninfo(0, "postgres", "postgres"));
  const auto there = [&] { return server.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND datname = 'app' AND application_name <> 'pgweir service'"); };
  const auto held = in_blocks(weir, 3);
  ASSERT_EQ(there(), "3");
  weir.set("default_pool_size", "1");
  weir.reload();
  const auto since = Moment::now();
  EXPECT_TRUE(expect_soon("one is left", [&] { return there() == "1"; })) << there();
  EXPECT_GE(Moment::now() - since, std::chrono::seconds(8)) << "there is a time of grace";
  int ended = 0;
  for (const auto& client : held) {
    std::string told;
    for (const Answer& answer : client->exec_all("SELECT 1"))
      told += answer.text();
    if (client->ok())
      continue;
    ++ended;
    for (const std::string& notice : client->notices())
      told += notice;
    EXPECT_NE(told.find("limit that was lowered"), std::string::npos) << told;
  }
  EXPECT_EQ(ended, 2);
}

TEST_F(WaitingTest, query_wait_timeout_of_a_user) {
  Pgweir weir(cluster_, with({{"max_db_connections", "1"}}), Pgweir::Unstarted{});
  start(weir, "[users]\nweir_trust = query_wait_timeout=1\n");
  const auto held = in_blocks(weir, 1);
  Connection waits(weir.conninfo("weir_trust"));
  const std::string told = waits.ok() ? waits.exec("CREATE TEMP TABLE never (x int)").detail : waits.error();
  EXPECT_NE(told.find("All 1 server connections to database \"app\" on node 0 are in use."), std::string::npos) << told;
}

TEST_F(WaitingTest, the_reserve_is_for_those_who_have_waited) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}, {"reserve_pool_size", "1"}, {"reserve_pool_timeout", "1"}, {"query_wait_timeout", "4"}}));
  Sampler sampler(cluster_);
  const auto since = Moment::now();
  const auto held = in_blocks(weir, 2);
  EXPECT_GE(Moment::now() - since, std::chrono::milliseconds(900));
  EXPECT_TRUE(weir.logged("taking connection from reserve_pool"));
  Connection third(weir.conninfo());
  EXPECT_EQ(third.exec("CREATE TEMP TABLE never (x int)").sqlstate, "53300");
  sampler.stop();
  EXPECT_EQ(sampler.most_of_pool(), 2);
}

TEST_F(WaitingTest, pool_mode_of_user_and_database) {
  Pgweir weir(cluster_, with({{"pool_mode", "'session'"}}), Pgweir::Unstarted{});
  start(weir, "[databases]\napp2 = pool_mode=transaction\n[users]\nweir_trust = pool_mode=statement\n");
  const auto block = [&](const std::string& user, const std::string& database) {
    Connection client(weir.conninfo(user, database));
    return client.exec("BEGIN").ok() && client.exec("SELECT 1").ok();
  };
  EXPECT_TRUE(block("app", "app"));
  EXPECT_TRUE(block("app", "app2"));
  EXPECT_FALSE(block("weir_trust", "app"));
  EXPECT_FALSE(block("weir_trust", "app2"));
}

} // namespace
} // namespace weir::test
