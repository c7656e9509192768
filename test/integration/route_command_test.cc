// SHOW ROUTE, the counts of SHOW POOL_BACKEND_STATS and POOL_ROUTE_STATS, routing_dry_run and the PGPOOL commands.
#include <gtest/gtest.h>

#include <poll.h>

#include <set>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

std::string at(const Answer& answer, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    if (answer.columns[i] == column)
      return row < answer.rows.size() ? answer.rows[row].at(i).value_or("") : "no such row";
  }
  return "no such column: " + answer.message;
}

class RouteCommandTest : public ::testing::Test {
protected:
  Answer route(const std::string& sql) { return client_.exec("SHOW ROUTE $route$" + sql + "$route$"); }
  std::string reason(const std::string& sql) { return at(route(sql), 0, "reason"); }

  Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_};
  Connection client_{weir_.conninfo()};
};

TEST_F(RouteCommandTest, tells_target_nodes_reason_and_facts) {
  const std::string sql = "SELECT v FROM plain WHERE id = 1";
  expect_soon("the names are known", [&] { return reason(sql) == "PlainRead"; });
  const Answer read = route(sql);
  ASSERT_EQ(read.rows.size(), 1U) << read.message;
  EXPECT_EQ(read.columns, (std::vector<std::string>{"target", "nodes", "reason", "explanation", "cause",
                                                    "statements", "facts"}));
  EXPECT_EQ(at(read, 0, "target"), "any");
  EXPECT_EQ(at(read, 0, "nodes"), "1,2");
  EXPECT_EQ(at(read, 0, "statements"), "1");
  EXPECT_NE(at(read, 0, "facts").find("relation plain: known, harmless"), std::string::npos);
  const Answer write = route("INSERT INTO written(v) VALUES ('x')");
  EXPECT_EQ(at(write, 0, "target"), "primary");
  EXPECT_EQ(at(write, 0, "nodes"), "0");
  EXPECT_EQ(at(write, 0, "reason"), "Write");
  EXPECT_EQ(at(route("SHOW POOL_NODES"), 0, "target"), "local");
  EXPECT_EQ(at(route("/*pgweir: node=2*/ " + sql), 0, "nodes"), "2");
  EXPECT_EQ(at(route("/*pgweir: standby*/ " + sql), 0, "target"), "standby");
  const Answer both = route(sql + "; SELECT f_volatile(1)");
  EXPECT_EQ(at(both, 0, "reason"), "MultiStatement");
  EXPECT_EQ(at(both, 0, "statements"), "2");
}

TEST_F(RouteCommandTest, knows_of_redirects) {
  const std::string sql = "SELECT 1";
  const auto nodes = [&](const std::string& redirect, const std::string& text) {
    Pgweir weir(cluster_, {{"database_redirect_preference_list", "'" + redirect + "'"}});
    Connection client(weir.conninfo());
    return at(client.exec("SHOW ROUTE $route$" + text + "$route$"), 0, "nodes");
  };
  EXPECT_EQ(nodes("app:primary", sql), "0");
  EXPECT_EQ(nodes("app:primary", "/*pgweir: standby*/ " + sql), "1,2");
  EXPECT_EQ(nodes("app:primary(0.3)", sql), "0,1,2");
  EXPECT_EQ(nodes("app:2", sql), "2");
  EXPECT_EQ(nodes("app:2(0.0)", sql), "1");
  EXPECT_EQ(nodes("app:2(0.5)", sql), "1,2");
  EXPECT_EQ(nodes("other:2", sql), "1,2");
}

TEST_F(RouteCommandTest, any_text_gets_an_answer) {
  for (const std::string text : {"''", "' '", "';'", "'SELEC'", "'it''s'", "$$$$", "$a$ '$a$", "E'\\x41'", "'SHOW ROUTE ''x'''"}) {
    const Answer answer = client_.exec("SHOW ROUTE " + text);
    EXPECT_EQ(answer.rows.size(), 1U) << text << ": " << answer.message;
  }
  EXPECT_EQ(reason(""), "NothingToRun");
  EXPECT_EQ(reason("SELEC"), "Unparsable");
  EXPECT_EQ(reason("SELECT " + std::string(20000, '(')), "Unparsable");
  EXPECT_EQ(client_.exec("SHOW ROUTE 'x").sqlstate, "42601");
  EXPECT_EQ(client_.exec("SHOW ROUTE 'SELECT 1'; SELECT 1").sqlstate, "42601");
}

TEST_F(RouteCommandTest, nothing_runs_and_nothing_counts) {
  ASSERT_TRUE(weir_.reaches_standby(client_, "SELECT v FROM plain WHERE id = 1"));
  for (const char* sql : {"CREATE TEMP TABLE tt(i int)", "DO $$BEGIN END$$", "SET search_path = other", "BEGIN", "LISTEN x",
                          "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "SELECT f_volatile(1)", "DROP TABLE plain"}) {
    EXPECT_EQ(route(sql).rows.size(), 1U) << sql;
    EXPECT_EQ(client_.transaction(), 'I') << sql;
  }
  EXPECT_EQ(client_.value("SHOW search_path"), "\"$user\", public");
  EXPECT_GT(weir_.node_of(client_, "SELECT v FROM plain WHERE id = 1"), 0);
}

TEST_F(RouteCommandTest, in_blocks_and_in_sessions_of_every_kind) {
  const std::string sql = "SELECT v FROM plain WHERE id = 1";
  expect_soon("the names are known", [&] { return reason(sql) == "PlainRead"; });
  client_.must("BEGIN");
  client_.must("INSERT INTO written(v) VALUES ('r')");
  const Answer inside = route(sql);
  EXPECT_EQ(at(inside, 0, "target"), "same node");
  EXPECT_EQ(at(inside, 0, "nodes"), "0");
  EXPECT_EQ(at(inside, 0, "reason"), "InTransaction");
  EXPECT_NE(at(inside, 0, "facts").find("session: a transaction is open on the primary"), std::string::npos);
  client_.exec("SELECT 1/0");
  EXPECT_EQ(route(sql).sqlstate, "25P02");
  client_.must("ROLLBACK");
  client_.must("CREATE TEMP TABLE tt(i int)");
  expect_soon("what it wrote to is known", [&] { return reason(sql) == "PlainRead"; }); // cannot touch it
  EXPECT_EQ(reason("SELECT i FROM tt"), "TempObjects");
  EXPECT_NE(at(route(sql), 0, "facts").find("session: it may have temporary objects"), std::string::npos);
  client_.must("SET standard_conforming_strings = off");
  EXPECT_EQ(at(client_.exec("SHOW ROUTE 'SELECT 1'"), 0, "reason"), "NonstandardStrings");
  EXPECT_EQ(client_.exec("SHOW POOL_NODES").rows.size(), 3U);
}

TEST_F(RouteCommandTest, both_protocols_and_types) {
  RawClient client(weir_.port());
  client.login();
  EXPECT_EQ(outline(client.ask(parse("r", "SHOW ROUTE 'SELECT 1'") + describe('S', "r") + sync())), "1 t T Z:I");
  const auto answer = client.ask(bind("", "r") + describe('P', "") + execute("") + sync());
  ASSERT_EQ(answer.size(), 5U) << outline(answer);
  const auto simple = client.ask(query("SHOW ROUTE 'SELECT 1'"));
  ASSERT_EQ(simple.size(), 4U) << outline(simple);
  EXPECT_EQ(simple[0].body, answer[1].body);
  EXPECT_EQ(simple[1].body, answer[2].body);
  EXPECT_EQ(client_.exec_params("SHOW ROUTE 'SELECT 1'", {}).rows.size(), 1U);
}

// ---------------------------------------------------------------------------------------------------------- counts

// The value of COLUMN in the row of NODE, and of REASON if one is named; 0 without such a row.
long count(const Answer& answer, int node, const std::string& column, const std::string& reason = "") {
  for (std::size_t i = 0; i < answer.rows.size(); ++i) {
    const bool wanted = at(answer, i, "node_id") == std::to_string(node) &&
                        (reason.empty() || at(answer, i, "reason") == reason);
    if (wanted)
      return std::stol(at(answer, i, column));
  }
  return 0;
}

TEST_F(RouteCommandTest, statements_count_by_kind_and_node) {
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  ASSERT_TRUE(weir_.reaches_standby(client_, read));
  const Answer before = client_.exec("SHOW POOL_BACKEND_STATS");
  EXPECT_EQ(before.columns,
            (std::vector<std::string>{"node_id", "hostname", "port", "status", "role", "select_cnt",
                                      "insert_cnt", "update_cnt", "delete_cnt", "ddl_cnt", "other_cnt",
                                      "panic_cnt", "fatal_cnt", "error_cnt"}));
  ASSERT_EQ(before.rows.size(), 3U);
  for (int i = 0; i < 3; ++i)
    client_.must(read);
  EXPECT_TRUE(client_.exec_params(read, {}).ok());
  client_.must("BEGIN");
  client_.must("INSERT INTO written(v) VALUES ('counted'); UPDATE written SET v = 'c' WHERE v = 'counted'");
  client_.must("DELETE FROM written WHERE v = 'c'");
  client_.must("CREATE TABLE counted(i int)");
  client_.must("ROLLBACK");
  client_.exec("SELECT 1/0 FROM written");
  // Another client, most likely on another child, counts into the same sums.
  Connection other(weir_.conninfo());
  other.must("INSERT INTO written(v) VALUES ('counted')");
  const Answer after = client_.exec("SHOW POOL_BACKEND_STATS");
  const auto grown = [&](const std::string& column, int node) { return count(after, node, column) - count(before, node, column); };
  EXPECT_EQ(grown("select_cnt", 1) + grown("select_cnt", 2) + grown("select_cnt", 0), 5);
  EXPECT_EQ(grown("insert_cnt", 0), 2);
  EXPECT_EQ(grown("update_cnt", 0), 1);
  EXPECT_EQ(grown("delete_cnt", 0), 1);
  EXPECT_EQ(grown("ddl_cnt", 0), 1);
  EXPECT_EQ(grown("other_cnt", 0), 1); // ROLLBACK; BEGIN is no statement of the client's there
  EXPECT_EQ(grown("error_cnt", 0) + grown("error_cnt", 1) + grown("error_cnt", 2), 1);
}

TEST_F(RouteCommandTest, decisions_count_by_reason_and_are_logged) {
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  ASSERT_TRUE(weir_.reaches_standby(client_, read));
  const Answer before = client_.exec("SHOW POOL_ROUTE_STATS");
  EXPECT_EQ(before.columns, (std::vector<std::string>{"node_id", "hostname", "port", "role", "reason",
                                                      "decisions", "dry_runs", "explanation"}));
  client_.must(read);
  client_.must(read);
  client_.must("INSERT INTO written(v) VALUES ('reasoned')");
  client_.must("SELECT 1; INSERT INTO written(v) VALUES ('several')");
  const Answer after = client_.exec("SHOW POOL_ROUTE_STATS");
  const auto grown = [&](const std::string& reason, int node) {
    return count(after, node, "decisions", reason) - count(before, node, "decisions", reason);
  };
  EXPECT_EQ(grown("PlainRead", 1) + grown("PlainRead", 2), 2);
  EXPECT_EQ(grown("Write", 0), 1);
  EXPECT_EQ(grown("MultiStatement", 0), 1);
  EXPECT_TRUE(weir_.logged("'reasoned') (Write: writes)"));
  EXPECT_TRUE(weir_.logged("'several') (MultiStatement by "));
}

// ---------------------------------------------------------------------------------------------------------- dry run

TEST_F(RouteCommandTest, a_dry_run_decides_and_sends_all_to_the_primary) {
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  ASSERT_TRUE(weir_.reaches_standby(client_, read));
  client_.must("PGPOOL SET routing_dry_run = on");
  const Answer before = client_.exec("SHOW POOL_ROUTE_STATS");
  EXPECT_EQ(weir_.node_of(client_, read), 0);
  EXPECT_EQ(weir_.node_of(client_, "/*pgweir: node=1*/ " + read), 0);
  const Answer after = client_.exec("SHOW POOL_ROUTE_STATS");
  const auto grown = [&](const std::string& column, const std::string& reason, int node) {
    return count(after, node, column, reason) - count(before, node, column, reason);
  };
  EXPECT_EQ(grown("dry_runs", "PlainRead", 1) + grown("dry_runs", "PlainRead", 2), 1);
  EXPECT_EQ(grown("dry_runs", "HintNode", 1), 1);
  EXPECT_EQ(grown("decisions", "DryRun", 0), 2);
  EXPECT_TRUE(weir_.logged("(DryRun: routing_dry_run is on; decided: node 1 by HintNode)"));
  EXPECT_EQ(reason(read), "PlainRead");
  EXPECT_NE(at(route(read), 0, "facts").find("routing_dry_run"), std::string::npos);
  Connection other(weir_.conninfo());
  EXPECT_GT(weir_.node_of(other, read), 0); // that session alone
  client_.must("PGPOOL RESET routing_dry_run");
  EXPECT_GT(weir_.node_of(client_, read), 0);
}

TEST_F(RouteCommandTest, a_dry_run_of_the_whole_server) {
  Pgweir dry(cluster_, {{"routing_dry_run", "on"}});
  Connection client(dry.conninfo());
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  expect_soon("the decision is known", [&] { return at(client.exec("SHOW ROUTE '" + read + "'"), 0, "reason") == "PlainRead"; });
  EXPECT_EQ(dry.node_of(client, read), 0);
  client.must("BEGIN READ ONLY");
  EXPECT_EQ(dry.node_of(client, read), 0);
  client.must("COMMIT");
}

// ---------------------------------------------------------------------------------------------------------- PGPOOL

TEST_F(RouteCommandTest, pgpool_show) {
  const Answer port = client_.exec("PGPOOL SHOW port");
  EXPECT_EQ(port.columns, (std::vector<std::string>{"port"}));
  EXPECT_EQ(port.value(), std::to_string(weir_.port()));
  EXPECT_EQ(client_.exec("pgpool show child_life_time;").value(), "5min");
  EXPECT_EQ(client_.exec("PGPOOL SHOW backend_weight1").value(), "1");
  const Answer all = client_.exec("PGPOOL SHOW ALL");
  EXPECT_EQ(all.columns, (std::vector<std::string>{"item", "value", "description"}));
  EXPECT_GT(all.rows.size(), 100U);
  EXPECT_EQ(client_.exec("PGPOOL SHOW backend").rows.size() % 3, 0U);
  EXPECT_GT(client_.exec("PGPOOL SHOW watchdog").rows.size(), 3U);
  EXPECT_GT(client_.exec("PGPOOL SHOW heartbeat").rows.size(), 1U);
  const Answer unknown = client_.exec("PGPOOL SHOW nothing_like_it");
  EXPECT_EQ(unknown.sqlstate, "42704");
  EXPECT_EQ(unknown.message, "config variable \"nothing_like_it\" not found");
  EXPECT_EQ(client_.exec("PGPOOL SHOW").sqlstate, "42601");
  EXPECT_EQ(client_.exec("PGPOOL SHOW a b").sqlstate, "42601");
  EXPECT_EQ(client_.value("SELECT 1"), "1");
}

TEST_F(RouteCommandTest, secrets_are_never_shown) {
  Pgweir weir(cluster_, {{"recovery_password", "'very secret'"}, {"wd_authkey", "'very secret'"}});
  Connection client(weir.conninfo());
  EXPECT_EQ(client.exec("PGPOOL SHOW recovery_password").value(), "*****");
  for (const char* sql : {"PGPOOL SHOW ALL", "PGPOOL SHOW watchdog", "SHOW POOL_STATUS"}) {
    for (const auto& row : client.exec(sql).rows)
      EXPECT_EQ(row.at(1).value_or("").find("very secret"), std::string::npos) << row.at(0).value_or("");
  }
}

TEST_F(RouteCommandTest, pgpool_set_is_the_sessions_own) {
  Connection other(weir_.conninfo());
  EXPECT_EQ(client_.exec("PGPOOL SET log_statement TO on").tag, "SET");
  EXPECT_EQ(client_.exec("PGPOOL SHOW log_statement").value(), "on");
  EXPECT_EQ(other.exec("PGPOOL SHOW log_statement").value(), "off");
  client_.must("SELECT 'mine is logged'");
  other.must("SELECT 'not mine'");
  EXPECT_TRUE(weir_.logged("LOG:  statement: SELECT 'mine is logged'"));
  EXPECT_FALSE(weir_.logged("LOG:  statement: SELECT 'not mine'"));
  weir_.set("log_disconnections", "on");
  weir_.reload();
  EXPECT_EQ(client_.exec("PGPOOL SHOW log_statement").value(), "on"); // a reload keeps it
  expect_soon("the reload arrives", [&] { return client_.exec("PGPOOL SHOW log_disconnections").value() == "on"; });
  EXPECT_EQ(client_.exec("PGPOOL RESET log_statement").tag, "SET");
  EXPECT_EQ(client_.exec("PGPOOL SHOW log_statement").value(), "off");
  client_.must("PGPOOL SET log_statement = 'on'");
  EXPECT_EQ(client_.exec("PGPOOL RESET ALL").tag, "RESET");
  EXPECT_EQ(client_.exec("PGPOOL SHOW log_statement").value(), "off");
}

TEST_F(RouteCommandTest, pgpool_set_refuses_what_is_not_the_sessions) {
  const Answer port = client_.exec("PGPOOL SET port TO 5");
  EXPECT_EQ(port.sqlstate, "55P02");
  EXPECT_EQ(port.message, "invalid Context, value for parameter \"port\" cannot be changed");
  EXPECT_EQ(client_.exec("PGPOOL SET backend_weight1 TO 5").sqlstate, "55P02");
  EXPECT_EQ(client_.exec("PGPOOL RESET load_balance_mode").sqlstate, "55P02");
  EXPECT_EQ(client_.exec("PGPOOL SET no_such_thing = 1").sqlstate, "42704");
  EXPECT_EQ(client_.exec("PGPOOL SET log_statement = maybe").sqlstate, "22023");
  EXPECT_EQ(client_.exec("PGPOOL SET log_statement").sqlstate, "42601");
  EXPECT_EQ(client_.exec("PGPOOL SET CACHE DELETE 'SELECT 1'").sqlstate, "0A000");
  EXPECT_TRUE(client_.notices().empty());
  client_.must("PGPOOL SET allow_sql_comments = on");
  EXPECT_EQ(client_.notices().size(), 1U); // it has no effect, and is said so
}

TEST_F(RouteCommandTest, session_parameters_take_effect) {
  const std::string read = "SELECT v FROM plain WHERE id = 1";
  ASSERT_TRUE(weir_.reaches_standby(client_, read));
  client_.must("PGPOOL SET statement_level_load_balance = on");
  EXPECT_EQ(at(route(read), 0, "nodes"), "1,2");
  std::set<int> nodes;
  expect_soon("both standbys are used", [&] {
    nodes.insert(weir_.node_of(client_, read));
    return nodes.size() == 2;
  });
  client_.must("PGPOOL SET notice_per_node_statement = on");
  client_.must(read);
  ASSERT_EQ(client_.notices().size(), 1U);
  EXPECT_NE(client_.notices()[0].find("DB node id: "), std::string::npos);
  client_.must("PGPOOL SET client_min_messages = warning");
  client_.must(read);
  EXPECT_EQ(client_.notices().size(), 1U);
  client_.must("PGPOOL RESET ALL");
  EXPECT_EQ(at(route(read), 0, "nodes").size(), 1U);
  client_.must("PGPOOL SET log_min_messages = fatal");
  EXPECT_EQ(weir_.node_of(client_, read), -1); // nothing of this session is logged
  client_.must("PGPOOL SET client_idle_limit = 1");
  pollfd watched{client_.socket(), POLLIN, 0};
  ASSERT_EQ(::poll(&watched, 1, 10'000), 1); // the server has something to say: it is over
  EXPECT_FALSE(client_.exec("SELECT 1").ok());
}

TEST_F(RouteCommandTest, pgpool_in_the_extended_protocol_and_in_blocks) {
  RawClient client(weir_.port());
  client.login();
  EXPECT_EQ(outline(client.ask(parse("s", "PGPOOL SET log_statement = on") + describe('S', "s") + bind("", "s") + describe('P', "") + execute("") + sync())),
            "1 t n 2 n C:SET Z:I");
  EXPECT_EQ(outline(client.ask(parse("", "PGPOOL SHOW log_statement") + bind("", "") + describe('P', "") + execute("") + sync())),
            "1 2 T D:on C:SELECT 1 Z:I");
  EXPECT_EQ(outline(client.ask(parse("", "PGPOOL SHOW nothing") + describe('S', "") + sync())), "1 E:42704 Z:I");
  client_.must("BEGIN");
  client_.must("PGPOOL SET log_statement = on");
  EXPECT_EQ(client_.transaction(), 'T');
  client_.exec("SELECT 1/0");
  EXPECT_EQ(client_.exec("PGPOOL SHOW log_statement").sqlstate, "25P02");
  client_.must("ROLLBACK");
  EXPECT_EQ(client_.exec("PGPOOL SHOW log_statement").value(), "on"); // not the transaction's
}

} // namespace
} // namespace weir::test
