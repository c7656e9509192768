// pool_mode = transaction and statement: connections are lent by the transaction, and nothing crosses between clients.
#include <gtest/gtest.h>
#include <poll.h>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

const std::string kPid = "SELECT pg_backend_pid()";

// One child and one connection a node: whoever waits in vain for another's connection shows it.
class LendingTest : public testing::Test {
protected:
  static void ask(Connection& client, const std::string& sql) {
    ASSERT_EQ(PQsendQuery(client.raw(), sql.c_str()), 1);
    PQflush(client.raw());
  }
  static bool answered(Connection& client, int milliseconds) {
    pollfd what{client.socket(), POLLIN, 0};
    return ::poll(&what, 1, milliseconds) > 0;
  }
  static Answer collect(Connection& client) {
    Answer last;
    while (PGresult* raw = PQgetResult(client.raw())) {
      const ResultPtr result(raw);
      last = to_answer(result.get());
    }
    return last;
  }

  const Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_, {{"pool_mode", "'transaction'"}, {"num_init_children", "1"}, {"max_pool", "1"}, {"query_wait_timeout", "10"}}};
  Connection one_{weir_.conninfo()};
  Connection two_{weir_.conninfo()};
};

TEST_F(LendingTest, two_clients_share_one_connection) {
  const std::string pid = one_.value(kPid);
  EXPECT_EQ(two_.value(kPid), pid);
  EXPECT_EQ(one_.exec_params(kPid, {}).value(), pid);
  EXPECT_EQ(two_.exec_params(kPid, {}).value(), pid);
}

TEST_F(LendingTest, settings_follow_their_client) {
  one_.must("SET work_mem = '3MB'");
  EXPECT_EQ(two_.value("SHOW work_mem"), "4MB");
  two_.must("SET work_mem = '5MB'");
  two_.must("SET application_name = 'two'");
  EXPECT_EQ(one_.value("SHOW work_mem"), "3MB");
  EXPECT_EQ(one_.value("SELECT current_setting('application_name')"), "");
  EXPECT_EQ(two_.value("SHOW work_mem"), "5MB");
  EXPECT_EQ(two_.parameter("application_name"), "two");
  EXPECT_EQ(one_.parameter("application_name"), "");
  one_.must("RESET work_mem");
  EXPECT_EQ(one_.value("SHOW work_mem"), "4MB");
  EXPECT_EQ(two_.value("SHOW work_mem"), "5MB");
  two_.must("DISCARD ALL");
  EXPECT_EQ(two_.value("SHOW work_mem"), "4MB");
}

TEST_F(LendingTest, what_a_block_changed_is_undone_with_it) {
  one_.must("BEGIN");
  one_.must("SET work_mem = '3MB'");
  one_.must("SET LOCAL maintenance_work_mem = '7MB'");
  EXPECT_EQ(one_.value("SHOW work_mem"), "3MB");
  one_.must("ROLLBACK");
  EXPECT_EQ(two_.value("SHOW work_mem"), "4MB");
  EXPECT_EQ(one_.value("SHOW work_mem"), "4MB");
  EXPECT_EQ(two_.value("SHOW maintenance_work_mem"), "64MB");
}

TEST_F(LendingTest, a_transaction_keeps_its_connection) {
  const std::string pid = one_.value(kPid);
  one_.must("BEGIN");
  EXPECT_EQ(one_.value(kPid), pid);
  ask(two_, kPid);
  EXPECT_FALSE(answered(two_, 300));
  EXPECT_EQ(one_.value(kPid), pid);
  one_.must("COMMIT");
  EXPECT_EQ(collect(two_).value(), pid);
}

TEST_F(LendingTest, a_failed_transaction_keeps_it_too) {
  one_.must("BEGIN");
  EXPECT_EQ(one_.exec("INSERT INTO written(id) VALUES ('x')").ok(), false);
  EXPECT_EQ(one_.transaction(), 'E');
  ask(two_, kPid);
  EXPECT_FALSE(answered(two_, 300));
  one_.must("ROLLBACK");
  EXPECT_TRUE(collect(two_).ok());
}

// Temporary objects live on one connection: it is kept, and given back clean when they are gone.
TEST_F(LendingTest, temporary_tables_keep_it_until_they_are_gone) {
  one_.must("CREATE TEMP TABLE mine (x int)");
  one_.must("INSERT INTO mine VALUES (1)");
  ask(two_, "SELECT count(*) FROM pg_class WHERE relname = 'mine' AND pg_table_is_visible(oid)");
  EXPECT_FALSE(answered(two_, 300));
  EXPECT_EQ(one_.value("SELECT x FROM mine"), "1");
  one_.must("DISCARD ALL");
  EXPECT_EQ(collect(two_).value(), "0");
}

TEST_F(LendingTest, a_client_that_vanishes_leaves_nothing) {
  {
    Connection gone(weir_.conninfo());
    gone.must("BEGIN");
    gone.must("SET work_mem = '9MB'");
    gone.must("CREATE TEMP TABLE theirs (x int)");
  }
  {
    Connection gone(weir_.conninfo());
    gone.must("SET work_mem = '9MB'");
    ask(gone, "SELECT pg_sleep(0.2)");
  }
  EXPECT_EQ(two_.value("SHOW work_mem"), "4MB");
  EXPECT_EQ(two_.value("SELECT count(*) FROM pg_class WHERE relname = 'theirs' AND pg_table_is_visible(oid)"), "0");
}

TEST_F(LendingTest, the_unnamed_statement_is_its_clients) {
  RawClient one(weir_.port());
  RawClient two(weir_.port());
  one.login();
  two.login();
  EXPECT_EQ(outline(one.ask(parse("", "SELECT pg_backend_pid()") + sync())), "1 Z:I");
  EXPECT_EQ(outline(two.ask(msg::bind("", "") + execute("") + sync())), "E:26000 Z:I");
  const auto answer = one.ask(msg::bind("", "") + execute("") + sync());
  ASSERT_EQ(answer.size(), 4U) << outline(answer);
  EXPECT_EQ(answer[1].tag, 'D');
}

// Two clients with one name for two texts, and two names for one text.
TEST_F(LendingTest, prepared_statements_by_name) {
  RawClient one;
  RawClient two;
  const auto login = [&](RawClient& client) {
    client = RawClient(weir_.port());
    client.login();
  };
  login(one);
  login(two);
  const auto run = [](const std::string& name) { return msg::bind("", name) + execute("") + sync(); };
  const auto value = [&](RawClient& client, const std::string& name) {
    const auto answer = client.ask(run(name));
    return answer.size() == 4 ? answer[1].values().at(0).value_or("null") : outline(answer);
  };
  EXPECT_EQ(outline(one.ask(parse("s", "SELECT 'one'") + sync())), "1 Z:I");
  EXPECT_EQ(outline(two.ask(parse("s", "SELECT 'two'") + sync())), "1 Z:I");
  EXPECT_EQ(value(one, "s"), "one");
  EXPECT_EQ(value(two, "s"), "two");
  EXPECT_EQ(value(two, "t"), "E:26000 Z:I");
  EXPECT_EQ(outline(two.ask(parse("t", "SELECT 'one'") + describe('S', "t") + sync())), "1 t T Z:I");
  EXPECT_EQ(value(two, "t"), "one");
  // Names are each client's own.
  EXPECT_EQ(outline(two.ask(parse("s", "SELECT 'again'") + sync())), "E:42P05 Z:I");
  EXPECT_EQ(value(two, "s"), "two");
  EXPECT_EQ(value(one, "s"), "one");
  EXPECT_EQ(outline(two.ask(close('S', "s") + parse("s", "SELECT 'new'") + msg::bind("", "s") + execute("") + sync())).substr(0, 5), "3 1 2");
  EXPECT_EQ(value(two, "s"), "new");
  EXPECT_EQ(value(one, "s"), "one");
  EXPECT_EQ(outline(one.ask(close('S', "s") + sync())), "3 Z:I");
  EXPECT_EQ(value(one, "s"), "E:26000 Z:I");
  EXPECT_EQ(value(one, "pgweir_1"), "E:26000 Z:I");
  EXPECT_EQ(outline(one.ask(close('S', "pgweir_2") + sync())), "3 Z:I");
  EXPECT_EQ(value(two, "s"), "new");
  // One that fails, in the middle of a batch.
  EXPECT_EQ(outline(one.ask(parse("bad", "SELECT nothing_of_that_name") + parse("good", "SELECT 1") + sync())), "E:42703 Z:I");
  EXPECT_EQ(value(one, "good"), "E:26000 Z:I");
  EXPECT_EQ(outline(one.ask(parse("good", "SELECT 1") + sync() + run("good"))), "1 Z:I");
  EXPECT_EQ(one.read_to_ready().size(), 4U);
  one.send(terminate());
  two.send(query("DEALLOCATE ALL"));
  two.read_to_ready();
  EXPECT_EQ(value(two, "s"), "E:26000 Z:I");
}

// As many as a server may have, and more.
TEST_F(LendingTest, the_statement_not_used_for_longest_makes_room) {
  weir_.set("max_prepared_statements", "3");
  weir_.reload();
  RawClient client(weir_.port());
  client.login();
  const auto text = [](int i) { return "SELECT " + std::to_string(i) + " FROM written LIMIT 0"; };
  std::string all;
  for (int i = 0; i < 10; ++i) all += parse("s" + std::to_string(i), text(i));
  EXPECT_EQ(outline(client.ask(all + sync())), "1 1 1 1 1 1 1 1 1 1 Z:I");
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(outline(client.ask(msg::bind("", "s" + std::to_string(i)) + execute("") + sync())), "2 C:SELECT 0 Z:I") << i;
    }
  }
  // All in one batch.
  all.clear();
  for (int i = 0; i < 10; ++i) all += msg::bind("", "s" + std::to_string(i)) + execute("");
  EXPECT_EQ(client.ask(all + sync()).size(), 21U);
  EXPECT_EQ(outline(client.ask(msg::bind("", "s0") + execute("") + sync())), "2 C:SELECT 0 Z:I");
}

TEST_F(LendingTest, statement_mode_refuses_transactions) {
  Pgweir weir(cluster_, {{"pool_mode", "'statement'"}, {"num_init_children", "1"}, {"max_pool", "1"}, {"query_wait_timeout", "10"}});
  for (const std::string& begin : {query("BEGIN"), query("BEGIN; SELECT 1"), parse("", "BEGIN") + msg::bind("", "") + execute("") + sync()}) {
    RawClient client(weir.port());
    client.login();
    const auto answer = client.ask(begin);
    ASSERT_FALSE(answer.empty());
    EXPECT_EQ(answer.back().field('S'), "FATAL");
    EXPECT_EQ(answer.back().field('M'), "transaction blocks not allowed in statement pooling mode");
    EXPECT_TRUE(client.wait_closed());
  }
  Connection client(weir.conninfo());
  EXPECT_TRUE(client.exec("BEGIN; INSERT INTO written(v) VALUES ('whole'); COMMIT").ok());
  EXPECT_EQ(client.value("SELECT 1"), "1");
}

TEST_F(LendingTest, nobody_sees_what_another_has_drawn) {
  one_.must("INSERT INTO written(v) VALUES ('draws')");
  EXPECT_EQ(two_.exec("SELECT lastval()").sqlstate, "55000");
  two_.must("INSERT INTO written(v) VALUES ('draws')");
  const std::string last = two_.value("SELECT lastval()");
  EXPECT_EQ(two_.value("SELECT max(id) FROM written"), last);
  two_.must("DISCARD SEQUENCES");
  EXPECT_EQ(one_.exec("SELECT lastval()").sqlstate, "55000");
}

// In a block too, by a default, and by a function; and who has drawn itself is told that.
TEST_F(LendingTest, sequences_in_blocks) {
  one_.must("DROP TABLE IF EXISTS asks_by_default; CREATE TABLE asks_by_default (x bigint DEFAULT lastval())");
  one_.must("CREATE OR REPLACE FUNCTION tells_last() RETURNS bigint LANGUAGE sql AS 'SELECT lastval()'");
  one_.must("DROP TABLE IF EXISTS draws_nothing; CREATE TABLE draws_nothing (x int)");
  for (int i = 0; i < 2; ++i) {  // before the catalogue was asked, and after
    one_.must("INSERT INTO written(v) VALUES ('draws')");
    two_.must("BEGIN");
    two_.must("INSERT INTO draws_nothing VALUES (1)");
    EXPECT_EQ(two_.exec("SELECT lastval()").sqlstate, "55000") << i;
    two_.must("ROLLBACK");
    two_.must("BEGIN");
    const std::string id = two_.value("INSERT INTO written(v) VALUES ('draws') RETURNING id");
    EXPECT_EQ(two_.value("SELECT lastval()"), id);
    EXPECT_EQ(two_.value("SELECT currval(pg_get_serial_sequence('written', 'id'))"), id);
    two_.must("COMMIT");
    two_.must("DISCARD ALL");
    one_.must("INSERT INTO written(v) VALUES ('draws')");
    EXPECT_EQ(two_.exec("INSERT INTO asks_by_default DEFAULT VALUES").sqlstate, "55000") << i;
    two_.must("DISCARD ALL");
    one_.must("INSERT INTO written(v) VALUES ('draws')");
    EXPECT_EQ(two_.exec("SELECT tells_last()").sqlstate, "55000") << i;
    two_.must("DISCARD ALL");
  }
  one_.must("DROP TABLE asks_by_default; DROP TABLE draws_nothing; DROP FUNCTION tells_last()");
}

// Who asks keeps the connection that knows, until it says that it is done.
TEST_F(LendingTest, who_asks_what_it_has_drawn_is_told) {
  one_.must("INSERT INTO written(v) VALUES ('draws')");
  one_.exec("SELECT lastval()");
  const std::string id = one_.value("INSERT INTO written(v) VALUES ('draws') RETURNING id");
  ask(two_, kPid);
  EXPECT_FALSE(answered(two_, 300));
  EXPECT_EQ(one_.value("SELECT lastval()"), id);
  one_.must("DISCARD SEQUENCES");
  EXPECT_TRUE(collect(two_).ok());
  EXPECT_EQ(one_.exec("SELECT lastval()").sqlstate, "55000");
}

} // namespace
} // namespace weir::test
