// What clients, queries, transactions and server connections may take, and servers that cannot be reached.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kPid = "SELECT pg_backend_pid()";
const std::string kOnPrimary = "/*NO LOAD BALANCE*/ SELECT pg_backend_pid()";

class TimesTest : public testing::TestWithParam<const char*> {
protected:
  Settings with(Settings more) const {
    Settings settings{{"pool_mode", std::string("'") + GetParam() + "'"}, {"num_init_children", "1"}, {"log_per_node_statement", "off"}};
    for (auto& [name, value] : more)
      settings[name] = value;
    return settings;
  }
  bool lends() const { return std::string_view(GetParam()) == "transaction"; }
  static void start(Pgweir& weir, const std::string& sections) {
    weir.add_file("pgweir.conf", read_file(weir.config_file()) + sections);
    weir.start();
  }
  static Connection server(const Cluster& cluster) { return Connection(cluster.conninfo(0, "postgres", "postgres")); }
  // The first answer: behind a FATAL libpq has one of its own.
  static Answer ask(Connection& client, const std::string& sql) {
    const auto answers = client.exec_all(sql);
    return answers.empty() ? Answer{} : answers.front();
  }
  // The FATAL that ends an idle client, which must come within LEAST and MOST.
  static Message last_words(RawClient& client, milliseconds least, milliseconds most) {
    const auto since = Clock::now();
    auto message = client.read(seconds(30));
    while (message && message->tag != 'E')
      message = client.read(seconds(30));
    const auto took = Clock::now() - since;
    EXPECT_TRUE(message.has_value());
    EXPECT_GE(took, least);
    EXPECT_LE(took, most);
    EXPECT_TRUE(client.wait_closed());
    return message.value_or(Message{});
  }

  const Cluster& cluster_ = Cluster::shared();
};
INSTANTIATE_TEST_SUITE_P(modes, TimesTest, testing::Values("transaction", "session"), [](const auto& one) { return one.param; });

TEST_P(TimesTest, query_timeout) {
  Pgweir weir(cluster_, with({{"query_timeout", "1"}}));
  Connection slow(weir.conninfo());
  Connection other(weir.conninfo());
  const std::string pid = slow.value(kOnPrimary);
  const auto since = Clock::now();
  const Answer answer = ask(slow, "/*NO LOAD BALANCE*/ SELECT pg_sleep(300) /* too slow */");
  EXPECT_GE(Clock::now() - since, milliseconds(990));
  EXPECT_LE(Clock::now() - since, seconds(10));
  EXPECT_EQ(answer.sqlstate, "57014");
  EXPECT_EQ(answer.message, "query timeout");
  EXPECT_EQ(answer.detail.find("query_timeout is 1 s for user \"app\"."), 0U) << answer.detail;
  EXPECT_FALSE(slow.ok()) << "that connection is over";
  Connection direct = server(cluster_);
  EXPECT_TRUE(expect_soon("the server has stopped", [&] { return direct.value("SELECT count(*) FROM pg_stat_activity WHERE pid = " + pid) == "0"; }));
  EXPECT_NE(other.value(kOnPrimary), pid);
  EXPECT_EQ(other.value("SELECT 1"), "1");
}

TEST_P(TimesTest, query_timeout_in_the_middle_of_an_answer) {
  Pgweir weir(cluster_, with({{"query_timeout", "1"}}));
  RawClient client(weir.port());
  client.login();
  // A client that does not read its rows.
  Connection direct = server(cluster_);
  const std::string mark = "unread " + std::to_string(weir.port());
  const std::string count = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%" + mark + " %' AND pid <> pg_backend_pid()";
  client.send(query("/*NO LOAD BALANCE*/ SELECT repeat('x', 1000) FROM generate_series(1, 10000000) /* " + mark + " */"));
  // On a busy machine it may be over before anybody looks: its first bytes show that it ran.
  EXPECT_TRUE(client.read(seconds(30)).has_value());
  EXPECT_TRUE(expect_soon("it is over", [&] { return direct.value(count) == "0"; }));
  EXPECT_TRUE(client.wait_closed());
}

TEST_P(TimesTest, query_timeout_of_a_user_and_by_reload) {
  Pgweir weir(cluster_, with({}), Pgweir::Unstarted{});
  start(weir, "[users]\nweir_trust = query_timeout=1\n");
  Connection limited(weir.conninfo("weir_trust"));
  Connection free(weir.conninfo());
  EXPECT_TRUE(free.exec("SELECT pg_sleep(2.2)").ok());
  EXPECT_EQ(ask(limited, "SELECT pg_sleep(60)").message, "query timeout");
  const std::string before = read_file(weir.config_file());
  weir.add_file("pgweir.conf", "query_timeout = 1\n" + before);
  weir.signal(SIGHUP);
  EXPECT_TRUE(expect_soon("reloaded", [&] { return Connection(weir.conninfo()).value("PGPOOL SHOW query_timeout").find('1') == 0; }));
  EXPECT_EQ(ask(free, "SELECT pg_sleep(60)").sqlstate, "57014") << "a client that was there before";
}

TEST_P(TimesTest, idle_transaction_timeout) {
  Pgweir weir(cluster_, with({{"idle_transaction_timeout", "1"}}));
  for (const bool failed : {false, true}) {
    RawClient client(weir.port());
    client.login();
    client.ask(query("BEGIN"));
    client.ask(query("LOCK TABLE written IN SHARE MODE /* held */"));
    if (failed)
      client.ask(query("SELECT 1/0"));
    const Message words = last_words(client, milliseconds(900), seconds(10));
    EXPECT_EQ(words.field('S'), "FATAL");
    EXPECT_EQ(words.field('C'), "25P03");
    EXPECT_EQ(words.field('M'), "idle transaction timeout");
    EXPECT_TRUE(expect_soon("the lock is gone", [&] {
      return Connection(cluster_.conninfo(0)).value("SELECT count(*) FROM pg_locks WHERE relation = 'written'::regclass AND mode = 'ShareLock'") == "0";
    }));
  }
  // A block that no server has yet is a transaction too; a client that works is not idle.
  RawClient held(weir.port());
  held.login();
  held.ask(query("BEGIN"));
  EXPECT_EQ(last_words(held, milliseconds(900), seconds(10)).field('C'), "25P03");
  Connection works(weir.conninfo());
  works.must("BEGIN");
  works.must("SELECT pg_sleep(1.5)");
  works.must("COMMIT");
}

TEST_P(TimesTest, transaction_timeout) {
  Pgweir weir(cluster_, with({{"transaction_timeout", "2"}}));
  Connection client(weir.conninfo());
  const auto since = Clock::now();
  client.must("BEGIN");
  client.must(kOnPrimary);
  Answer answer;
  do
    answer = ask(client, "SELECT pg_sleep(0.1)");
  while (answer.ok() && Clock::now() - since < seconds(30));
  EXPECT_EQ(answer.sqlstate, "25P04") << answer.text();
  EXPECT_EQ(answer.message, "transaction timeout");
  EXPECT_GE(Clock::now() - since, milliseconds(1990));
  // Many short ones are not a long one.
  Connection short_ones(weir.conninfo());
  const auto begun = Clock::now();
  while (Clock::now() - begun < milliseconds(3500))
    ASSERT_TRUE(short_ones.exec("SELECT pg_sleep(0.05)").ok());
  EXPECT_EQ(ask(short_ones, "SELECT pg_sleep(60)").sqlstate, "25P04") << "a statement is a transaction";
}

TEST_P(TimesTest, client_idle_timeout_of_a_user) {
  Pgweir weir(cluster_, with({}), Pgweir::Unstarted{});
  start(weir, "[users]\nweir_trust = client_idle_timeout=1\n");
  RawClient stays(weir.port());
  stays.login();
  RawClient idle(weir.port());
  idle.login("weir_trust");
  const Message words = last_words(idle, milliseconds(900), seconds(10));
  EXPECT_EQ(words.field('C'), "57P05");
  EXPECT_EQ(words.field('M'), "client_idle_timeout");
  EXPECT_EQ(outline(stays.ask(query("SELECT 1"))), "T D:1 C:SELECT 1 Z:I");
}

TEST_P(TimesTest, who_waits_is_told_and_ended) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}, {"query_wait_notify", "1"}, {"query_wait_timeout", "60"}}), Pgweir::Unstarted{});
  start(weir, "[users]\napp = pool_mode=transaction\n");
  Connection holds(weir.conninfo());
  Connection waits(weir.conninfo());
  holds.must("BEGIN");
  holds.must(kOnPrimary);
  std::thread ends([&] {
    wait_until([&] { return !waits.notices().empty(); }, seconds(20));
    holds.must("COMMIT");
  });
  waits.must(kOnPrimary);
  ends.join();
  ASSERT_EQ(waits.notices().size(), 1U) << "once";
  EXPECT_NE(waits.notices()[0].find("No server connection available in postgres backend, client being queued"), std::string::npos) << waits.notices()[0];
}

class LentTimesTest : public TimesTest {};  // elsewhere the login waits
INSTANTIATE_TEST_SUITE_P(lent, LentTimesTest, testing::Values("transaction"), [](const auto& one) { return one.param; });

TEST_P(LentTimesTest, query_timeout_counts_the_wait) {
  Pgweir weir(cluster_, with({{"default_pool_size", "1"}, {"query_wait_timeout", "60"}}), Pgweir::Unstarted{});
  start(weir, "");
  Connection waits(weir.conninfo());
  Connection holds(weir.conninfo());
  holds.must("BEGIN");
  holds.must(kOnPrimary);
  weir.add_file("pgweir.conf", "query_timeout = 1\n" + read_file(weir.config_file()));
  weir.signal(SIGHUP);
  const Answer answer = ask(waits, kOnPrimary);
  EXPECT_EQ(answer.sqlstate, "57014");
  EXPECT_EQ(answer.message, "query_timeout");
  holds.must("COMMIT");
}

// ------------------------------------------------------------------------------------------------------ server connections

class UpkeepTest : public TimesTest {};
INSTANTIATE_TEST_SUITE_P(lent, UpkeepTest, testing::Values("transaction"), [](const auto& one) { return one.param; });

TEST_P(UpkeepTest, server_lifetime_under_load_harms_nobody) {
  Pgweir weir(cluster_, with({{"default_pool_size", "3"}, {"server_lifetime", "1"}}));
  std::atomic<bool> stop{false};
  std::atomic<int> done{0};
  std::mutex mutex;
  std::set<std::string> pids;
  std::string errors;
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i)
    clients.emplace_back([&] {
      Connection client(weir.conninfo());
      while (!stop) {
        const Answer begun = client.exec("BEGIN; SELECT 1 FROM written WHERE false FOR UPDATE; SELECT pg_backend_pid()");
        const Answer ended = client.exec("SELECT pg_backend_pid(), pg_sleep(0.005)");
        const Answer over = client.exec("COMMIT");
        const std::lock_guard lock(mutex);
        if (!begun.ok() || !ended.ok() || !over.ok() || begun.value() != ended.value())
          errors += begun.text() + " / " + ended.text() + " / " + over.text() + "\n";
        if (!errors.empty())
          return;
        pids.insert(ended.value());
        ++done;
      }
    });
  const auto since = Clock::now();
  EXPECT_TRUE(expect_soon("others take their place", [&] {
    const std::lock_guard lock(mutex);
    return !errors.empty() || (pids.size() > 9 && done > 200 && Clock::now() - since > seconds(4));
  }));
  stop = true;
  for (auto& client : clients)
    client.join();
  EXPECT_EQ(errors, "");
}

TEST_P(UpkeepTest, those_of_one_age_are_closed_one_after_the_other) {
  Pgweir weir(cluster_, with({{"default_pool_size", "3"}}), Pgweir::Unstarted{});
  start(weir, "[databases]\napp2 = server_lifetime=6\n");
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo("app", "app2")));
    clients.back()->must("BEGIN");
    clients.back()->must(kOnPrimary);
  }
  for (auto& client : clients)
    client->must("COMMIT");
  Connection direct = server(cluster_);
  const std::string children = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'app2' AND usename = 'app'";
  ASSERT_EQ(direct.value(children), "3");
  std::vector<Clock::time_point> closed;
  EXPECT_TRUE(expect_soon("all are closed", [&] {
    const int left = std::stoi(direct.value(children));
    while (static_cast<int>(closed.size()) < 3 - left)
      closed.push_back(Clock::now());
    return left == 0;
  }));
  ASSERT_EQ(closed.size(), 3U);
  EXPECT_GE(closed[1] - closed[0], milliseconds(1500));
  EXPECT_GE(closed[2] - closed[1], milliseconds(1500));
}

TEST_P(UpkeepTest, server_check_query) {
  Pgweir weir(cluster_, with({{"server_check_delay", "0"}, {"server_check_query", "'SELECT 1/0'"}}));
  Connection client(weir.conninfo());
  std::set<std::string> pids;
  // One that fails is used no more, and no client hears of it.
  EXPECT_TRUE(expect_soon("another connection each time", [&] {
    pids.insert(client.value(kOnPrimary));
    return pids.size() >= 5;
  }));
  EXPECT_TRUE(weir.logged("server_check_query")) << "... but the log";
  for (const char* good : {"<empty>", "SELECT 1", ""}) {
    weir.set("server_check_query", std::string("'") + good + "'");
    weir.reload();
    client.must("SELECT 1");
    EXPECT_TRUE(expect_soon("one connection for all", [&] {
      const std::string pid = client.value(kOnPrimary);
      return client.value(kOnPrimary) == pid && client.value(kOnPrimary) == pid;
    })) << good;
  }
}

TEST_P(UpkeepTest, server_check_query_of_many_clients) {
  Pgweir weir(cluster_, with({{"server_check_delay", "0"}, {"server_check_query", "'SELECT 1'"}, {"default_pool_size", "2"}}));
  std::atomic<int> done{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      Connection client(weir.conninfo());
      for (int n = 0; n < 30; ++n)
        if (client.exec(n % 2 == 0 ? kPid : kOnPrimary).ok())
          ++done;
    });
  for (auto& client : clients)
    client.join();
  EXPECT_EQ(done, 8 * 30);
}

TEST_P(UpkeepTest, connect_query) {
  Pgweir weir(cluster_, with({}), Pgweir::Unstarted{});
  const std::string parameters = read_file(weir.config_file());
  start(weir, "[databases]\napp = connect_query='SET work_mem = ''7MB'''\napp2 = connect_query='SELECT 1/0'\npostgres = connect_query='BEGIN'\n");
  Connection client(weir.conninfo());
  EXPECT_EQ(client.value("SHOW work_mem"), "7MB");
  EXPECT_EQ(client.value("/*NO LOAD BALANCE*/ SHOW work_mem"), "7MB");
  Connection other(weir.conninfo("app", "app2"));
  EXPECT_EQ(other.value("SELECT 1"), "1") << other.error();
  EXPECT_TRUE(weir.logged("connect_query of database \"app2\" failed on node 0")) << "nobody's error, but logged";
  Connection opened(weir.conninfo("app", "postgres"));
  EXPECT_EQ(opened.value(kOnPrimary + ", now() <> statement_timestamp()").empty(), false) << opened.error();
  EXPECT_EQ(opened.exec(kOnPrimary).ok(), true);
  EXPECT_EQ(opened.transaction(), 'I');
  EXPECT_EQ(server(cluster_).value("SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres' AND usename = 'app' AND state LIKE 'idle in%'"), "0");
  // Connections made by another one are not used any more.
  weir.add_file("pgweir.conf", parameters + "[databases]\napp = connect_query='SET work_mem = ''8MB'''\n");
  weir.signal(SIGHUP);
  EXPECT_TRUE(expect_soon("new connections", [&] { return client.value("/*NO LOAD BALANCE*/ SHOW work_mem") == "8MB"; }));
  EXPECT_EQ(client.value("SHOW work_mem"), "8MB");
}

// The next session on a connection that was reset has it too.
TEST_P(TimesTest, connect_query_holds_for_the_next_session) {
  Pgweir weir(cluster_, with({{"server_reset_query_always", "on"}, {"default_pool_size", "1"}}), Pgweir::Unstarted{});
  start(weir, "[databases]\napp = connect_query='SET work_mem = ''7MB'''\n");
  std::string pid;
  for (int i = 0; i < 3; ++i) {
    Connection client(weir.conninfo());
    EXPECT_EQ(client.value("/*NO LOAD BALANCE*/ SHOW work_mem"), "7MB") << i;
    client.must("SET work_mem = '3MB'");
    const std::string now = client.value("SELECT pg_backend_pid()");
    if (i > 0) {
      EXPECT_EQ(now, pid) << "the same connection, or it shows nothing";
    }
    pid = now;
  }
}

TEST_P(UpkeepTest, connect_query_that_ends_the_connection) {
  Pgweir weir(cluster_, with({{"query_wait_timeout", "2"}}), Pgweir::Unstarted{});
  start(weir, "[databases]\napp2 = connect_query='SELECT pg_terminate_backend(pg_backend_pid())'\n");
  Connection never(weir.conninfo("app", "app2"));
  EXPECT_FALSE(never.ok() && never.exec("SELECT 1").ok());
  Connection other(weir.conninfo());
  EXPECT_EQ(other.value("SELECT 1"), "1") << other.error();
}

TEST_P(UpkeepTest, server_reset_query_always) {
  Pgweir weir(cluster_, with({}));
  Connection client(weir.conninfo());
  Connection direct = server(cluster_);
  const auto last_said = [&] {
    const std::string pid = client.value(kOnPrimary);
    std::string said;
    wait_until([&] {
      const Answer answer = direct.exec("SELECT query FROM pg_stat_activity WHERE state = 'idle' AND pid = " + pid);
      said = answer.value();
      return !said.empty();
    });
    return said;
  };
  EXPECT_EQ(last_said(), kOnPrimary);
  weir.set("server_reset_query_always", "on");
  weir.reload();
  EXPECT_TRUE(expect_soon("reset after each", [&] { return last_said() == "DISCARD ALL"; }));
  EXPECT_EQ(client.value("SELECT 1"), "1");
  client.must("SET work_mem = '9MB'");
  EXPECT_EQ(client.value("SHOW work_mem"), "9MB") << "what the client has set is its own all the same";
}

class FastCloseTest : public TimesTest {};
INSTANTIATE_TEST_SUITE_P(session, FastCloseTest, testing::Values("session"), [](const auto& one) { return one.param; });

TEST_P(FastCloseTest, server_fast_close) {
  Pgweir weir(cluster_, with({}), Pgweir::Unstarted{});
  const std::string parameters = read_file(weir.config_file());
  start(weir, "[databases]\napp = connect_query='SET work_mem = ''7MB'''\n");
  RawClient idle(weir.port());
  idle.login();
  idle.ask(query(kOnPrimary));
  RawClient busy(weir.port());
  busy.login();
  busy.ask(query("BEGIN"));
  busy.ask(query(kOnPrimary));
  weir.add_file("pgweir.conf", parameters + "server_fast_close = on\n[databases]\napp = connect_query='SET work_mem = ''8MB'''\n");
  weir.signal(SIGHUP);
  EXPECT_EQ(last_words(idle, milliseconds(0), seconds(10)).field('M'), "database configuration changed");
  EXPECT_EQ(outline(busy.ask(query("SELECT 1"))), "T D:1 C:SELECT 1 Z:T") << "not in the middle of a transaction";
  EXPECT_TRUE(busy.send(query("COMMIT")));
  EXPECT_EQ(last_words(busy, milliseconds(0), seconds(10)).field('M'), "database configuration changed");
  EXPECT_EQ(Connection(weir.conninfo()).value("/*NO LOAD BALANCE*/ SHOW work_mem"), "8MB");
}

// ------------------------------------------------------------------------------------------- servers that cannot be reached

class UnreachableTest : public testing::Test {
protected:
  static Settings impatient() {
    return {{"pool_mode", "'transaction'"}, {"num_init_children", "1"}, {"query_wait_timeout", "60"}, {"server_login_retry", "2"},
            {"connect_timeout", "1000"}, {"health_check_period", "1"}};
  }
  Cluster cluster_;
};

TEST_F(UnreachableTest, without_any_server_nobody_waits_for_long) {
  Pgweir weir(cluster_, impatient());
  Connection client(weir.conninfo());
  client.must("INSERT INTO written(v) VALUES ('before')");
  for (int node = kNodes - 1; node >= 0; --node)
    cluster_.kill_hard(node);
  Answer answer;
  const auto since = Clock::now();
  EXPECT_TRUE(expect_soon("told why", [&] {
    answer = client.exec("INSERT INTO written(v) VALUES ('nowhere')");
    return answer.message.find("server login has been failing, cached error: ") == 0;
  })) << answer.text();
  EXPECT_EQ(answer.sqlstate, "57P03");
  EXPECT_LE(Clock::now() - since, seconds(25));
  for (int i = 0; i < 20; ++i) {
    const auto asked = Clock::now();
    EXPECT_FALSE(client.exec("INSERT INTO written(v) VALUES ('nowhere')").ok());
    EXPECT_LE(Clock::now() - asked, seconds(4));
  }
  cluster_.start(0);
  EXPECT_TRUE(expect_soon("back", [&] { return client.exec("INSERT INTO written(v) VALUES ('after')").ok(); }));
}

// The kernel takes the connection, and nobody answers. Health is made slow, so that the child is on its own.
TEST_F(UnreachableTest, a_server_that_does_not_answer_a_login) {
  Settings settings = impatient();
  settings["health_check_timeout"] = "60";
  Pgweir weir(cluster_, settings);
  Connection client(weir.conninfo());
  client.must("INSERT INTO written(v) VALUES ('before')");
  cluster_.freeze(0);
  const auto since = Clock::now();
  Connection stranger(weir.conninfo("weir_trust"));
  EXPECT_FALSE(stranger.ok());
  EXPECT_NE(stranger.error().find("server login has been failing, cached error: node 0 did not answer in time (server_login_retry)"), std::string::npos) << stranger.error();
  EXPECT_GE(Clock::now() - since, milliseconds(1900));
  EXPECT_LE(Clock::now() - since, seconds(25));
  cluster_.thaw(0);
  EXPECT_TRUE(expect_soon("back", [&] { return Connection(weir.conninfo("weir_trust")).ok(); }));
}

// The server's process of an idle connection has frozen: server_check_query finds it out, and who waits gets another one.
TEST_F(UnreachableTest, a_check_that_is_not_answered) {
  Settings settings = impatient();
  settings["server_check_delay"] = "0";
  settings["default_pool_size"] = "2";
  settings["admin_users"] = "'postgres'";
  Pgweir weir(cluster_, settings);
  Connection console(weir.conninfo("postgres", "pgweir"));
  Connection client(weir.conninfo());
  Connection other(weir.conninfo());
  client.must("INSERT INTO written(v) VALUES ('before')");
  const auto leases = [&](const std::string& column) {
    const Answer pools = console.exec("SHOW POOLS");
    const auto at = std::find(pools.columns.begin(), pools.columns.end(), column) - pools.columns.begin();
    for (const Row& row : pools.rows)
      if (row[0] == "app" && row[1] == "app")
        return row[static_cast<std::size_t>(at)].value_or("");
    return std::string("none");
  };
  std::string frozen;
  EXPECT_TRUE(expect_soon("both share one", [&] {
    frozen = client.value(kOnPrimary);
    return other.value(kOnPrimary) == frozen;
  }));
  ::kill(std::stoi(frozen), SIGSTOP);
  for (Connection* one : {&client, &other}) {
    const auto since = Clock::now();
    EXPECT_NE(one->value(kOnPrimary), frozen);
    EXPECT_LE(Clock::now() - since, seconds(10)) << "connect_timeout is 1 s";
  }
  EXPECT_EQ(leases("sv_closing"), "1");
  ::kill(std::stoi(frozen), SIGCONT);
  EXPECT_TRUE(expect_soon("its place is free", [&] { return leases("sv_closing") == "0"; }));
}

// Its place stays taken until the server has ended it: with one connection whoever waits is told so in time.
TEST_F(UnreachableTest, a_check_that_is_not_answered_on_the_only_connection) {
  Settings settings = impatient();
  settings["server_check_delay"] = "0";
  settings["default_pool_size"] = "1";
  settings["query_wait_timeout"] = "3";
  Pgweir weir(cluster_, settings);
  Connection client(weir.conninfo());
  std::string frozen;
  EXPECT_TRUE(expect_soon("it is given back", [&] {
    frozen = client.value(kOnPrimary);
    return Connection(weir.conninfo()).value(kOnPrimary) == frozen;
  }));
  ::kill(std::stoi(frozen), SIGSTOP);
  const auto since = Clock::now();
  EXPECT_EQ(client.exec(kOnPrimary).sqlstate, "53300");
  EXPECT_LE(Clock::now() - since, seconds(10));
  ::kill(std::stoi(frozen), SIGCONT);
  EXPECT_TRUE(expect_soon("another one", [&] { return client.exec(kOnPrimary).ok(); }));
}

TEST_F(UnreachableTest, a_short_outage_is_waited_out) {
  Settings settings = impatient();
  settings["server_login_retry"] = "10";
  settings["connect_timeout"] = "10000";
  Pgweir weir(cluster_, settings);
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    ASSERT_TRUE(clients.back()->ok()) << clients.back()->error();
  }
  cluster_.kill_hard(0);
  for (auto& client : clients) {
    PQsendQuery(client->raw(), "INSERT INTO written(v) VALUES ('patient')");
    PQflush(client->raw());
  }
  cluster_.start(0);
  int good = 0;
  for (auto& client : clients) {
    const ResultPtr result(PQgetResult(client->raw()));
    good += to_answer(result.get()).ok() ? 1 : 0;
  }
  EXPECT_GE(good, 38) << "a short outage is waited out; one or two may have been under way when it began";
}

} // namespace
} // namespace weir::test
