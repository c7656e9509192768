// The admin console: what it shows over all children, who may use it, and limits that are set while clients work.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "test/support/load.h"
#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using Moment = std::chrono::steady_clock;

using Values = std::map<std::string, std::string>;
std::vector<Values> rows_of(const Answer& answer) {
  std::vector<Values> rows;
  for (const Row& row : answer.rows) {
    Values values;
    for (std::size_t i = 0; i < row.size(); ++i)
      values[answer.columns[i]] = row[i].value_or("");
    rows.push_back(std::move(values));
  }
  return rows;
}

class ConsoleTest : public testing::Test {
protected:
  static Settings with(Settings more) {
    Settings settings{{"pool_mode", "'transaction'"},
                      {"admin_users", "'postgres'"},
                      {"stats_users", "'app'"},
                      {"query_wait_timeout", "60"},
                      {"log_per_node_statement", "off"}};
    for (const auto& [name, value] : more)
      settings[name] = value;
    return settings;
  }
  static std::string admin(const Pgweir& weir) { return weir.conninfo("postgres", "pgweir"); }
  static std::vector<Values> show(Connection& console, const std::string& what) {
    const Answer answer = console.exec("SHOW " + what);
    EXPECT_TRUE(answer.ok()) << what << ": " << answer.text();
    return rows_of(answer);
  }
  static Values pool(Connection& console, const std::string& user, const std::string& database) {
    for (const Values& row : show(console, "POOLS"))
      if (row.at("user") == user && row.at("database") == database)
        return row;
    return {};
  }
  // The process that has this connection of the console.
  static pid_t child_of(Connection& console) {
    for (const Values& row : show(console, "CLIENTS"))
      if (row.at("id") == std::to_string(PQbackendPID(console.raw())))
        return std::stoi(row.at("child"));
    return 0;
  }
  static pid_t other_child(const Pgweir& weir, pid_t not_this) {
    for (const pid_t pid : weir.processes_named("child"))
      if (pid != not_this)
        return pid;
    return 0;
  }
};

const char* const kShows[] = {"CLIENTS", "SERVERS", "POOLS", "DATABASES", "USERS", "LISTS", "LEASES", "STATS", "STATS_TOTALS",
                              "STATS_AVERAGES", "TOTALS", "CONFIG", "STATE", "VERSION"};

TEST_F(ConsoleTest, every_show_in_both_protocols) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection client(weir.conninfo());
  client.must("SELECT 1");
  for (const char* database : {"pgweir", "pgbouncer"}) {
    Connection console(weir.conninfo("postgres", database));
    ASSERT_TRUE(console.ok()) << console.error();
    EXPECT_EQ(console.value("SHOW VERSION"), "pgweir 0.1.0");
    for (const char* what : kShows) {
      const Answer simple = console.exec(std::string("SHOW ") + what);
      const Answer extended = console.exec_params(std::string("SHOW ") + what, {});
      EXPECT_TRUE(simple.ok()) << what << simple.text();
      EXPECT_FALSE(simple.rows.empty()) << what;
      EXPECT_EQ(simple.tag, "SHOW");
      EXPECT_EQ(simple.columns, extended.columns) << what;
      EXPECT_EQ(simple.rows.size(), extended.rows.size()) << what;
    }
    EXPECT_TRUE(console.exec("SHOW HELP").ok());
    EXPECT_NE(console.notices().back().find("Console usage"), std::string::npos);
    EXPECT_TRUE(console.prepare("p", "SHOW LISTS").ok());
    EXPECT_FALSE(console.prepare("p", "SHOW LISTS").ok());
    EXPECT_EQ(console.exec_prepared("p", {}).rows.size(), console.exec_prepared("p", {}).rows.size());
  }
}

TEST_F(ConsoleTest, binary_results) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection client(weir.conninfo());
  client.must("SELECT 1");
  Connection console(admin(weir));
  const ResultPtr lists(PQexecParams(console.raw(), "SHOW LISTS", 0, nullptr, nullptr, nullptr, nullptr, 1));
  ASSERT_EQ(PQresultStatus(lists.get()), PGRES_TUPLES_OK) << console.error();
  EXPECT_EQ(PQgetlength(lists.get(), 0, 1), 4);
  const ResultPtr stats(PQexecParams(console.raw(), "SHOW STATS_TOTALS", 0, nullptr, nullptr, nullptr, nullptr, 1));
  ASSERT_EQ(PQresultStatus(stats.get()), PGRES_TUPLES_OK) << console.error();
  EXPECT_EQ(PQftype(stats.get(), 1), 1700U);
  EXPECT_GE(PQgetlength(stats.get(), 0, 1), 8);
}

TEST_F(ConsoleTest, who_may_do_what) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection stats(weir.conninfo("app", "pgweir"));
  ASSERT_TRUE(stats.ok()) << stats.error();
  EXPECT_FALSE(show(stats, "LISTS").empty());
  EXPECT_EQ(stats.exec("SET USER app = 'pool_size=1'").sqlstate, "42501");
  EXPECT_FALSE(show(stats, "LISTS").empty());
  Connection nobody(weir.conninfo("weir_check", "pgweir"));
  EXPECT_FALSE(nobody.ok());
  EXPECT_NE(nobody.error().find("not allowed"), std::string::npos) << nobody.error();
  Connection stranger(weir.conninfo("pgweir", "pgweir"));
  EXPECT_FALSE(stranger.ok());
}

TEST_F(ConsoleTest, the_servers_own_user_over_a_unix_socket_with_psql) {
  Pgweir weir(Cluster::shared(), with({}));
  const auto psql = [&](const std::string& user, const std::string& command, bool as_server_user) {
    SpawnOptions options;
    options.argv = {postgres_bin() + "/psql", "-X", "-w", "-h", weir.folder(), "-p", std::to_string(weir.port()), "-U", user, "-d", "pgbouncer", "-Atc", command};
    options.as_server_user = as_server_user;
    return run(options);
  };
  EXPECT_EQ(psql("pgbouncer", "SHOW VERSION", true).out, "pgweir 0.1.0\n");
  EXPECT_EQ(psql("pgweir", "SET USER nobody = 'pool_size=3'", true).out, "SET\n");
  EXPECT_NE(psql("pgweir", "SHOW LIMITS", true).out.find("user|nobody||3"), std::string::npos);
  if (run_as().other) {
    EXPECT_NE(psql("pgweir", "SHOW VERSION", false).out.find("not allowed"), std::string::npos);
  }
}

TEST_F(ConsoleTest, a_password_of_pool_passwd_without_any_server) {
  Pgweir weir(Cluster::shared(), with({{"admin_users", "'boss'"}}), Pgweir::Unstarted{});
  weir.add_file("pool_passwd", "boss:secret\n");
  weir.start();
  EXPECT_TRUE(Connection(weir.conninfo("boss", "pgweir") + " password=secret").ok());
  Connection wrong(weir.conninfo("boss", "pgweir") + " password=wrong");
  EXPECT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().find("password authentication failed"), std::string::npos) << wrong.error();
}

TEST_F(ConsoleTest, counts_over_all_children) {
  Pgweir weir(Cluster::shared(), with({{"default_pool_size", "5"}}));
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo() + " application_name=c" + std::to_string(i)));
    clients.back()->must("SELECT 1");
  }
  Connection console(admin(weir));
  EXPECT_EQ(pool(console, "app", "app")["cl_active"], "20");
  EXPECT_EQ(pool(console, "app", "app")["pool_size"], "5");
  EXPECT_EQ(pool(console, "app", "app")["pool_mode"], "transaction");
  std::set<std::string> children;
  std::set<std::string> names;
  std::set<std::string> pointers;
  for (const Values& row : show(console, "CLIENTS")) {
    children.insert(row.at("child"));
    names.insert(row.at("application_name"));
    EXPECT_TRUE(pointers.insert(row.at("ptr")).second);
  }
  EXPECT_EQ(children.size(), 2U);
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(names.contains("c" + std::to_string(i)));
  for (const Values& row : show(console, "SERVERS"))
    EXPECT_TRUE(pointers.insert(row.at("ptr")).second);
  clients.resize(3);
  EXPECT_TRUE(expect_soon("17 have left", [&] { return pool(console, "app", "app")["cl_active"] == "3"; }));
}

TEST_F(ConsoleTest, why_a_client_holds_its_connection) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection client(weir.conninfo() + " application_name=holder");
  Connection console(admin(weir));
  const auto held = [&] {
    for (const Values& row : show(console, "CLIENTS"))
      if (row.at("application_name") == "holder")
        return row;
    return Values{};
  };
  client.must("SELECT 1");
  EXPECT_EQ(held()["held_for"], "");
  EXPECT_EQ(held()["state"], "idle");
  client.must("BEGIN; CREATE TEMP TABLE holder_t (a int)");
  Values row = held();
  EXPECT_EQ(row["held_for"], "an open transaction block");
  EXPECT_EQ(row["state"], "active");
  EXPECT_EQ(row["node"], "0");
  const std::string link = row["link"];
  bool linked = false;
  for (const Values& server : show(console, "SERVERS"))
    linked = linked || (server.at("ptr") == link && server.at("link") == row["ptr"] && server.at("state") == "active");
  EXPECT_TRUE(linked) << link;
  client.must("COMMIT");
  EXPECT_EQ(held()["held_for"], "temporary objects may exist");
  client.must("DISCARD ALL");
  client.must("LISTEN holder_c");
  EXPECT_EQ(held()["held_for"], "LISTEN is active");
}

TEST_F(ConsoleTest, statistics) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection console(admin(weir));
  {
    std::vector<std::unique_ptr<Connection>> clients;
    for (int i = 0; i < 4; ++i)
      clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    for (const auto& client : clients) {
      for (int i = 0; i < 5; ++i)
        client->must("SELECT pg_sleep(0.01)");
      client->must("BEGIN");
      client->must("SELECT pg_sleep(0.01)");
      client->must("SELECT pg_sleep(0.01)");
      client->must("COMMIT");
      EXPECT_TRUE(client->exec_params("SELECT $1::int", {"1"}).ok());
    }
  }
  Values app;
  for (const Values& row : show(console, "STATS"))
    if (row.at("database") == "app")
      app = row;
  const auto number = [&](const char* name) { return std::stoll(app[name]); };
  EXPECT_EQ(number("total_client_login_count"), 4);
  // What runs again elsewhere, or needs a name looked up first, counts as often as it is sent.
  EXPECT_GE(number("total_xact_count"), 4 * 7);
  EXPECT_LE(number("total_xact_count"), 4 * 9);
  EXPECT_GE(number("total_query_count"), 4 * 8);
  EXPECT_LE(number("total_query_count"), 4 * 10);
  EXPECT_GE(number("total_query_time"), 4 * 7 * 9000);
  EXPECT_GE(number("total_xact_time"), number("total_query_time") / 2);
  EXPECT_GE(number("total_client_parse_count"), 4);
  EXPECT_GE(number("total_bind_count"), 4);
  EXPECT_GT(number("total_received"), 100);
  EXPECT_GT(number("total_sent"), 100);
  EXPECT_GT(number("total_server_assignment_count"), 0);
}

TEST_F(ConsoleTest, malformed_commands) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection console(admin(weir));
  for (const char* text : {"SELECT 1", "SHOW", "SHOW POOLS; SHOW POOLS", "SET USER app = 'pool_size=-2'", "SET USER app = 'pool_size=2147483648'", "SET USER app = ''",
                           "SET POOL app = 'pool_size=1'", "SET DATABASE app = 'max_user_connections=1'", "PAUSE", "RELOAD", "SET default_pool_size = 3", "DROP TABLE x",
                           "SET USER \"app = 'x'", "/**/SHOW POOLS", "'", "\"", "SHOW \"", "SET"}) {
    const Answer answer = console.exec(text);
    EXPECT_FALSE(answer.ok()) << text;
    EXPECT_EQ(answer.sqlstate.size(), 5U) << text;
    EXPECT_FALSE(console.exec_params(text, {}).ok()) << text;
    EXPECT_EQ(console.transaction(), 'I');
  }
  EXPECT_FALSE(console.exec_params("SHOW POOLS", {"1"}).ok());
  EXPECT_TRUE(console.exec("").ok());
  EXPECT_TRUE(console.exec("SET extra_float_digits = 3").ok());
  EXPECT_EQ(show(console, "LIMITS").size(), 0U);
}

TEST_F(ConsoleTest, bytes_that_break_the_protocol) {
  Pgweir weir(Cluster::shared(), with({}));
  const auto console = [&] {
    RawClient client(weir.port());
    client.login("postgres", "pgweir");
    return client;
  };
  RawClient client = console();
  EXPECT_EQ(outline(client.ask(msg::function_call(1, {}))), "E:0A000 Z:I");
  EXPECT_EQ(outline(client.ask(msg::copy_data("x") + msg::copy_done() + msg::sync())), "Z:I");
  EXPECT_EQ(outline(client.ask(msg::bind("", "none") + msg::execute("") + msg::sync())), "E:26000 Z:I");
  EXPECT_EQ(outline(client.ask(msg::execute("none") + msg::query("SHOW NONE") + msg::sync())).substr(0, 7), "E:34000");
  for (const std::string& bytes : {msg::tagged('Q', "no end"), msg::tagged('P', "x"), msg::tagged('B', std::string("\0\0\xff\xff", 4)), msg::tagged('p', "x"), std::string("Q\0\0\0\1", 5),
                                   std::string("Q\x7f\xff\xff\xff", 5), msg::query(std::string(70000, 'x')), std::string("\x01\0\0\0\x04", 5)}) {
    RawClient bad = console();
    bad.send(bytes);
    EXPECT_TRUE(bad.wait_closed());
  }
  // Byte by byte.
  RawClient slow = console();
  for (const char c : msg::query("SHOW VERSION"))
    slow.send(std::string(1, c));
  EXPECT_EQ(outline(slow.read_to_ready()), "T D:pgweir 0.1.0 C:SHOW Z:I");
  // Several at once, the first of which takes its time.
  EXPECT_EQ(outline(slow.ask(msg::parse("", "SHOW STATE") + msg::bind("", "") + msg::execute("", 2) + msg::execute("", 0) + msg::sync())), "1 2 D:active:yes D:paused:no s D:suspended:no C:SHOW Z:I");
  slow.send(msg::query("SHOW USERS") + msg::query("SHOW VERSION"));
  EXPECT_EQ(outline(slow.read_to_ready()).substr(0, 2), "T ");
  EXPECT_EQ(outline(slow.read_to_ready()), "T D:pgweir 0.1.0 C:SHOW Z:I");
}

TEST_F(ConsoleTest, zero_blocks_and_minus_one_is_the_default_again) {
  Pgweir weir(Cluster::shared(), with({{"query_wait_timeout", "1"}}));
  Connection console(admin(weir));
  std::vector<std::unique_ptr<Connection>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<Connection>(weir.conninfo()));
    clients.back()->must("SELECT txid_current()");
  }
  struct Case {
    const char* object;
    const char* key;
  };
  for (const Case& c : {Case{"USER app", "max_user_connections"}, Case{"DATABASE app", "max_db_connections"}, Case{"POOL app.app", "pool_size"}}) {
    const std::string set = std::string("SET ") + c.object + " = '" + c.key;
    console.must(set + "=0'");
    EXPECT_EQ(pool(console, "app", "app")["blocked"], "1");
    for (const auto& client : clients)
      EXPECT_TRUE(expect_soon("nobody gets in", [&] { return !client->exec("SELECT txid_current()").ok(); })) << set;
    console.must(set + "=-1'");
    EXPECT_EQ(show(console, "LIMITS").size(), 0U);
    for (const auto& client : clients)
      client->must("SELECT txid_current()");
  }
  console.must("SET USER app = 'max_user_client_connections=2'");
  Connection one_more(weir.conninfo());
  EXPECT_FALSE(one_more.ok());
  EXPECT_NE(one_more.error().find("max_user_client_connections"), std::string::npos) << one_more.error();
  console.must("SET USER app = 'max_user_client_connections=-1'");
  EXPECT_TRUE(Connection(weir.conninfo()).ok());
}

// A limit that is lowered while everybody works holds over all children as soon as the ledger says so, in every sample.
TEST_F(ConsoleTest, a_lowered_pool_holds_over_all_children) {
  Cluster cluster;
  Connection server(cluster.conninfo(0, "postgres", "app"));
  server.must("CREATE TABLE console_load (a int); GRANT ALL ON console_load TO app");
  Pgweir weir(cluster, with({{"default_pool_size", "10"}}));
  Connection console(admin(weir));
  const auto backends = [&] {
    return std::stoi(server.value("SELECT count(*) FROM pg_stat_activity WHERE usename = 'app' AND backend_type = 'client backend'"));
  };
  constexpr int kClients = 20;
  Load load;
  load.statement = "BEGIN; INSERT INTO console_load VALUES (1); COMMIT";
  load.add(weir.conninfo(), kClients);
  ASSERT_TRUE(expect_soon("the pool is in use", [&] { return backends() >= 5; }));
  for (const int size : {3, 1, 6, 2}) {
    console.must("SET POOL app.app = 'pool_size=" + std::to_string(size) + "'");
    EXPECT_EQ(pool(console, "app", "app")["pool_size"], std::to_string(size));
    // A connection that is being opened is no backend yet, but counts.
    const auto held = [&] {
      Values app = pool(console, "app", "app");
      int count = 0;
      for (const char* column : {"sv_active", "sv_active_cancel", "sv_being_canceled", "sv_idle", "sv_used", "sv_tested", "sv_login"})
        count += std::stoi(app.at(column));
      return count;
    };
    ASSERT_TRUE(expect_soon("the pool has shrunk", [&] { return held() <= size && backends() <= size; }));
    const int before = load.done(0, kClients);
    int most = 0;
    const auto end = Moment::now() + std::chrono::seconds(2);
    while (Moment::now() < end || load.done(0, kClients) < before + 20)
      most = std::max(most, backends());
    EXPECT_LE(most, size);
    EXPECT_GE(most, 1);
  }
  console.must("SET POOL app.app = 'pool_size=-1'");
  EXPECT_TRUE(expect_soon("the pool has grown", [&] { return backends() > 2; }));
  load.stop();
}

TEST_F(ConsoleTest, a_stopped_child_is_named_and_not_waited_for) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection console(admin(weir));
  const pid_t own = child_of(console);
  ASSERT_GT(own, 0);
  const pid_t other = other_child(weir, own);
  ASSERT_GT(other, 0);
  ::kill(other, SIGSTOP);
  for (const char* what : {"CLIENTS", "POOLS", "LISTS"}) {
    const auto began = Moment::now();
    const std::size_t notices = console.notices().size();
    EXPECT_FALSE(show(console, what).empty());
    EXPECT_LT(Moment::now() - began, std::chrono::seconds(15));
    ASSERT_EQ(console.notices().size(), notices + 1);
    EXPECT_NE(console.notices().back().find(std::to_string(other)), std::string::npos) << console.notices().back();
  }
  console.must("SET USER nobody = 'pool_size=1'");
  EXPECT_FALSE(show(console, "STATS").empty());
  ::kill(other, SIGCONT);
  EXPECT_TRUE(expect_soon("it answers again", [&] {
    const std::size_t notices = console.notices().size();
    show(console, "CLIENTS");
    return console.notices().size() == notices;
  }));
}

TEST_F(ConsoleTest, children_that_are_killed_while_the_console_answers) {
  Pgweir weir(Cluster::shared(), with({}));
  Connection console(admin(weir));
  const pid_t own = child_of(console);
  ASSERT_GT(own, 0);
  for (int i = 0; i < 8; ++i) {
    const pid_t other = other_child(weir, own);
    std::thread killer([other] {
      if (other > 0)
        ::kill(other, SIGKILL);
    });
    for (int j = 0; j < 5; ++j) {
      EXPECT_FALSE(show(console, "CLIENTS").empty());
      EXPECT_FALSE(show(console, "POOLS").empty());
    }
    killer.join();
    EXPECT_TRUE(expect_soon("another child is there", [&] {
      const pid_t next = other_child(weir, own);
      return next > 0 && next != other;
    }));
  }
  // One that dies while it asks: the others go on, and so does the next console.
  for (int i = 0; i < 4; ++i) {
    Connection doomed(admin(weir));
    const pid_t pid = child_of(doomed);
    PQsendQuery(doomed.raw(), "SHOW CLIENTS");
    PQflush(doomed.raw());
    if (pid > 0)
      ::kill(pid, SIGKILL);
    EXPECT_TRUE(expect_soon("a console answers", [&] {
      Connection next(admin(weir));
      return next.ok() && next.exec("SHOW CLIENTS").ok();
    }));
  }
}

TEST_F(ConsoleTest, many_consoles_at_once) {
  Pgweir weir(Cluster::shared(), with({}));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      Connection console(admin(weir));
      for (int j = 0; j < 20; ++j)
        for (const char* what : {"SHOW CLIENTS", "SHOW POOLS", "SHOW SERVERS"})
          if (const Answer answer = console.exec(what); answer.ok() && (!answer.rows.empty() || what[5] == 'S'))
            ++good;
    });
  for (auto& thread : threads)
    thread.join();
  EXPECT_EQ(good, 8 * 20 * 3);
}

TEST_F(ConsoleTest, psycopg) {
  Pgweir weir(Cluster::shared(), with({}));
  const std::string script = "import sys\n"
                             "try:\n    import psycopg2\nexcept ImportError:\n    print('missing'); sys.exit()\n"
                             "c = psycopg2.connect(sys.argv[1])\n"
                             "r = c.cursor(); r.execute('SHOW VERSION'); print(r.fetchone()[0])\n"
                             "c.commit(); c.autocommit = True\n"
                             "r.execute('SHOW STATS'); print(r.description[1].name)\n"
                             "try:\n    r.execute('NONSENSE')\nexcept psycopg2.Error as e:\n    print(e.pgcode)\n";
  SpawnOptions options;
  options.argv = {"/usr/bin/python3", "-c", script, admin(weir)};
  const Output output = run(options);
  if (output.out == "missing\n")
    GTEST_SKIP() << "psycopg2 is not installed";
  EXPECT_EQ(output.out, "pgweir 0.1.0\ntotal_server_assignment_count\n42601\n");
}

} // namespace
} // namespace weir::test
