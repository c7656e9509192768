// What the catalogue makes of names: where statements run on real servers, with views, functions, operators, types and
// temporary objects, and that their answers are the primary's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

constexpr const char* kDatabase = "catalog_objects";

class CatalogTest : public ::testing::Test {
protected:
  // A database of its own, since the objects take everyday names.
  static void SetUpTestSuite() {
    Cluster& cluster = Cluster::shared();
    // The database is made anew by each process that runs one of these tests: one after the other.
    turn_ = std::make_unique<Connection>(cluster.conninfo(0, "postgres", "postgres"));
    turn_->must("SELECT pg_advisory_lock(4715)");
    Connection super(cluster.conninfo(0, "postgres", "postgres"));
    super.exec(std::string("DROP DATABASE IF EXISTS ") + kDatabase + " WITH (FORCE)");
    super.must(std::string("CREATE DATABASE ") + kDatabase);
    Connection maker(cluster.conninfo(0, "postgres", kDatabase));
    std::ifstream objects(WEIR_SOURCE_DIR "/test/tables/catalog_objects.sql");
    std::ostringstream text;
    text << objects.rdbuf();
    maker.must(text.str());
    maker.must("INSERT INTO plain(id, v) SELECT i, 'row ' || i FROM generate_series(1, 20) i;"
               "REFRESH MATERIALIZED VIEW mat; INSERT INTO secured VALUES (1);"
               "INSERT INTO with_row_function VALUES (1, 'one');"
               "INSERT INTO of_casted_well VALUES (ROW(1));"
               "CREATE TABLE filler AS SELECT generate_series(1, 10) AS id;"
               "ALTER TABLE filler OWNER TO app;"
               "GRANT ALL ON SCHEMA public, a, b, c TO app;"
               "GRANT ALL ON ALL TABLES IN SCHEMA public, a, b, c TO app;"
               "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app");
    const std::string lsn = maker.value("SELECT pg_current_wal_insert_lsn()");
    for (int node = 1; node < kNodes; ++node) {
      Connection standby(cluster.conninfo(node, "postgres", "postgres"));
      expect_soon("replay", [&] {
        return standby.value("SELECT pg_last_wal_replay_lsn() >= '" + lsn + "'") == "t";
      });
    }
  }
  static void TearDownTestSuite() {
    Connection super(Cluster::shared().conninfo(0, "postgres", "postgres"));
    super.exec(std::string("DROP DATABASE IF EXISTS ") + kDatabase + " WITH (FORCE)");
    turn_.reset();
  }

  std::string conninfo() const { return weir_.conninfo("app", kDatabase); }
  bool stays_on_primary(Connection& client, const std::string& sql) {
    for (int i = 0; i < 3; ++i) {
      if (weir_.node_of(client, sql) != 0)
        return false;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(20)); // nothing tells when facts have arrived
    }
    return true;
  }

  Pgweir weir_{Cluster::shared()};
  static inline std::unique_ptr<Connection> turn_;
};

TEST_F(CatalogTest, table_of_statements) {
  Connection primary(Cluster::shared().conninfo(0, "app", kDatabase));
  std::ifstream table(WEIR_SOURCE_DIR "/test/tables/catalog_live.tsv");
  int rows = 0;
  for (std::string line; std::getline(table, line);) {
    const std::size_t tab = line.find('\t');
    if (line.empty() || line[0] == '#' || tab == std::string::npos)
      continue;
    const std::string where = line.substr(0, tab);
    const std::string sql = line.substr(tab + 1);
    SCOPED_TRACE(sql);
    Connection client(conninfo());
    ASSERT_TRUE(client.ok()) << client.error();
    ++rows;
    if (where == "primary") {
      EXPECT_TRUE(stays_on_primary(client, sql));
      continue;
    }
    EXPECT_TRUE(weir_.reaches_standby(client, sql));
    if (where == "standby") {
      EXPECT_EQ(client.exec(sql).text(), primary.exec(sql).text());
    }
  }
  EXPECT_GT(rows, 100);
}

// A function's body means what the session's path makes of it.
TEST_F(CatalogTest, a_body_is_judged_by_the_search_path) {
  Connection client(conninfo());
  client.must("SET search_path = public, a");
  EXPECT_TRUE(weir_.reaches_standby(client, "SELECT uses_by_schema()"));
  EXPECT_EQ(client.value("SELECT uses_by_schema()"), "1");
  client.must("SET search_path TO public, b");
  EXPECT_TRUE(stays_on_primary(client, "SELECT uses_by_schema()"));
  Connection another(conninfo()); // the call of a volatile function binds the first one
  another.must("SELECT set_config('search_path', 'public,a', false)");
  EXPECT_TRUE(weir_.reaches_standby(another, "SELECT uses_by_schema()"));
  another.must("SET search_path = \"Quoted\", public, a");
  EXPECT_TRUE(stays_on_primary(another, "SELECT uses_by_schema()")) << "not read: every schema counts";
}

TEST_F(CatalogTest, what_is_not_known_goes_to_the_primary_once) {
  Connection maker(conninfo());
  maker.must("CREATE OR REPLACE FUNCTION changing() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1'");
  Connection client(conninfo());
  EXPECT_EQ(weir_.node_of(client, "SELECT changing()"), 0);
  EXPECT_TRUE(weir_.reaches_standby(client, "SELECT changing()"));
  // DDL through pgweir makes the facts void.
  maker.must("ALTER FUNCTION changing() VOLATILE");
  EXPECT_TRUE(stays_on_primary(client, "SELECT changing()"));
  maker.must("DROP FUNCTION changing()");
}

// What the question finds out of every kind of object, in a database of its own.
TEST_F(CatalogTest, table_of_facts) {
  constexpr const char* kFacts = "catalog_facts";
  Connection super(Cluster::shared().conninfo(0, "postgres", "postgres"));
  super.exec(std::string("DROP DATABASE IF EXISTS ") + kFacts + " WITH (FORCE)");
  super.must(std::string("CREATE DATABASE ") + kFacts);
  const std::string command = "PGWEIR_TEST_CONNINFO=\"" + Cluster::shared().conninfo(0, "postgres", kFacts) +
                              "\" '" WEIR_BINARY_DIR "/unit_lb' --gtest_filter=CatalogServer.*";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  super.must(std::string("DROP DATABASE ") + kFacts + " WITH (FORCE)");
}

// No statement tells of what a procedure changes.
TEST_F(CatalogTest, a_change_of_the_catalogue_that_code_makes_is_noticed) {
  Connection maker(conninfo());
  maker.must("CREATE OR REPLACE FUNCTION changing() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';"
             "CREATE OR REPLACE PROCEDURE changes() LANGUAGE plpgsql AS "
             "$$BEGIN EXECUTE 'ALTER FUNCTION changing() VOLATILE'; END$$;"
             "CREATE OR REPLACE FUNCTION changes_back() RETURNS int LANGUAGE plpgsql AS "
             "$$BEGIN EXECUTE 'ALTER FUNCTION changing() STABLE'; RETURN 1; END$$");
  Connection client(conninfo());
  EXPECT_TRUE(weir_.reaches_standby(client, "SELECT changing()"));
  const auto soon_on_primary = [&] {
    expect_soon("the change to be noticed", [&] {
      Connection fresh(conninfo()); // a call on the primary would keep the session there
      return stays_on_primary(fresh, "SELECT changing()");
    });
  };
  maker.must("CALL changes()");
  soon_on_primary();
  for (const char* back : {"SELECT changes_back()", "EXPLAIN ANALYZE SELECT changes_back()"}) {
    maker.must(back);
    expect_soon("the change back to be noticed", [&] {
      Connection fresh(conninfo());
      return weir_.node_of(fresh, "SELECT changing()") > 0;
    });
    maker.must("CALL changes()");
    soon_on_primary();
  }
  maker.must("DROP PROCEDURE changes(); DROP FUNCTION changes_back(); DROP FUNCTION changing()");
}

// The time of a transaction is one and the same, though its reads may begin on a standby.
TEST_F(CatalogTest, a_hidden_time_stays_the_same_when_a_block_moves) {
  for (const char* reads : {"SELECT at FROM v_time", "SELECT at FROM v_on_time", "SELECT tells_time()", "SELECT now()"}) {
    Connection client(conninfo());
    ASSERT_TRUE(weir_.reaches_standby(client, reads)) << reads;
    ASSERT_TRUE(weir_.reaches_standby(client, "SELECT count(*) FROM plain"));
    client.must("BEGIN");
    ASSERT_GT(weir_.node_of(client, "SELECT count(*) FROM plain"), 0) << "or nothing would move";
    const std::string before = client.value(reads);
    client.must("INSERT INTO filler VALUES (1)");
    EXPECT_EQ(client.value(reads), before) << reads;
    client.must("ROLLBACK");
  }
  Connection client(conninfo());
  ASSERT_TRUE(weir_.reaches_standby(client, "SELECT count(*) FROM plain"));
  client.must("BEGIN");
  ASSERT_GT(weir_.node_of(client, "SELECT count(*) FROM plain"), 0);
  const std::string before = client.exec_params("SELECT $1::timestamptz", {"now"}).value();
  client.must("INSERT INTO filler VALUES (1)");
  EXPECT_EQ(client.exec_params("SELECT $1::timestamptz", {"now"}).value(), before);
  client.must("ROLLBACK");
}

// Calling what is known to leave the session as it is does not keep it on the primary.
TEST_F(CatalogTest, quiet_doubt_leaves_the_session_free) {
  Connection client(conninfo());
  ASSERT_TRUE(weir_.reaches_standby(client, "SELECT count(*) FROM plain"));
  for (const char* sql : {"SELECT * FROM v_locking", "SELECT asks_the_node()", "SELECT * FROM unlogged",
                          "SELECT hides_nextval()", "SELECT count(*) FROM pg_stat_activity"}) {
    client.must(sql);
    EXPECT_TRUE(weir_.reaches_standby(client, "SELECT count(*) FROM plain")) << sql;
  }
}

// --- temporary objects

TEST_F(CatalogTest, a_session_with_temp_objects_balances_what_cannot_touch_them) {
  const char* kElsewhere = "SELECT count(*) FROM filler";
  for (const char* make :
       {"CREATE TEMP TABLE plain (id int, v text)",
        "CREATE TEMP TABLE plain (id int PRIMARY KEY, v text) ON COMMIT DELETE ROWS",
        "CREATE TEMPORARY TABLE plain AS SELECT 0 AS id, 'temp'::text AS v",
        "SELECT 0 AS id, 'temp'::text AS v INTO TEMP plain",
        "CREATE TABLE pg_temp.plain (id int, v text)",
        "CREATE TEMP VIEW plain AS SELECT 0 AS id, 'temp'::text AS v",
        "CREATE TEMP VIEW plain AS SELECT id, 'temp'::text AS v FROM public.plain WHERE id < 3",
        "BEGIN; CREATE TEMP TABLE plain (id int); COMMIT"}) {
    SCOPED_TRACE(make);
    Connection session(conninfo());
    EXPECT_EQ(session.value("SELECT count(*) FROM plain"), "20");
    ASSERT_TRUE(weir_.reaches_standby(session, "SELECT count(*) FROM plain"));
    session.must(make);
    EXPECT_TRUE(weir_.reaches_standby(session, kElsewhere));
    for (int i = 0; i < 3; ++i) {
      EXPECT_NE(session.value("SELECT count(*) FROM plain"), "20");
      EXPECT_EQ(weir_.node_of(session, "SELECT count(*) FROM plain"), 0);
      EXPECT_GT(weir_.node_of(session, kElsewhere), 0);
    }
    EXPECT_EQ(session.value("SELECT count(*) FROM public.plain"), "20");
    EXPECT_TRUE(weir_.reaches_standby(session, "SELECT count(*) FROM public.plain"));
    // A body looks names up when it runs.
    EXPECT_TRUE(stays_on_primary(session, "SELECT stable_fn(1)"));
    EXPECT_TRUE(stays_on_primary(session, "SELECT 'filler'::regclass"));
    // Of that name there may be one until the session says that there is none.
    session.exec("DROP VIEW IF EXISTS pg_temp.plain; DROP TABLE IF EXISTS pg_temp.plain");
    session.exec("DROP TABLE IF EXISTS pg_temp.plain");
    session.must("DISCARD TEMP");
    EXPECT_EQ(session.value("SELECT count(*) FROM plain"), "20");
    EXPECT_TRUE(weir_.reaches_standby(session, "SELECT stable_fn(1)"));
  }
}

TEST_F(CatalogTest, temp_objects_that_are_not_told_keep_the_session_on_the_primary) {
  for (const char* make :
       {"CREATE TEMP TABLE t1 (id int); ALTER TABLE t1 RENAME TO filler",
        "CREATE TEMP TABLE child_of_filler () INHERITS (filler)",
        "CREATE TEMP TABLE t1 (id int); CREATE VIEW filler_view AS SELECT * FROM t1",
        "SET search_path = pg_temp, public; CREATE TABLE filler (id int)",
        "CREATE TYPE pg_temp.mood AS ENUM ('other')",
        "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE TEMP TABLE t1 (id int DEFAULT volatile_fn())",
        "DO $$BEGIN CREATE TEMP TABLE filler (id int); END$$"}) {
    SCOPED_TRACE(make);
    Connection session(conninfo());
    ASSERT_TRUE(weir_.reaches_standby(session, "SELECT id FROM generated"));
    session.must(make);
    EXPECT_TRUE(stays_on_primary(session, "SELECT id FROM generated"));
    // Another session is not concerned.
    Connection other(conninfo());
    EXPECT_EQ(other.value("SELECT count(*) FROM filler"), "10");
  }
}

TEST_F(CatalogTest, temp_tables_are_used_freely) {
  Connection session(conninfo());
  session.must("CREATE TEMP TABLE mine (id int PRIMARY KEY, v text DEFAULT 'x', m mood)");
  session.must("INSERT INTO mine(id) SELECT id FROM plain");
  session.must("UPDATE mine SET v = 'y' WHERE id < 5");
  session.must("CREATE INDEX ON mine (v); TRUNCATE mine; INSERT INTO pg_temp.mine(id) VALUES (1)");
  EXPECT_EQ(session.value("SELECT count(*) FROM mine JOIN plain USING (id)"), "1");
  EXPECT_EQ(session.value("SELECT count(*) FROM pg_temp.mine"), "1");
  session.must("CREATE TEMP VIEW mine_view AS SELECT * FROM mine");
  EXPECT_EQ(session.value("SELECT count(*) FROM mine_view"), "1");
  EXPECT_TRUE(weir_.reaches_standby(session, "SELECT count(*) FROM plain"));
  EXPECT_EQ(session.value("SELECT count(*) FROM mine"), "1");
  session.must("BEGIN; CREATE TEMP TABLE gone (id int) ON COMMIT DROP; COMMIT");
  EXPECT_EQ(session.exec("SELECT * FROM gone").sqlstate, "42P01");
  session.must("DROP TABLE mine CASCADE; CREATE TEMP TABLE mine (other text)");
  EXPECT_EQ(session.value("SELECT count(other) FROM mine"), "0");
  EXPECT_TRUE(weir_.reaches_standby(session, "SELECT count(*) FROM plain"));
}

// A question's snapshot keeps VACUUM from what was written since: where no read waits for the answer, it is not asked amid
// new names.
TEST_F(CatalogTest, look_ups_that_nobody_waits_for_come_in_pauses) {
  using Clock = std::chrono::steady_clock;
  Pgweir weir(Cluster::shared(), {{"load_balance_mode", "off"}});
  Connection client(weir.conninfo("app", kDatabase));
  Connection super(Cluster::shared().conninfo(0, "postgres", "postgres"));
  const auto asked = [&] {
    return super.value("SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'pgweir service' AND datname = '" + std::string(kDatabase) +
                       "'") == "t";
  };
  // A busy machine may make a pause of its own: then once more.
  bool busy = true;
  for (int attempt = 0; busy && attempt < 20; ++attempt) {
    if (attempt > 0) {
      expect_soon("the last names' look-up", asked);
      super.must("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'pgweir service' AND datname = '" +
                 std::string(kDatabase) + "'");
      expect_soon("its end", [&] { return !asked(); });
    }
    const auto begin = Clock::now();
    const std::string table = "new_" + std::to_string(attempt);
    client.must("CREATE TABLE " + table + "(a int)");
    client.must("INSERT INTO " + table + " VALUES (1)");
    client.must("VACUUM " + table);
    const bool early = asked();
    busy = Clock::now() - begin >= std::chrono::milliseconds(900);
    EXPECT_TRUE(busy || !early);
  }
  EXPECT_FALSE(busy);
  expect_soon("the look-up", asked);
}

} // namespace
} // namespace weir::test
