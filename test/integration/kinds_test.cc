// Kinds of statements that read without being a SELECT: COPY to the client, EXPLAIN, and SQL's PREPARE and EXECUTE.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

const std::string kRead = "SELECT v FROM plain WHERE id = 1";

class KindsTest : public testing::Test {
protected:
  void SetUp() override {
    client_.must("INSERT INTO written(v) VALUES ('ready')");  // what is written to is looked up when it is first seen
    ASSERT_TRUE(wait_until([&] { return node(kRead) > 0; }, kPatience));
  }
  int node(const std::string& sql) { return weir_.node_of(client_, sql); }
  bool reaches_standby(const std::string& sql) {
    return wait_until([&] { return node(sql) > 0; }, kPatience);
  }

  // What COPY sends, and an empty text with the SQLSTATE of a failure.
  static std::string copy(Connection& client, const std::string& sql, bool extended) {
    ResultPtr result(extended ? PQexecParams(client.raw(), sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0) : PQexec(client.raw(), sql.c_str()));
    if (PQresultStatus(result.get()) != PGRES_COPY_OUT) return "failed: " + to_answer(result.get()).sqlstate;
    std::string data;
    char* row = nullptr;
    for (int size = 0; (size = PQgetCopyData(client.raw(), &row, 0)) > 0; PQfreemem(row)) data.append(row, static_cast<std::size_t>(size));
    while (ResultPtr end{PQgetResult(client.raw())}) {
      if (PQresultStatus(end.get()) == PGRES_FATAL_ERROR) return "failed: " + to_answer(end.get()).sqlstate;
    }
    return data;
  }
  int copy_node(const std::string& sql, bool extended) {
    static int serial = 0;
    const std::string mark = "copy " + std::to_string(++serial) + " end";
    copy(client_, sql + " /* " + mark + " */", extended);
    const auto nodes = weir_.nodes_of(mark);
    return nodes.empty() ? -1 : nodes.back();
  }

  struct Run {
    std::vector<std::string> answers;
    std::string states;
  };
  static Run run(const std::string& conninfo, const std::vector<std::string>& texts) {
    Connection client(conninfo);
    EXPECT_TRUE(client.ok()) << client.error();
    Run result;
    for (const std::string& text : texts) {
      std::string answers = text;
      for (const Answer& answer : client.exec_all(text)) answers += "\n  " + answer.text();
      result.answers.push_back(answers);
      result.states += client.transaction();
    }
    return result;
  }

  // Directly and through pgweir, the same answers; again and again, until all names are known and standbys answer.
  void same(const std::vector<std::string>& texts) {
    for (int round = 0; round < 4; ++round) {
      const Run direct = run(cluster_.conninfo(0), texts);
      const Run through = run(weir_.conninfo(), texts);
      EXPECT_EQ(through.answers, direct.answers);
      EXPECT_EQ(through.states, direct.states);
    }
  }

  const Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_};
  Connection client_{weir_.conninfo()};
};

TEST_F(KindsTest, copy_to_the_client_in_both_protocols) {
  Connection direct(cluster_.conninfo(0));
  for (const bool extended : {false, true}) {
    for (const char* sql : {"COPY plain TO STDOUT", "COPY plain (v, id) TO STDOUT WITH (FORMAT csv, HEADER)", "COPY (SELECT v FROM plain ORDER BY id) TO STDOUT"}) {
      EXPECT_TRUE(wait_until([&] { return copy_node(sql, extended) > 0; }, kPatience)) << sql;
      EXPECT_EQ(copy(client_, sql, extended), copy(direct, sql, extended)) << sql;
    }
    for (const char* sql : {"COPY unlogged_t TO STDOUT", "COPY secured TO STDOUT", "COPY vw TO STDOUT", "COPY parted TO STDOUT", "COPY matv TO STDOUT", "COPY nothing_there TO STDOUT",
                            "COPY plain (nothing) TO STDOUT", "COPY pg_temp.nothing TO STDOUT"}) {
      EXPECT_EQ(copy(client_, sql, extended), copy(direct, sql, extended)) << sql;
    }
    EXPECT_EQ(copy_node("COPY unlogged_t TO STDOUT", extended), 0);
  }
  // Whatever it does to the session keeps that on the primary.
  for (const bool extended : {false, true}) {
    EXPECT_EQ(copy(client_, "COPY (SELECT f_writes('copy')) TO STDOUT", extended), "1\n");
    EXPECT_EQ(copy_node("COPY (SELECT f_writes('copy')) TO STDOUT", extended), 0);
  }
}

TEST_F(KindsTest, copy_in_blocks) {
  ASSERT_TRUE(wait_until([&] { return copy_node("COPY plain TO STDOUT", false) > 0; }, kPatience));
  for (const char* begin : {"BEGIN", "BEGIN READ ONLY"}) {
    client_.must(begin);
    const int first = copy_node("COPY plain TO STDOUT", false);
    EXPECT_GT(first, 0) << begin;
    EXPECT_EQ(node(kRead), first) << begin;
    EXPECT_EQ(copy_node("COPY plain TO STDOUT", true), first) << begin;
    client_.must("COMMIT");
  }
  client_.must("BEGIN");
  EXPECT_GT(node(kRead), 0);
  client_.must("INSERT INTO written(v) VALUES ('copy')");
  EXPECT_EQ(copy_node("COPY plain TO STDOUT", false), 0);
  client_.must("ROLLBACK");
}

TEST_F(KindsTest, copy_of_a_table_that_is_hidden_by_a_temporary_one) {
  ASSERT_TRUE(wait_until([&] { return copy_node("COPY plain TO STDOUT", false) > 0; }, kPatience));
  client_.must("CREATE TEMP TABLE plain (only_this text)");
  client_.must("INSERT INTO plain VALUES ('mine')");
  EXPECT_EQ(copy(client_, "COPY plain TO STDOUT", false), "mine\n");
  EXPECT_EQ(copy(client_, "COPY plain TO STDOUT", true), "mine\n");
}

TEST_F(KindsTest, explain_of_a_read) {
  Connection direct(cluster_.conninfo(0));
  for (const char* sql : {"EXPLAIN SELECT v FROM plain WHERE id = 1", "EXPLAIN (VERBOSE, COSTS off) VALUES (1)", "EXPLAIN (FORMAT json) TABLE plain",
                          "EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT v FROM plain WHERE id = 1"}) {
    EXPECT_TRUE(reaches_standby(sql)) << sql;
    EXPECT_EQ(client_.exec(sql).text(), direct.exec(sql).text()) << sql;
    EXPECT_EQ(client_.exec_params(sql, {}).text(), direct.exec_params(sql, {}).text()) << sql;
  }
  for (const char* sql : {"EXPLAIN INSERT INTO written(v) VALUES ('explained')", "EXPLAIN SELECT f_writes('explained')", "EXPLAIN SELECT * FROM plain FOR UPDATE",
                          "EXPLAIN (SETTINGS) SELECT 1", "EXPLAIN SELECT * FROM unlogged_t"}) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(node(sql), 0) << sql;
  }
}

TEST_F(KindsTest, execute_is_what_was_prepared) {
  client_.must("PREPARE p (int) AS SELECT v FROM plain WHERE id = $1");
  EXPECT_TRUE(reaches_standby("EXECUTE p(1)"));
  EXPECT_EQ(client_.value("EXECUTE p(2)"), "row 2");
  EXPECT_GT(node("EXECUTE p(3)"), 0);
  EXPECT_EQ(client_.exec_params("EXECUTE p(4)", {}).value(), "row 4");
  EXPECT_EQ(client_.exec("PREPARE p AS SELECT 1").sqlstate, "42P05");
  client_.must("DEALLOCATE p");
  EXPECT_EQ(client_.exec("EXECUTE p(1)").sqlstate, "26000");
  client_.must("PREPARE p AS SELECT 'another ' || v FROM plain WHERE id = 1");
  EXPECT_TRUE(reaches_standby("EXECUTE p"));
  EXPECT_EQ(client_.value("EXECUTE p"), "another row 1");
  client_.must("DISCARD ALL");
  EXPECT_EQ(client_.exec("EXECUTE p").sqlstate, "26000");
  client_.must("PREPARE p (int) AS SELECT v FROM plain WHERE id = $1");
  EXPECT_EQ(node("EXECUTE p(f_volatile(1))"), 0);
}

TEST_F(KindsTest, execute_of_a_write_stays) {
  client_.must("PREPARE ins (text) AS INSERT INTO written(v) VALUES ($1)");
  client_.must("PREPARE lck AS SELECT * FROM plain FOR UPDATE");
  client_.must("/*NO LOAD BALANCE*/ PREPARE hinted AS SELECT v FROM plain WHERE id = 1");
  client_.must("PREPARE now_is AS SELECT 'now'::timestamptz");
  for (const char* sql : {"EXECUTE ins('x')", "EXECUTE lck", "EXECUTE now_is", "EXECUTE hinted", "EXPLAIN EXECUTE ins('x')"}) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(node(sql), 0) << sql;
  }
}

TEST_F(KindsTest, execute_in_blocks) {
  client_.must("PREPARE a AS SELECT v FROM plain WHERE id = 1");
  client_.must("PREPARE b AS SELECT v FROM plain WHERE id = 2");
  ASSERT_TRUE(reaches_standby("SELECT v FROM plain WHERE id = 2"));
  client_.must("BEGIN");
  const int first = node("EXECUTE a");
  EXPECT_GT(first, 0);
  EXPECT_EQ(node("EXECUTE b"), first);
  EXPECT_EQ(client_.value("EXECUTE b"), "row 2");
  client_.must("INSERT INTO written(v) VALUES ('moved')");
  EXPECT_EQ(node("EXECUTE a"), 0);
  EXPECT_EQ(client_.exec("EXECUTE missing").sqlstate, "26000");
  EXPECT_EQ(client_.exec("EXECUTE a").sqlstate, "25P02");
  client_.must("ROLLBACK");
  client_.must("BEGIN READ ONLY");
  EXPECT_GT(node(kRead), 0);
  EXPECT_GT(node("EXECUTE b"), 0);
  EXPECT_EQ(client_.exec("EXECUTE missing").sqlstate, "26000");
  client_.must("ROLLBACK");
}

TEST_F(KindsTest, names_are_one_space_for_both_protocols) {
  EXPECT_TRUE(client_.prepare("one", "SELECT v FROM plain WHERE id = 1").ok());
  EXPECT_TRUE(reaches_standby("EXECUTE one"));
  EXPECT_EQ(client_.exec("PREPARE one AS SELECT 1").sqlstate, "42P05");
  EXPECT_EQ(client_.exec_prepared("one", {}).value(), "row 1");
  client_.must("DEALLOCATE one");
  EXPECT_EQ(client_.exec("EXECUTE one").sqlstate, "26000");
  EXPECT_EQ(client_.exec_prepared("one", {}).sqlstate, "26000");
  client_.must("PREPARE one AS SELECT v FROM plain WHERE id = 2");
  EXPECT_TRUE(reaches_standby("EXECUTE one"));
  EXPECT_EQ(client_.value("EXECUTE one"), "row 2");
  EXPECT_EQ(client_.exec_prepared("one", {}).value(), "row 2");
  EXPECT_EQ(client_.prepare("one", "SELECT v FROM plain WHERE id = 3").sqlstate, "42P05");
  client_.must("BEGIN READ ONLY");
  EXPECT_GT(node(kRead), 0);
  EXPECT_EQ(client_.exec_prepared("one", {}).value(), "row 2");
  client_.must("COMMIT");
  client_.must("DEALLOCATE one");
  EXPECT_TRUE(client_.prepare("one", "SELECT v FROM plain WHERE id = 3").ok());
  EXPECT_EQ(client_.exec_prepared("one", {}).value(), "row 3");
  EXPECT_EQ(client_.value("EXECUTE one"), "row 3");
}

TEST_F(KindsTest, nobody_can_tell_a_prepared_statement_from_a_direct_one) {
  const std::vector<std::vector<std::string>> sessions = {
      {"EXECUTE p", "PREPARE p AS SELECT v FROM plain WHERE id = 1", "EXECUTE p", "EXECUTE p", "PREPARE p AS SELECT 2", "EXECUTE p(1)", "DEALLOCATE q", "DEALLOCATE p",
       "DEALLOCATE p", "EXECUTE p"},
      {"BEGIN", "PREPARE p AS SELECT v FROM plain WHERE id = 1", "EXECUTE p", "ROLLBACK", "EXECUTE p", "DEALLOCATE ALL", "EXECUTE p"},
      {"PREPARE p AS SELECT nothing FROM plain", "EXECUTE p", "PREPARE p AS SELECT v FROM plain WHERE id = 1; SELECT 1/0", "EXECUTE p", "EXECUTE p"},
      {"PREPARE p AS SELECT '01/02/2026'::date", "EXECUTE p", "SET datestyle = 'SQL, DMY'", "EXECUTE p", "DEALLOCATE p", "PREPARE p AS SELECT '01/02/2026'::date", "EXECUTE p"},
      {"PREPARE p AS SELECT '01/02/2026'::date", "SET datestyle = 'SQL, DMY'", "EXECUTE p", "EXECUTE p"},
      {"BEGIN", "SET LOCAL datestyle = 'SQL, DMY'", "PREPARE p AS SELECT '01/02/2026'::date", "COMMIT", "EXECUTE p", "EXECUTE p"},
      {"PREPARE p AS SELECT '01/02/2026'::date", "BEGIN READ ONLY", "SET LOCAL datestyle = 'SQL, DMY'", "EXECUTE p", "COMMIT", "EXECUTE p"},
      {"PREPARE p AS SELECT v FROM plain WHERE id = 1", "EXECUTE p", "SET search_path = other", "EXECUTE p", "SET search_path = other, public", "EXECUTE p", "RESET search_path", "EXECUTE p"},
      // With a temporary schema already there a server itself does not notice what hides a name: its own answer counts.
      {"CREATE TEMP TABLE first (a int)", "PREPARE p AS SELECT count(*) FROM plain", "EXECUTE p", "CREATE TEMP TABLE plain (id int, v text)", "EXECUTE p", "DROP TABLE pg_temp.plain", "EXECUTE p"},
      {"PREPARE p AS SELECT 'a\\b' AS x", "EXECUTE p", "SET standard_conforming_strings = off", "EXECUTE p", "DEALLOCATE p", "PREPARE p AS SELECT 'a\\\\b' AS x", "EXECUTE p",
       "SET standard_conforming_strings = on", "EXECUTE p", "EXECUTE p"},
      {"PREPARE a AS SELECT 1; EXECUTE a", "EXECUTE a", "EXECUTE a; EXECUTE a", "DEALLOCATE a; EXECUTE a", "EXECUTE a"},
      {"SET client_encoding = 'latin1'; PREPARE p AS SELECT length('\xc3\xa4')", "EXECUTE p", "SET client_encoding = 'utf8'", "EXECUTE p"},
      {"PREPARE p AS SELECT v FROM plain WHERE id = $1", "EXECUTE p(1)", "EXECUTE p", "EXECUTE p(1, 2)", "EXECUTE p('x')", "EXECUTE p((SELECT 1))", "EXECUTE p(NULL)"},
      {"PREPARE p AS SELECT v FROM plain WHERE id = 1", "EXECUTE p", "DO $$ BEGIN EXECUTE 'DEALLOCATE p'; END $$", "EXECUTE p"},
      {"PREPARE p AS SELECT v FROM plain WHERE id = 1", "EXECUTE p", "DO $$ BEGIN EXECUTE 'DEALLOCATE p'; PERFORM 1/0; END $$", "EXECUTE p"},
      {"PREPARE \"P q\" AS SELECT v FROM plain WHERE id = 1", "EXECUTE \"P q\"", "EXECUTE p", "BEGIN", "EXECUTE \"P q\"", "SAVEPOINT s", "EXECUTE nothing", "ROLLBACK TO s",
       "EXECUTE \"P q\"", "COMMIT"},
      {"CREATE TABLE changing (a int)", "INSERT INTO changing VALUES (1)", "PREPARE p AS SELECT * FROM changing", "EXECUTE p", "ALTER TABLE changing ADD COLUMN b int", "EXECUTE p",
       "EXECUTE p", "DROP TABLE changing", "EXECUTE p"},
  };
  for (const auto& session : sessions) {
    SCOPED_TRACE(session.front());
    same(session);
  }
}

TEST_F(KindsTest, show_route_tells_of_execute) {
  client_.must("PREPARE p AS SELECT v FROM plain WHERE id = 1");
  ASSERT_TRUE(reaches_standby("EXECUTE p"));
  EXPECT_EQ(client_.exec("SHOW ROUTE 'EXECUTE p'").rows.at(0).at(2), "PlainRead");
  EXPECT_EQ(client_.exec("SHOW ROUTE 'EXECUTE missing'").rows.at(0).at(2), "SqlPrepare");
  client_.must("PREPARE ins AS INSERT INTO written(v) VALUES ('x')");
  EXPECT_EQ(client_.exec("SHOW ROUTE 'EXECUTE ins'").rows.at(0).at(2), "Write");
}

} // namespace
} // namespace weir::test
