// Where statements run: seen in the log of statements per node, with real catalogue facts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

class RoutingTest : public ::testing::Test {
protected:
  explicit RoutingTest(const Settings& settings = {}) : weir_(Cluster::shared(), settings) {}
  void SetUp() override {
    ASSERT_TRUE(client_.ok()) << client_.error();
    ASSERT_TRUE(reads_are_spread());
  }
  // The facts of "plain" are known after this.
  bool reads_are_spread() { return weir_.reaches_standby(client_, kRead); }
  bool on_standby(const std::string& sql) { return weir_.node_of(client_, sql) > 0; }
  bool on_primary(const std::string& sql) { return weir_.node_of(client_, sql) == 0; }
  // Again and again on the primary, while the catalogue facts that could change that come in.
  bool stays_on_primary(const std::string& sql) {
    constexpr int kTries = 4;
    for (int i = 0; i < kTries; ++i) {
      if (!on_primary(sql))
        return false;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(20)); // nothing tells when facts have arrived
    }
    return true;
  }

  static constexpr const char* kRead = "SELECT v FROM plain WHERE id = 1";
  Pgweir weir_;
  Connection client_{weir_.conninfo()};
};

TEST_F(RoutingTest, table_of_statements) {
  std::ifstream table(WEIR_SOURCE_DIR "/test/tables/routing_live.tsv");
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    const std::size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == std::string::npos)
      continue;
    const std::string where = line.substr(0, tab);
    std::string sql = line.substr(tab + 1);
    if (sql.rfind("--", 0) == 0)
      sql += "\nSELECT v FROM plain WHERE id = 1";
    Connection client(weir_.conninfo());
    ASSERT_TRUE(client.ok()) << client.error();
    ++rows;
    const auto drain = [&] { // of COPY … TO STDOUT
      char* buffer = nullptr;
      while (PQgetCopyData(client.raw(), &buffer, 0) > 0)
        PQfreemem(buffer);
    };
    const auto node = [&] {
      static int serial = 0;
      const std::string mark = "row " + std::to_string(++serial) + " end";
      // The mark has to stand in the first line, before the end of a comment to the end of the
      // line.
      const bool line_comment = sql.rfind("--", 0) == 0;
      const Answer answer =
          client.exec(line_comment ? "-- " + mark + sql : sql + " /* " + mark + " */");
      if (answer.status == PGRES_COPY_OUT)
        drain();
      client.exec("SELECT 1"); // takes what COPY left
      const auto nodes = weir_.nodes_of(mark);
      return nodes.empty() ? -1 : nodes.back();
    };
    if (where == "standby") {
      EXPECT_TRUE(wait_until([&] { return node() > 0; }, std::chrono::seconds(3)))
          << "never on a standby: " << sql;
    } else if (where == "primary") {
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(node(), 0) << sql;
        std::this_thread::sleep_for(
            std::chrono::milliseconds(20)); // nothing tells when facts have arrived
      }
    } else {
      EXPECT_TRUE(wait_until([&] { return "node " + std::to_string(node()) == where; },
                             std::chrono::seconds(3)))
          << where << ": " << sql;
    }
  }
  EXPECT_GT(rows, 80);
}

TEST_F(RoutingTest, a_session_reads_one_standby_and_sessions_spread) {
  std::vector<int> sessions(kNodes);
  for (int i = 0; i < 40; ++i) {
    Connection client(weir_.conninfo());
    const int node = weir_.node_of(client, kRead);
    for (int j = 0; j < 5; ++j)
      EXPECT_EQ(weir_.node_of(client, kRead), node);
    ++sessions.at(static_cast<std::size_t>(node));
  }
  EXPECT_EQ(sessions[0], 0);
  EXPECT_GE(sessions[1], 5);
  EXPECT_GE(sessions[2], 5);
}

TEST_F(RoutingTest, transactions_of_other_kinds_belong_to_the_primary) {
  for (const char* begin :
       {"BEGIN READ WRITE", "BEGIN ISOLATION LEVEL REPEATABLE READ",
        "BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY"}) {
    SCOPED_TRACE(begin);
    client_.must(begin);
    EXPECT_EQ(client_.transaction(), 'T');
    EXPECT_TRUE(on_primary(kRead));
    EXPECT_TRUE(on_primary(kRead));
    client_.must("COMMIT");
    EXPECT_EQ(client_.transaction(), 'I');
    EXPECT_TRUE(on_standby(kRead));
  }
}

TEST_F(RoutingTest, read_only_transactions_stay_on_one_standby) {
  ASSERT_TRUE(weir_.reaches_standby(client_, "SELECT count(*) FROM plain"));
  for (const char* begin : {"BEGIN READ ONLY", "START TRANSACTION READ ONLY",
                            "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"}) {
    SCOPED_TRACE(begin);
    Connection session(weir_.conninfo());
    session.must(begin);
    const int node = weir_.node_of(session, kRead);
    EXPECT_GT(node, 0);
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(weir_.node_of(session, "SELECT count(*) FROM plain"), node);
    EXPECT_EQ(session.value("SHOW transaction_read_only"), "on");
    EXPECT_EQ(session.exec("INSERT INTO written(v) VALUES ('never')").sqlstate, "25006");
    EXPECT_EQ(session.transaction(), 'E');
    EXPECT_EQ(session.exec(kRead).sqlstate, "25P02");
    session.must("ROLLBACK");
    EXPECT_EQ(session.transaction(), 'I');
  }
  Connection session(weir_.conninfo());
  session.must("BEGIN");
  session.must("SET TRANSACTION READ ONLY");
  EXPECT_EQ(session.value(kRead), "row 1");
  EXPECT_EQ(session.exec("INSERT INTO written(v) VALUES ('never')").sqlstate, "25006");
  session.must("ROLLBACK");
}

TEST_F(RoutingTest, doubt_moves_a_read_only_transaction_or_fails_as_on_the_primary) {
  client_.must("BEGIN READ ONLY");
  EXPECT_TRUE(on_standby(kRead));
  // A user function in it: the same result as directly.
  EXPECT_EQ(client_.value("SELECT f_volatile(7)"), "7");
  EXPECT_EQ(client_.value("SELECT pg_is_in_recovery()"), "f");
  EXPECT_EQ(client_.value(kRead), "row 1");
  client_.must("COMMIT");
}

TEST_F(RoutingTest, default_transaction_read_only_is_seen) {
  client_.must("SET default_transaction_read_only = on");
  EXPECT_EQ(client_.exec("INSERT INTO written(v) VALUES ('never')").sqlstate, "25006");
  client_.must("BEGIN READ WRITE; INSERT INTO written(v) VALUES ('allowed'); ROLLBACK");
  client_.must("SET default_transaction_read_only = off");
}

TEST_F(RoutingTest, temp_tables_are_met_whoever_makes_them) {
  for (const char* make :
       {"CREATE TEMP TABLE plain (id int, v text)",
        "CREATE TEMPORARY TABLE plain AS SELECT 1 AS id, 'temp'::text AS v",
        "SELECT 1 AS id, 'temp'::text AS v INTO TEMP plain",
        "CREATE TABLE pg_temp.plain (id int, v text)",
        "CREATE TEMP VIEW plain AS SELECT 1 AS id, 'temp'::text AS v",
        "SET search_path = pg_temp, public; CREATE TABLE plain (id int, v text)", "SELECT f_temp()",
        "DO $$BEGIN CREATE TEMP TABLE plain (id int, v text); END$$"}) {
    SCOPED_TRACE(make);
    Connection session(weir_.conninfo());
    EXPECT_EQ(session.value("SELECT count(*) FROM plain"), "100");
    session.must(make);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NE(session.value("SELECT count(*) FROM plain"), "100");
      EXPECT_EQ(weir_.node_of(session, "SELECT count(*) FROM plain"), 0);
    }
    // Another session is not concerned.
    Connection other(weir_.conninfo());
    EXPECT_EQ(other.value("SELECT count(*) FROM plain"), "100");
  }
  // Nor is the next one that gets the same connections.
  EXPECT_EQ(Connection(weir_.conninfo()).value("SELECT count(*) FROM plain"), "100");
}

TEST_F(RoutingTest, temp_table_in_the_same_batch) {
  RawClient client(weir_.port());
  client.login();
  using namespace msg; // NOLINT: the builders read as the protocol's own names
  const auto answer = client.ask(
      parse("", "CREATE TEMP TABLE plain AS SELECT 1 AS id") + bind("", "") + execute("") +
      parse("", "SELECT count(*) FROM plain") + bind("", "") + execute("") + sync());
  EXPECT_EQ(outline(answer), "1 2 C:SELECT 1 1 2 D:1 C:SELECT 1 Z:I");
}

TEST_F(RoutingTest, cursors_and_listen_keep_a_session_on_the_primary) {
  client_.must("DECLARE held CURSOR WITH HOLD FOR SELECT id FROM plain ORDER BY id");
  EXPECT_EQ(client_.value("FETCH 1 FROM held"), "1");
  EXPECT_TRUE(stays_on_primary(kRead));
  client_.must("CLOSE held");
  Connection listener(weir_.conninfo());
  listener.must("LISTEN routing_channel");
  EXPECT_TRUE(wait_until([&] { return listener.exec(kRead).ok(); }));
  Connection(Cluster::shared().conninfo(0)).must("NOTIFY routing_channel");
  expect_soon("the notification", [&] {
    PQconsumeInput(listener.raw());
    PGnotify* note = PQnotifies(listener.raw());
    if (note == nullptr)
      return false;
    PQfreemem(note);
    return true;
  });
}

// --- a session's settings hold on every node it uses

TEST_F(RoutingTest, settings_hold_on_every_node) {
  const auto on_every_node = [this](const std::string& sql, const std::string& expected) {
    for (int node = 0; node < kNodes; ++node) {
      EXPECT_EQ(client_.value("/*pgweir: node=" + std::to_string(node) + "*/ " + sql), expected)
          << node << " " << sql;
    }
  };
  const std::string day =
      "SELECT to_char(date '2024-02-01', 'TMMonth') || date '2024-02-01' FROM plain WHERE id = 1";
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "2024-02-01");
  client_.must("SET DateStyle = 'German'");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "01.02.2024");
  client_.must("SET search_path = other");
  on_every_node("SELECT v FROM plain WHERE id = 1", "other 1");
  client_.must("SET search_path = public");
  on_every_node("SELECT v FROM plain WHERE id = 1", "row 1");
  EXPECT_EQ(client_.exec("SELECT set_config('DateStyle', 'SQL, MDY', false)").value(), "SQL, MDY");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "02/01/2024");
  // SET LOCAL ends with its transaction; a SET that is rolled back never was.
  client_.must("BEGIN; SET LOCAL DateStyle = 'German'");
  EXPECT_EQ(client_.value("SELECT date '2024-02-01' FROM plain WHERE id = 1"), "01.02.2024");
  client_.must("COMMIT");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "02/01/2024");
  client_.must("BEGIN; SET DateStyle = 'German'; ROLLBACK");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "02/01/2024");
  client_.must("BEGIN; SAVEPOINT s; SET DateStyle = 'German'; ROLLBACK TO s; COMMIT");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "02/01/2024");
  client_.must("BEGIN; SAVEPOINT s; SET DateStyle = 'German'; RELEASE s; COMMIT");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "01.02.2024");
  EXPECT_FALSE(client_.exec("SET DateStyle = 'nonsense'").ok());
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "01.02.2024");
  EXPECT_FALSE(client_.exec("SET DateStyle = 'ISO'; SELECT 1/0").ok()); // one implicit transaction
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "01.02.2024");
  client_.must("RESET DateStyle");
  on_every_node("SELECT date '2024-02-01' FROM plain WHERE id = 1", "2024-02-01");
  client_.must("SET my.own = 'mine'");
  client_.must("SET statement_timeout = '50ms'");
  for (int node = 0; node < kNodes; ++node) {
    EXPECT_EQ(
        client_.exec("/*pgweir: node=" + std::to_string(node) + "*/ SELECT pg_sleep(30)").sqlstate,
        "57014");
  }
  client_.must("DISCARD ALL");
  on_every_node("SELECT count(pg_sleep(0.1)) FROM plain WHERE id = 1", "1");
  (void)day;
}

TEST_F(RoutingTest, roles_hold_on_every_node) {
  Connection super(weir_.conninfo("postgres"));
  ASSERT_TRUE(super.ok()) << super.error();
  super.must("SET ROLE weir_trust");
  for (int node = 0; node < kNodes; ++node) {
    const std::string hint = "/*pgweir: node=" + std::to_string(node) + "*/ ";
    EXPECT_EQ(super.exec(hint + "SELECT v FROM plain WHERE id = 1").value(), "row 1");
    // Row security: the owner and superusers see all, others five rows.
    EXPECT_EQ(super.exec(hint + "SELECT count(*) FROM shadow.only_here").sqlstate, "")
        << "granted to everybody";
  }
  EXPECT_EQ(super.value("SELECT current_user"), "weir_trust");
  EXPECT_EQ(super.value("SELECT count(*) FROM secured"), "5");
  super.must("RESET ROLE");
  EXPECT_EQ(super.value("SELECT count(*) FROM secured"), "10");
  super.must("SET SESSION AUTHORIZATION weir_trust");
  EXPECT_EQ(super.value("SELECT session_user"), "weir_trust");
  EXPECT_EQ(super.value("SELECT count(*) FROM secured"), "5");
}

// --- names mean what search_path makes of them

TEST_F(RoutingTest, search_path_decides) {
  EXPECT_TRUE(on_standby(kRead));
  {
    Connection session(weir_.conninfo());
    session.must("SET search_path = shadow, public"); // "plain" is a view there
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(weir_.node_of(session, kRead), 0);
    EXPECT_EQ(session.value(kRead), "shadow");
  }
  {
    Connection session(weir_.conninfo());
    session.must("SET search_path = other, public");
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(session.value(kRead), "other 1");
  }
  // A name that means a plain table in every schema that has it is balanced under any path.
  client_.must("SET search_path = other, public");
  EXPECT_TRUE(weir_.reaches_standby(client_, "SELECT v FROM parted WHERE id = 1"));
  client_.must("RESET search_path");
  EXPECT_EQ(client_.value(kRead), "row 1");
  EXPECT_TRUE(wait_until([&] { return on_standby(kRead); })); // the path is the server's again, and known
}

TEST_F(RoutingTest, a_name_that_changes_its_meaning) {
  Connection ddl(weir_.conninfo());
  ddl.must("DROP TABLE IF EXISTS chameleon; CREATE TABLE chameleon AS SELECT 'table'::text AS v");
  EXPECT_TRUE(weir_.reaches_standby(client_, "SELECT v FROM chameleon"));
  ddl.must("ALTER TABLE chameleon RENAME TO chameleon_old; CREATE VIEW chameleon AS SELECT "
           "'view'::text || f_volatile(1) AS v");
  EXPECT_EQ(ddl.value("SELECT v FROM chameleon"), "view1");
  EXPECT_TRUE(wait_until([&] { return on_primary("SELECT v FROM chameleon"); }));
  EXPECT_TRUE(stays_on_primary("SELECT v FROM chameleon"));
  ddl.must(
      "DROP VIEW chameleon; ALTER TABLE chameleon_old RENAME TO chameleon; DROP TABLE chameleon");
}

// --- prepared statements across nodes

TEST_F(RoutingTest, prepared_statements_follow_the_session) {
  ASSERT_TRUE(client_.prepare("get", "SELECT v FROM plain WHERE id = $1 /* prepared get */").ok());
  EXPECT_TRUE(wait_until([&] {
    EXPECT_EQ(client_.exec_prepared("get", {"3"}).value(), "row 3");
    const auto nodes = weir_.nodes_of("prepared get");
    return !nodes.empty() && nodes.back() > 0;
  }));
  client_.must("BEGIN READ WRITE");
  EXPECT_EQ(client_.exec_prepared("get", {"4"}).value(), "row 4");
  EXPECT_EQ(weir_.nodes_of("prepared get").back(), 0);
  client_.must("COMMIT");
  EXPECT_EQ(client_.exec_prepared("get", {"5"}).value(), "row 5");
  EXPECT_GT(weir_.nodes_of("prepared get").back(), 0);
  client_.must("BEGIN READ ONLY");
  EXPECT_EQ(client_.exec_prepared("get", {"6"}).value(), "row 6");
  client_.must("COMMIT");
  EXPECT_EQ(client_.prepare("get", "SELECT 1").sqlstate, "42P05");
  client_.must("SET search_path = other");
  EXPECT_EQ(client_.exec_prepared("get", {"7"}).value(), "other 7");
  client_.must("DEALLOCATE ALL");
  EXPECT_EQ(client_.exec_prepared("get", {"7"}).sqlstate, "26000");
  EXPECT_TRUE(client_.prepare("get", "SELECT 'new'").ok());
  EXPECT_EQ(client_.exec_prepared("get", {}).value(), "new");
}

TEST_F(RoutingTest, prepared_in_a_transaction_that_is_rolled_back) {
  client_.must("BEGIN");
  ASSERT_TRUE(client_.prepare("kept", "SELECT v FROM plain WHERE id = $1").ok());
  client_.must("ROLLBACK");
  for (int i = 1; i < 5; ++i)
    EXPECT_EQ(client_.exec_prepared("kept", {std::to_string(i)}).value(),
              "row " + std::to_string(i));
}

// --- what a standby refuses runs again on the primary

class ListsTest : public RoutingTest {
protected:
  ListsTest()
      : RoutingTest({{"read_only_function_list", "'f_lies,f_stable,f_immutable'"},
                     {"primary_routing_query_pattern_list", "'.*on_the_primary.*'"}}) {}
};

TEST_F(ListsTest, function_lists_and_patterns) {
  EXPECT_TRUE(weir_.reaches_standby(client_, "SELECT f_stable(1)"));
  EXPECT_TRUE(weir_.reaches_standby(client_, "SELECT f_immutable(1)"));
  EXPECT_TRUE(stays_on_primary("SELECT f_volatile(1)"));
  EXPECT_TRUE(stays_on_primary("SELECT v AS on_the_primary FROM plain WHERE id = 1"));
}

TEST_F(ListsTest, refused_by_a_standby_runs_again_on_the_primary) {
  for (int i = 0; i < 5; ++i) {
    const std::string what = "lies " + std::to_string(::getpid()) + " " + std::to_string(i);
    EXPECT_EQ(client_.exec("SELECT f_lies('" + what + "')").value(), "1") << "simple protocol";
    EXPECT_EQ(client_.exec_params("SELECT f_lies($1)", {what}).value(), "1") << "extended protocol";
    EXPECT_EQ(client_.value("SELECT count(*) FROM audit WHERE what = '" + what + "'"), "2");
  }
}

class WriteListTest : public RoutingTest {
protected:
  WriteListTest() : RoutingTest({{"write_function_list", "'upper,my_.*'"}}) {}
};

TEST_F(WriteListTest, a_listed_function_is_a_write) {
  EXPECT_TRUE(stays_on_primary("SELECT upper(v) FROM plain WHERE id = 1"));
  EXPECT_TRUE(weir_.reaches_standby(client_, "SELECT lower(v) FROM plain WHERE id = 1"));
}

TEST(routing, reset_returns_to_the_clients_own_values_in_any_text) {
  Pgweir weir(Cluster::shared());
  for (const char* more :
       {"options='-c search_path=other'", "client_encoding=SJIS options='-c search_path=other'",
        "options='-c standard_conforming_strings=off -c search_path=other'"}) {
    SCOPED_TRACE(more);
    Connection client(weir.conninfo() + " " + more);
    ASSERT_TRUE(client.ok()) << client.error();
    EXPECT_EQ(client.value("SELECT v FROM plain WHERE id = 1"), "other 1");
    for (const char* reset : {"SET search_path = public; RESET search_path", "RESET ALL",
                              "SELECT 1; RESET ALL", "DISCARD ALL"}) {
      client.must(reset);
      EXPECT_EQ(client.value("SHOW search_path"), "other") << reset;
      EXPECT_EQ(client.value("SELECT v FROM plain WHERE id = 1"), "other 1") << reset;
    }
  }
}

TEST(routing, encoding_names_as_clients_write_them) {
  Pgweir weir(Cluster::shared());
  for (const char* name : {"utf8", "UTF-8", "'utf-8'", "unicode"}) {
    RawClient client(weir.port());
    client.login("app", "app", {{"client_encoding", name}});
    EXPECT_TRUE(wait_until(
        [&] {
          client.ask(msg::query(std::string("SELECT v FROM plain WHERE id = 1 /* encoded ") + name +
                                " end */"));
          const auto nodes = weir.nodes_of(std::string("encoded ") + name + " end");
          return !nodes.empty() && nodes.back() > 0;
        },
        std::chrono::seconds(5)))
        << name;
  }
}

// Size never pins: what a text does to its session is found out while it streams by.
class LongStatementTest : public RoutingTest {
protected:
  static std::string rows(const std::string& value) {
    std::string sql = "INSERT INTO written(v) VALUES (" + value + ")";
    while (sql.size() < 200000)
      sql += ", ('long')";
    return sql;
  }
  static std::string numbers() {
    std::string list = "1";
    while (list.size() < 100000)
      list += ", 2";
    return list;
  }
  bool reads_go_on() { return weir_.reaches_standby(client_, kRead); }
};

TEST_F(LongStatementTest, a_long_insert_leaves_the_session_as_it_was) {
  for (int i = 0; i < 3; ++i) {
    client_.must(rows("'first'"));
    EXPECT_TRUE(reads_go_on());
  }
  client_.must("BEGIN");
  client_.must(rows("upper('x')"));
  client_.must("COMMIT");
  EXPECT_TRUE(reads_go_on());
}

TEST_F(LongStatementTest, a_long_select_too) {
  std::string sql = "SELECT count(*) FROM plain WHERE id IN (1";
  while (sql.size() < 200000)
    sql += ", 2";
  EXPECT_EQ(client_.value(sql + ")"), "2");
  EXPECT_TRUE(reads_go_on());
}

TEST_F(LongStatementTest, a_long_parameter_and_a_long_prepared_text) {
  EXPECT_TRUE(client_.exec_params("INSERT INTO written(v) VALUES ($1)", {std::string(300000, 'x')}).ok());
  EXPECT_TRUE(reads_go_on());
  EXPECT_TRUE(client_.exec_params(rows("$1"), {std::string("y")}).ok());
  EXPECT_TRUE(reads_go_on());
}

TEST_F(LongStatementTest, a_long_insert_with_a_query_before_it) {
  client_.must("WITH x AS (SELECT v FROM plain WHERE id IN (" + numbers() + ")) INSERT INTO written(v) SELECT v FROM x");
  EXPECT_TRUE(reads_go_on());
}

TEST_F(LongStatementTest, a_string_of_many_statements) {
  std::string many;
  while (many.size() < 200000)
    many += "INSERT INTO written(v) VALUES (E'\\'long'); INSERT INTO written(v) VALUES ($$it's$$);";
  client_.must(many);
  EXPECT_TRUE(reads_go_on());
  client_.must("BEGIN; " + many + " COMMIT");
  EXPECT_TRUE(reads_go_on());
  // The block that it opens stays open, where it is.
  client_.must("BEGIN; " + many);
  EXPECT_TRUE(on_primary(kRead));
  client_.must("ROLLBACK");
  EXPECT_TRUE(reads_go_on());
}

TEST_F(LongStatementTest, settings_in_a_long_string_count_in_their_order) {
  const std::string filling = "; INSERT INTO written(v) VALUES ('" + std::string(100000, 'x') + "'); ";
  client_.must("SET work_mem = '1111kB'" + filling + "SET work_mem = '2222kB'");
  EXPECT_TRUE(reads_go_on());
  EXPECT_EQ(client_.value("SHOW work_mem"), "2222kB");
  client_.must("BEGIN" + filling + "SET work_mem = '3333kB'; ROLLBACK");
  EXPECT_TRUE(reads_go_on());
  EXPECT_EQ(client_.value("SELECT current_setting('work_mem')"), "2222kB");
}

TEST_F(LongStatementTest, a_setting_behind_a_long_comment_is_replayed) {
  const std::string comment = "/*" + std::string(100000, '*') + "*/ ";
  const std::string own = client_.value("SHOW work_mem");
  client_.must(comment + "SET work_mem = '1234kB' -- " + std::string(100000, '-'));
  EXPECT_TRUE(reads_go_on());
  const std::string read = "SELECT current_setting('work_mem') FROM plain WHERE id = 1";
  EXPECT_EQ(client_.value(read), "1234kB");
  client_.must(comment + "RESET work_mem");
  EXPECT_TRUE(reads_go_on());
  EXPECT_EQ(client_.value(read), own);
  // As a prepared statement too; and what the reads of a standby see.
  EXPECT_TRUE(client_.exec_params(comment + "SET search_path = other", {}).ok());
  const std::string there = "SELECT v FROM other.plain WHERE id = 1 AND current_schema() = 'other'";
  EXPECT_TRUE(weir_.reaches_standby(client_, there));
  EXPECT_EQ(client_.value(there), "other 1");
}

TEST_F(LongStatementTest, a_long_prepare_and_a_long_copy) {
  client_.must("PREPARE long_one AS SELECT count(*) FROM plain WHERE id IN (" + numbers() + ")");
  EXPECT_TRUE(reads_go_on());
  EXPECT_EQ(client_.value("EXECUTE long_one"), "2");
  RawClient copier(weir_.port());
  copier.login();
  const std::string copy = "COPY (SELECT id FROM plain WHERE id IN (" + numbers() + ")) TO STDOUT";
  copier.ask(msg::query(copy));
  const std::string in = "/*" + std::string(100000, '*') + "*/ COPY written(v) FROM STDIN";
  copier.send(msg::query(in));
  copier.read_to('G');
  copier.ask(msg::copy_data("copied\n") + msg::copy_done());
  EXPECT_TRUE(wait_until([&] {
    copier.ask(msg::query("SELECT v FROM plain WHERE id = 1 /* after the copy */"));
    const auto nodes = weir_.nodes_of("after the copy");
    return !nodes.empty() && nodes.back() > 0;
  }));
}

TEST_F(LongStatementTest, but_what_it_may_hide_does) {
  client_.must("SELECT set_config('search_path', 'other', false) WHERE 1 IN (" + numbers() + ")");
  EXPECT_EQ(client_.value("SELECT v FROM plain WHERE id = 1"), "other 1");
  EXPECT_TRUE(stays_on_primary(kRead));
}

TEST_F(LongStatementTest, and_so_does_what_a_long_string_makes) {
  client_.must("CREATE TEMP TABLE hidden (v text); INSERT INTO hidden VALUES ('" + std::string(100000, 'x') + "')");
  EXPECT_TRUE(stays_on_primary(kRead));
}

TEST(routing, load_balance_off) {
  Pgweir weir(Cluster::shared(), {{"load_balance_mode", "off"}});
  Connection client(weir.conninfo());
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(weir.node_of(client, "SELECT v FROM plain WHERE id = 1"), 0);
}

TEST(routing, statement_level) {
  Pgweir weir(
      Cluster::shared(),
      {{"statement_level_load_balance", "on"}, {"backend_weight0", "1"}, {"backend_weight2", "0"}});
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, "SELECT v FROM plain WHERE id = 1"));
  std::vector<int> counts(kNodes);
  for (int i = 0; i < 100; ++i)
    ++counts.at(static_cast<std::size_t>(weir.node_of(client, "SELECT v FROM plain WHERE id = 1")));
  EXPECT_GE(counts[0], 20);
  EXPECT_GE(counts[1], 20);
  EXPECT_EQ(counts[2], 0);
}

TEST(routing, weights) {
  Pgweir weir(
      Cluster::shared(),
      {{"statement_level_load_balance", "on"}, {"backend_weight1", "4"}, {"backend_weight2", "1"}});
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, "SELECT v FROM plain WHERE id = 1"));
  std::vector<int> counts(kNodes);
  for (int i = 0; i < 300; ++i)
    ++counts.at(static_cast<std::size_t>(weir.node_of(client, "SELECT v FROM plain WHERE id = 1")));
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 240, 40);
}

TEST(routing, unsafe_texts_are_the_primarys) {
  Pgweir weir(Cluster::shared());
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  for (const char* set :
       {"SET standard_conforming_strings = off", "SET client_encoding = 'SJIS'"}) {
    Connection client(weir.conninfo());
    ASSERT_TRUE(weir.reaches_standby(client, read));
    client.must(set);
    EXPECT_EQ(weir.node_of(client, read), 0);
    client.must("RESET ALL");
    EXPECT_EQ(client.value(read), "row 1");
  }
  // Back again by itself, with no RESET ALL.
  for (const char* back : {"SET standard_conforming_strings = on", "RESET standard_conforming_strings", "SET standard_conforming_strings TO 'on'"}) {
    Connection client(weir.conninfo());
    client.must("SET standard_conforming_strings = off");
    EXPECT_EQ(weir.node_of(client, read), 0);
    EXPECT_EQ(client.exec("SHOW ROUTE $$SELECT 1$$").rows.size(), 1U);
    client.must(back);
    EXPECT_TRUE(weir.reaches_standby(client, read)) << back;
  }
  Connection client(weir.conninfo());
  EXPECT_TRUE(weir.reaches_standby(client, read));
}

// Whatever sets the isolation of transactions to come back to the usual frees the session's reads again.
TEST(routing, serializable_as_default_and_back) {
  Pgweir weir(Cluster::shared());
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  const std::pair<const char*, const char*> kCases[] = {
      {"SET default_transaction_isolation = serializable", "SET default_transaction_isolation = 'read committed'"},
      {"SET default_transaction_isolation = serializable", "RESET default_transaction_isolation"},
      {"SET default_transaction_isolation = 'Serializable'", "SET default_transaction_isolation TO DEFAULT"},
      {"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED"},
      {"SELECT set_config('default_transaction_isolation', 'serializable', false)", "RESET default_transaction_isolation"},
      {"SET default_transaction_isolation = serializable", "SELECT set_config('default_transaction_isolation', 'read committed', false)"},
      {"SET default_transaction_isolation = serializable", "RESET ALL"}};
  for (const auto& [set, back] : kCases) {
    Connection client(weir.conninfo());
    ASSERT_TRUE(weir.reaches_standby(client, read));
    client.must(set);
    EXPECT_EQ(weir.node_of(client, read), 0) << set;
    client.must(back);
    EXPECT_TRUE(weir.reaches_standby(client, read)) << back;
    client.must("BEGIN");
    EXPECT_GT(weir.node_of(client, read), 0) << back;
    client.must("COMMIT");
  }
  Connection client(weir.conninfo());
  client.must("BEGIN");
  client.must("SET default_transaction_isolation = serializable");
  client.must("ROLLBACK");
  EXPECT_TRUE(weir.reaches_standby(client, read));
  client.must("BEGIN");
  client.must("SAVEPOINT s");
  client.must("SET default_transaction_isolation = serializable");
  client.must("ROLLBACK TO s");
  client.must("COMMIT");
  EXPECT_TRUE(weir.reaches_standby(client, read));
  client.must("BEGIN");
  client.must("SET default_transaction_isolation = serializable");
  client.must("COMMIT");
  EXPECT_EQ(weir.node_of(client, read), 0);
}

// The client's own startup values stand on every node, whatever was reset in between.
TEST(routing, startup_values_on_standbys_after_resets) {
  Pgweir weir(Cluster::shared());
  for (const char* reset :
       {"RESET ALL", "SET timezone = 'UTC'; SET timezone TO DEFAULT", "SET timezone TO DEFAULT",
        "SELECT set_config('timezone', NULL, false)", "RESET timezone", "DISCARD ALL"}) {
    Connection client(weir.conninfo() + " options='-c timezone=Asia/Tokyo'");
    ASSERT_TRUE(client.ok()) << client.error();
    const std::string read = "SELECT timestamptz '2020-01-01 00:00:00+00'::text FROM plain WHERE id = 1";
    ASSERT_TRUE(weir.reaches_standby(client, read));
    client.must(reset);
    for (int node = 0; node < 3; ++node) {
      EXPECT_EQ(client.value("/*pgweir: node=" + std::to_string(node) + "*/ " + read),
                "2020-01-01 09:00:00+09")
          << reset << " on node " << node;
    }
  }
}

// ... and for what follows in the same string or batch, as if the server had got them from the client itself.
TEST(routing, startup_values_behind_a_reset_in_one_exchange) {
  Pgweir weir(Cluster::shared());
  const std::string options = " options='-c timezone=Asia/Tokyo -c work_mem=7MB'";
  Connection direct(Cluster::shared().conninfo(0) + options);
  ASSERT_TRUE(direct.ok()) << direct.error();
  for (const char* text : {
           "RESET ALL; SHOW timezone",
           "SET timezone = 'UTC'; RESET timezone; SHOW timezone",
           "SET work_mem = '1MB'; SET work_mem TO DEFAULT; SHOW work_mem",
           "SELECT set_config('timezone', NULL, false)",
           "BEGIN; SET LOCAL timezone = 'UTC'; SET LOCAL timezone TO DEFAULT; SHOW timezone; ROLLBACK; SHOW timezone",
           "BEGIN; RESET ALL; SHOW timezone; SHOW work_mem; COMMIT",
       }) {
    Connection client(weir.conninfo() + options);
    ASSERT_TRUE(client.ok()) << client.error();
    EXPECT_EQ(client.value("SHOW timezone"), "Asia/Tokyo");
    const auto got = client.exec_all(text);
    const auto wanted = direct.exec_all(text);
    ASSERT_EQ(got.size(), wanted.size()) << text;
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].text(), wanted[i].text()) << text << ", answer " << i;
    EXPECT_EQ(client.value("SHOW timezone"), "Asia/Tokyo") << text;
    EXPECT_EQ(client.value("SHOW work_mem"), "7MB") << text;
  }
  // Statement by statement in a block.
  Connection client(weir.conninfo() + options);
  for (const char* text : {"BEGIN", "SET LOCAL timezone = 'UTC'", "SHOW timezone", "SET LOCAL timezone TO DEFAULT", "SHOW timezone", "SAVEPOINT s",
                           "SET LOCAL work_mem TO DEFAULT", "SHOW work_mem", "ROLLBACK TO s", "SHOW work_mem", "COMMIT", "SHOW timezone"}) {
    EXPECT_EQ(client.exec(text).text(), direct.exec(text).text()) << text;
  }
  // In the extended protocol, behind prepared statements that must live on.
  using namespace msg;
  for (const int port : {weir.port(), Cluster::shared().port(0)}) {
    RawClient raw(port);
    raw.send(startup({{"user", "app"}, {"database", "app"}, {"TimeZone", "Asia/Tokyo"}}));
    ASSERT_EQ(raw.read_to_ready().back().tag, 'Z');
    EXPECT_EQ(outline(raw.ask(parse("kept", "SHOW timezone") + sync())), "1 Z:I");
    EXPECT_EQ(outline(raw.ask(parse("", "SET timezone = 'UTC'") + bind("", "") + execute("") + parse("", "RESET timezone") + bind("", "") + execute("") +
                              bind("", "kept") + execute("") + sync())),
              "1 2 C:SET 1 2 C:RESET 2 D:Asia/Tokyo C:SHOW Z:I")
        << port;
    EXPECT_EQ(outline(raw.ask(bind("", "kept") + execute("") + sync())), "2 D:Asia/Tokyo C:SHOW Z:I");
  }
}

// A RESET and what follows it in the same write, each with a Sync of its own: nothing runs with the server's own value.
TEST(routing, startup_values_behind_a_reset_in_one_write) {
  using namespace msg;
  Pgweir weir(Cluster::shared());
  const Parameters tokyo = {{"user", "app"}, {"database", "app"}, {"TimeZone", "Asia/Tokyo"}};
  for (const char* reset : {"RESET timezone", "RESET ALL", "DISCARD ALL", "SET timezone TO DEFAULT"}) {
    for (const bool extended : {false, true}) {
      const auto text = [&](const std::string& sql) { return extended ? parse("", sql) + bind("", "") + execute("") + sync() : query(sql); };
      std::string outlines[2];
      for (const bool through : {false, true}) {
        RawClient raw(through ? weir.port() : Cluster::shared().port(0));
        raw.send(startup(tokyo));
        ASSERT_EQ(raw.read_to_ready().back().tag, 'Z');
        raw.send(text(reset) + text("INSERT INTO written(v) SELECT (timestamptz '2024-01-01 00:00')::text RETURNING v") + text("SHOW timezone"));
        for (int i = 0; i < 3; ++i) {
          for (const Message& message : raw.read_to_ready()) {
            if (message.tag != 'S') outlines[through] += outline({message}) + " ";
          }
        }
      }
      EXPECT_EQ(outlines[1], outlines[0]) << reset << (extended ? ", extended" : ", simple");
    }
  }
}

// What one client's connection was opened with is nothing that others are told.
TEST(routing, startup_values_stay_their_clients_own) {
  Pgweir weir(Cluster::shared(), {{"num_init_children", "1"}});
  for (int i = 0; i < 3; ++i) {
    Connection latin(weir.conninfo() + " client_encoding=LATIN1");
    latin.must("RESET client_encoding; SELECT 1");
    EXPECT_EQ(latin.value("SHOW client_encoding"), "LATIN1");
    Connection plain(weir.conninfo());
    EXPECT_STREQ(PQparameterStatus(plain.raw(), "client_encoding"), "UTF8");
    EXPECT_EQ(plain.value("SHOW client_encoding"), "UTF8");
  }
  // By name wins over the switches.
  RawClient both(weir.port());
  both.send(msg::startup({{"user", "app"}, {"database", "app"}, {"bytea_output", "escape"}, {"options", "-c bytea_output=hex"}}));
  both.read_to_ready();
  EXPECT_EQ(outline(both.ask(msg::query("SHOW bytea_output"))), "T D:escape C:SHOW Z:I");
}

// A role of the startup packet counts for rights whatever is reset.
TEST(routing, a_role_in_the_startup_packet) {
  Connection ddl(Cluster::shared().conninfo(0, "postgres"));
  ddl.must("DROP ROLE IF EXISTS weir_lesser; CREATE ROLE weir_lesser; GRANT weir_lesser TO app");
  {
    Pgweir weir(Cluster::shared());
    const std::string options = " options='-c role=weir_lesser'";
    Connection direct(Cluster::shared().conninfo(0) + options);
    Connection through(weir.conninfo() + options);
    ASSERT_TRUE(direct.ok() && through.ok()) << through.error();
    for (const char* text : {"SELECT current_user", "DISCARD ALL", "SELECT current_user", "RESET SESSION AUTHORIZATION", "SELECT current_user", "RESET ROLE",
                             "SELECT current_user", "SET ROLE NONE", "SELECT current_user", "RESET ALL", "SELECT current_user",
                             "SELECT v FROM plain WHERE id = 1", "INSERT INTO written(v) VALUES ('refused')"}) {
      EXPECT_EQ(through.exec(text).text(), direct.exec(text).text()) << text;
    }
    Connection forged(weir.conninfo() + " options='-c session_authorization=postgres'");
    EXPECT_FALSE(forged.ok());
    EXPECT_NE(forged.error().find("permission denied to set session authorization"), std::string::npos) << forged.error();
  }
  ddl.must("DROP ROLE weir_lesser");
}

// A statement that is gone on one node is gone on all of them, and pgweir's own are nobody's.
TEST(routing, statements_that_are_gone) {
  using namespace msg;
  Pgweir weir(Cluster::shared());
  {
    Connection warm(weir.conninfo());
    ASSERT_TRUE(weir.reaches_standby(warm, "SELECT v FROM plain WHERE id = 1"));
  }
  for (const bool through : {true, false}) {
    RawClient raw(through ? weir.port() : Cluster::shared().port(0));
    raw.send(startup({{"user", "app"}, {"database", "app"}, {"TimeZone", "Asia/Tokyo"}}));
    raw.read_to_ready();
    const std::vector<std::optional<std::string>> values = {"timezone", "UTC"};
    EXPECT_EQ(outline(raw.ask(msg::bind("", "", values) + execute("") + sync())), "E:26000 Z:I");
    EXPECT_EQ(outline(raw.ask(parse("", "INSERT INTO written(v) VALUES ('once')") + msg::bind("", "") + execute("") + sync())), "1 2 C:INSERT 0 1 Z:I");
    EXPECT_EQ(outline(raw.ask(query("SELECT v FROM plain WHERE id = 1"))), "T D:row 1 C:SELECT 1 Z:I");
    EXPECT_EQ(outline(raw.ask(msg::bind("", "") + execute("") + sync())), "E:26000 Z:I");
    const std::string read = parse("named", "SELECT v FROM plain WHERE id = 2") + bind("", "named") + execute("") + sync();
    EXPECT_EQ(outline(raw.ask(read)), "1 2 D:row 2 C:SELECT 1 Z:I");
    EXPECT_EQ(outline(raw.ask(query("DEALLOCATE ALL"))), "C:DEALLOCATE ALL Z:I");
    EXPECT_EQ(outline(raw.ask(bind("", "named") + execute("") + sync())), "E:26000 Z:I");
    EXPECT_EQ(outline(raw.ask(read)), "1 2 D:row 2 C:SELECT 1 Z:I");
    EXPECT_EQ(outline(raw.ask(read)), "E:42P05 Z:I");
  }
}

TEST_F(RoutingTest, listening_behind_an_unlisten) {
  client_.must("UNLISTEN *; LISTEN somebody");
  EXPECT_TRUE(stays_on_primary(kRead));
}

TEST_F(RoutingTest, what_failed_holds_nobody) {
  EXPECT_EQ(client_.exec("SELECT * FROM nosuch").sqlstate, "42P01");
  EXPECT_TRUE(reads_are_spread());
  EXPECT_EQ(client_.exec("SELECT similar_to_nothing('a')").sqlstate, "42883");
  EXPECT_TRUE(reads_are_spread());
}

TEST_F(RoutingTest, serializable_by_default_and_back) {
  client_.must("SET default_transaction_isolation = 'serializable'");
  EXPECT_TRUE(stays_on_primary(kRead));
  client_.must("DISCARD ALL");
  EXPECT_TRUE(reads_are_spread());
  Connection serializable(weir_.conninfo() + " options='-c default_transaction_isolation=serializable'");
  EXPECT_EQ(serializable.value(kRead), "row 1");
  serializable.must("DISCARD ALL");
  EXPECT_EQ(serializable.value(kRead), "row 1");
}

// As node-postgres does it.
TEST_F(RoutingTest, a_flush_just_before_sync_hinders_nothing) {
  RawClient client(weir_.port());
  client.login();
  const std::string batch = msg::parse("", "SELECT v FROM plain WHERE id = 1 /* flushed */") + msg::bind("", "") +
                            msg::describe('P', "") + msg::execute("") + msg::flush() + msg::sync();
  EXPECT_TRUE(wait_until([&] {
    EXPECT_EQ(outline(client.ask(batch)), "1 2 T D:row 1 C:SELECT 1 Z:I");
    const auto nodes = weir_.nodes_of("flushed");
    return !nodes.empty() && nodes.back() > 0;
  }));
}

} // namespace
} // namespace weir::test
