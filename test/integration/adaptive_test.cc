// disable_load_balance_on_write = off, dml_adaptive and dml_adaptive_global: reads beside a block that has written, which of
// them meet what was written, and that a client cannot tell.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <cstdio>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

const std::string kRead = "SELECT v FROM plain WHERE id = 1";
const std::string kWrite = "INSERT INTO written(v) VALUES ('adaptive')";

// What is written to and read is looked up when it is first seen.
bool ready(Pgweir& weir, Connection& client) {
  return wait_until([&] {
    client.must("BEGIN");
    client.must(kWrite);
    const int node = weir.node_of(client, kRead);
    client.must("ROLLBACK");
    return node > 0;
  });
}

class AdaptiveTest : public testing::TestWithParam<const char*> {
protected:
  void SetUp() override { ASSERT_TRUE(ready(weir_, client_)); }
  // Direct and through pgweir, the same answers.
  void same(const std::vector<std::string>& texts) {
    SCOPED_TRACE(texts.size() > 2 ? texts[2] : texts[0]);
    Connection direct(cluster_.conninfo(0));
    Connection through(weir_.conninfo());
    ASSERT_TRUE(direct.ok() && through.ok()) << direct.error() << through.error();
    for (const std::string& text : texts) {
      const auto wanted = direct.exec_all(text);
      const auto got = through.exec_all(text);
      ASSERT_EQ(got.size(), wanted.size()) << text;
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].text(), wanted[i].text()) << text;
      EXPECT_EQ(through.transaction(), direct.transaction()) << text;
    }
  }
  // In the block of client_.
  int node_of(const std::string& sql) { return weir_.node_of(client_, sql); }
  // Once all names that the session has used are known.
  bool aside(const std::string& sql) {
    return wait_until([&] { return node_of(sql) > 0; });
  }

  const Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_, {{"disable_load_balance_on_write", std::string("'") + GetParam() + "'"}}};
  Connection client_{weir_.conninfo()};
};

INSTANTIATE_TEST_SUITE_P(Modes, AdaptiveTest, testing::Values("off", "dml_adaptive"), [](const auto& mode) { return std::string(mode.param); });

TEST_P(AdaptiveTest, reads_run_beside_the_block) {
  for (const char* begin : {"BEGIN", "START TRANSACTION", "BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN READ WRITE"}) {
    SCOPED_TRACE(begin);
    client_.must(begin);
    client_.must(kWrite);
    EXPECT_TRUE(aside(kRead));
    EXPECT_EQ(client_.transaction(), 'T');
    client_.must("SAVEPOINT s");
    client_.must("INSERT INTO written(v) VALUES ('taken back')");
    client_.must("ROLLBACK TO s");
    EXPECT_TRUE(aside(kRead));
    EXPECT_EQ(client_.value("SELECT v FROM plain WHERE id = 2"), "row 2");
    EXPECT_EQ(client_.transaction(), 'T');
    client_.must("INSERT INTO written(v) VALUES ('behind a read')");
    client_.must("COMMIT");
    EXPECT_EQ(client_.transaction(), 'I');
    EXPECT_EQ(client_.value("SELECT count(*) > 0 FROM written WHERE v = 'behind a read'"), "t");
    client_.must("DELETE FROM written WHERE v = 'behind a read'");
  }
}

TEST_P(AdaptiveTest, what_stays_in_the_block) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"BEGIN ISOLATION LEVEL REPEATABLE READ", kRead}, {"BEGIN ISOLATION LEVEL SERIALIZABLE", kRead},
      {"BEGIN; SET LOCAL work_mem = '3MB'", kRead}, {"BEGIN; SET application_name = 'x'", kRead}, {"BEGIN; SELECT set_config('work_mem', '3MB', true)", kRead},
      {"BEGIN; SET LOCAL ROLE app", kRead}, {"BEGIN; CREATE TABLE adaptive_made (x int)", kRead}, {"BEGIN; SAVEPOINT s; SET LOCAL work_mem = '3MB'; ROLLBACK TO s", kRead},
      {"BEGIN; CREATE TEMP TABLE adaptive_temp (x int)", "SELECT count(*) FROM adaptive_temp"}, {"BEGIN; DECLARE c CURSOR FOR SELECT 1", kRead},
      {"BEGIN", "SELECT now() > '2000-01-01'"}, {"BEGIN", "SELECT current_timestamp IS NULL"}, {"BEGIN", "SELECT txid_current() > 0"}, {"BEGIN", kRead + " FOR SHARE"},
      {"BEGIN", "SHOW transaction_isolation"}, {"BEGIN", "/*NO LOAD BALANCE*/ " + kRead}, {"BEGIN", "SELECT 1; SAVEPOINT s"}, {"BEGIN", "SELECT count(*) FROM pg_stat_activity"},
      {"BEGIN; SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", kRead},
  };
  for (const auto& [begin, read] : rows) {
    SCOPED_TRACE(begin + " / " + read);
    Connection client(weir_.conninfo());
    client.must(begin);
    client.must(kWrite);
    EXPECT_EQ(weir_.node_of(client, read), 0);
    client.must("ROLLBACK");
  }
}

TEST_P(AdaptiveTest, a_client_cannot_tell) {
  const std::string marked = "SELECT v FROM plain WHERE id = 3";
  same({"BEGIN", kWrite, kRead, marked + "; " + kRead, "", "COMMIT", kRead});
  same({"BEGIN", kWrite, "SELECT 1/0", kRead, "COMMIT", kRead});
  same({"BEGIN", kWrite, "SELECT 1/(id - 1) FROM plain WHERE id = 1", "SELECT 1", "ROLLBACK"});
  same({"BEGIN", kWrite, "SELECT 10/(5 - id) FROM plain WHERE id <= 8 ORDER BY id", kRead, "ROLLBACK", kRead});
  same({"BEGIN", kWrite, "SELECT repeat('x', 1000), 1/(100 - id) FROM plain ORDER BY id", kRead, "ROLLBACK", kRead});
  same({"BEGIN", kWrite, "SAVEPOINT s", kRead, "SELECT v, 1/(100 - id) FROM plain ORDER BY id", "ROLLBACK TO s", kRead, "SELECT count(*) FROM written WHERE v = 'adaptive'", "ROLLBACK"});
  same({"BEGIN", kWrite, "SELECT 1; SELECT 1/0", "ROLLBACK"});
  same({"BEGIN", kWrite, kRead, "SELECT v, 1/(100 - id) FROM plain ORDER BY id", "COMMIT", "SELECT count(*) FROM written WHERE v = 'adaptive'"});
  same({"BEGIN", kWrite, "SELECT nosuch FROM plain", "ROLLBACK"});
  same({"BEGIN", kWrite, kRead, "COMMIT AND CHAIN", kRead, "ROLLBACK"});
  same({"BEGIN READ ONLY", "SELECT pg_is_in_recovery()", kRead, "SHOW transaction_read_only", "DELETE FROM written", "ROLLBACK"});
  same({"BEGIN", kWrite, kRead, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "ROLLBACK"});
}

TEST_P(AdaptiveTest, extended_protocol) {
  const auto run = [](std::string_view name) { return msg::bind("", name) + execute(""); };
  const std::string write = parse("", kWrite) + run("") + sync();
  const std::string read = parse("", kRead) + run("") + sync();
  // Sorted first and divided afterwards, whatever the planner knows of the table: the error comes behind rows.
  const std::string broken = "SELECT repeat('x', 1000), 1/(100 - id) FROM (SELECT id FROM plain ORDER BY id OFFSET 0) p";
  const std::vector<std::string> batches = {
      query("BEGIN"), write, read, parse("", kRead) + msg::bind("", "") + describe('P', "") + execute("") + run("") + sync(), parse("s", kRead) + describe('S', "s") + sync(),
      run("s") + sync(), run("s") + run("s") + sync(), parse("", kRead) + flush() + sync(), parse("", kRead) + msg::bind("", "") + execute("") + flush() + sync(),
      parse("", "SELECT v FROM plain ORDER BY id") + msg::bind("", "") + execute("", 2) + sync(), execute("", 2) + sync(),
      parse("", "SELECT v FROM plain ORDER BY id") + msg::bind("p", "") + execute("p", 2) + sync(), read, execute("p", 2) + sync(),
      parse("s", "SELECT 1") + sync(), read, query("ROLLBACK"),
      query("BEGIN"), write, close('S', "s") + parse("s", kRead) + run("s") + sync(), run("s") + sync(), query("COMMIT"), run("s") + sync(),
      query("BEGIN"), write, parse("", "SELECT 1/0") + run("") + sync(), read, query("ROLLBACK"), read,
      query("BEGIN"), write, parse("t", broken) + run("t") + run("s") + sync(), read, query("ROLLBACK"), run("s") + sync(),
      query("BEGIN"), write, parse("", broken) + run("") + sync(), query("COMMIT"),
      query("BEGIN"), write, parse("u", "SELECT nosuch FROM plain") + sync(), run("u") + sync(), query("ROLLBACK"), parse("u", "SELECT 5") + run("u") + sync(),
  };
  RawClient direct(cluster_.port(0));
  RawClient through(weir_.port());
  direct.login();
  through.login();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    direct.send(batches[i]);
    through.send(batches[i]);
    EXPECT_EQ(outline(through.read_to_ready()), outline(direct.read_to_ready())) << "batch " << i;
  }
}

TEST_P(AdaptiveTest, extended_reads_run_beside_the_block) {
  RawClient client(weir_.port());
  client.login();
  const auto ask = [&](const std::string& bytes) {
    client.send(bytes);
    return outline(client.read_to_ready());
  };
  ask(query("BEGIN"));
  ask(query(kWrite));
  ask(parse("", kRead + " /* aside unnamed */") + msg::bind("", "") + execute("") + sync());
  ask(parse("s", kRead + " /* aside named */") + sync());
  ask(msg::bind("", "s") + execute("") + sync());
  ask(msg::bind("p", "s") + execute("p") + sync());
  ask(query("ROLLBACK"));
  const auto unnamed = weir_.nodes_of("aside unnamed");
  const auto named = weir_.nodes_of("aside named");
  ASSERT_EQ(unnamed.size(), 1U);
  ASSERT_EQ(named.size(), 2U);
  EXPECT_GT(unnamed[0], 0);
  EXPECT_GT(named[0], 0);
  EXPECT_EQ(named[1], 0);
}

// An error behind the first row: the client has it already, and the block on the primary must have failed too.
TEST_P(AdaptiveTest, an_error_in_the_middle_fails_the_block) {
  client_.must("BEGIN");
  client_.must("INSERT INTO written(v) VALUES ('must not stay')");
  // Sorted first and divided afterwards, whatever the planner knows of the table: the error comes behind rows.
  const std::string broken = "SELECT repeat('x', 1000), 1/(100 - id) FROM (SELECT id FROM plain ORDER BY id OFFSET 0) p";
  ASSERT_TRUE(wait_until([&] { return client_.exec("SHOW ROUTE $route$" + broken + "$route$").text().find("ReadAside") != std::string::npos; }));
  EXPECT_GT(node_of(broken), 0);
  EXPECT_EQ(client_.transaction(), 'E');
  EXPECT_EQ(client_.exec("INSERT INTO written(v) VALUES ('must not stay')").sqlstate, "25P02");
  EXPECT_EQ(client_.exec("COMMIT").text().find("COMMIT"), std::string::npos);
  EXPECT_EQ(client_.value("SELECT count(*) FROM written WHERE v = 'must not stay'"), "0");
}

TEST_P(AdaptiveTest, a_cancel_fails_the_block) {
  client_.must("BEGIN");
  client_.must(kWrite);
  ASSERT_TRUE(wait_until([&] { return client_.exec("SHOW ROUTE 'SELECT count(*) FROM wide a WHERE a.v > a.v'").text().find("ReadAside") != std::string::npos; }));
  ASSERT_EQ(PQsendQuery(client_.raw(), "SELECT count(*) FROM wide a, wide b, wide c WHERE a.v > b.v /* long aside */"), 1);
  ASSERT_TRUE(wait_until([&] { return !weir_.nodes_of("long aside").empty(); }));
  EXPECT_GT(weir_.nodes_of("long aside").front(), 0);
  PGcancel* cancel = PQgetCancel(client_.raw());
  char reason[256];
  EXPECT_EQ(PQcancel(cancel, reason, sizeof reason), 1) << reason;
  PQfreeCancel(cancel);
  const ResultPtr result(PQgetResult(client_.raw()));
  EXPECT_EQ(to_answer(result.get()).sqlstate, "57014");
  while (ResultPtr rest{PQgetResult(client_.raw())}) {}
  EXPECT_EQ(client_.transaction(), 'E');
  EXPECT_EQ(weir_.nodes_of("long aside").size(), 1U);
  client_.must("ROLLBACK");
}

TEST(AdaptiveNodes, a_standby_that_dies_under_a_read) {
  Cluster cluster;
  Pgweir weir(cluster, {{"disable_load_balance_on_write", "'off'"}, {"backend_weight2", "0"}});
  Connection client(weir.conninfo());
  client.must("SET synchronous_commit = local");  // nobody waits for the dead one
  ASSERT_TRUE(ready(weir, client));
  client.must("BEGIN");
  client.must("INSERT INTO written(v) VALUES ('survives')");
  EXPECT_EQ(weir.node_of(client, kRead), 1);
  cluster.kill_hard(1);
  EXPECT_EQ(client.value(kRead), "row 1");
  EXPECT_EQ(client.transaction(), 'T');
  client.must("COMMIT");
  EXPECT_EQ(client.value("SELECT count(*) FROM written WHERE v = 'survives'"), "1");
}

class DmlAdaptiveTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_TRUE(ready(weir_, client_)); }
  // Until the facts of all names are known it is the primary.
  bool aside_after(const std::string& write, const std::string& read) {
    Connection known(weir_.conninfo());
    for (const std::string& sql : {write, read}) {
      // Of some kinds of statements the names are never asked for.
      wait_until([&] { return known.exec("SHOW ROUTE $route$" + sql + "$route$").text().find("not known yet") == std::string::npos; }, std::chrono::seconds(5));
    }
    Connection client(weir_.conninfo());
    client.must("BEGIN");
    client.must(write);
    const int node = weir_.node_of(client, read);
    EXPECT_EQ(client.transaction(), 'T');
    client.must("ROLLBACK");
    return node > 0;
  }
  const Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_, {{"disable_load_balance_on_write", "'dml_adaptive'"}, {"dml_adaptive_object_relationship_list", "'written:vw,wide:matv'"}}};
  Connection client_{weir_.conninfo()};
};

TEST_F(DmlAdaptiveTest, only_readers_of_what_was_written_stay) {
  EXPECT_TRUE(aside_after(kWrite, kRead));
  EXPECT_TRUE(aside_after("UPDATE written SET v = v WHERE id = -1", "SELECT count(*) FROM wide"));
  EXPECT_TRUE(aside_after("WITH w AS (DELETE FROM written WHERE id = -1 RETURNING id) SELECT * FROM w", kRead));
  EXPECT_FALSE(aside_after(kWrite, "SELECT count(*) FROM written"));
  EXPECT_FALSE(aside_after(kWrite, "SELECT count(*) FROM plain, written"));
  EXPECT_FALSE(aside_after("UPDATE plain SET v = v WHERE id = -1", kRead));
  EXPECT_FALSE(aside_after("UPDATE plain SET v = v WHERE id = -1", "SELECT v FROM other.plain WHERE id = 1"));
  EXPECT_FALSE(aside_after("SELECT f_writes('x')", kRead));
  EXPECT_FALSE(aside_after(kWrite, "SELECT f_stable(1)"));
  EXPECT_FALSE(aside_after(kWrite, "SELECT count(*) FROM parted"));
  EXPECT_FALSE(aside_after("UPDATE parted SET v = v WHERE id = -1", kRead));
  EXPECT_FALSE(aside_after("DO 'BEGIN END'", kRead));
  EXPECT_FALSE(aside_after("TRUNCATE audit", kRead));
}

TEST_F(DmlAdaptiveTest, the_list_of_dependent_objects) {
  EXPECT_FALSE(aside_after(kWrite, "SELECT v FROM vw WHERE id = 1"));
  EXPECT_FALSE(aside_after("UPDATE wide SET v = v WHERE id = -1", "SELECT count(*) FROM matv"));
  // A view that is listed reads nothing but what it is listed with; another one might read anything.
  EXPECT_TRUE(aside_after("UPDATE wide SET v = v WHERE id = -1", "SELECT v FROM vw WHERE id = 1"));
}

TEST_F(DmlAdaptiveTest, rollback_to_does_not_forget_a_write) {
  client_.must("BEGIN");
  client_.must(kWrite);
  client_.must("SAVEPOINT s");
  client_.must("UPDATE plain SET v = v WHERE id = -1");
  client_.must("ROLLBACK TO s");
  EXPECT_EQ(weir_.node_of(client_, kRead), 0);
  EXPECT_EQ(weir_.node_of(client_, "SELECT count(*) FROM written"), 0);
  client_.must("COMMIT");
  client_.must("BEGIN");
  client_.must(kWrite);
  EXPECT_TRUE(wait_until([&] { return weir_.node_of(client_, kRead) > 0; }));
  client_.must("ROLLBACK");
}

TEST_F(DmlAdaptiveTest, show_route_tells_why) {
  client_.must("BEGIN");
  client_.must(kWrite);
  EXPECT_NE(client_.exec("SHOW ROUTE '" + kRead + "'").text().find("ReadAside"), std::string::npos);
  EXPECT_NE(client_.exec("SHOW ROUTE 'SELECT * FROM written'").text().find("WrittenTable"), std::string::npos);
  client_.must("ROLLBACK");
}

class GlobalTest : public testing::Test {
protected:
  // Without measurements of the delay only track_table_mutation_max_staleness ends it, also that a statement whose names were
  // not known yet counts as a write of everything.
  static bool settled(Pgweir& weir, Connection& client, const std::string& read) {
    return wait_until([&] { return weir.node_of(client, read) > 0; }, std::chrono::seconds(60));
  }
  static Settings settings(Settings more = {}) {
    Settings all = {{"disable_load_balance_on_write", "'dml_adaptive_global'"}, {"track_table_mutation_cold_start_duration", "0"}, {"sr_check_period", "1"}};
    for (auto& [name, value] : more) all[name] = value;
    return all;
  }
  const Cluster& cluster_ = Cluster::shared();
};

// The delay of a quiet standby is 0: a table is free again after 100 ms. Only what stays is told by the test's order.
TEST_F(GlobalTest, readers_of_what_anybody_wrote_stay_for_a_while) {
  Pgweir weir(cluster_, settings({{"track_table_mutation_ttl_factor", "100"}}));
  Connection writer(weir.conninfo());
  Connection reader(weir.conninfo());
  const std::string count = "SELECT count(*) FROM written";
  ASSERT_TRUE(weir.reaches_standby(reader, kRead));
  writer.must("INSERT INTO written(v) VALUES ('known by now')");
  ASSERT_TRUE(weir.reaches_standby(reader, count));
  int kept = 0;
  for (int i = 0; i < 10; ++i) {
    writer.must(kWrite);
    if (weir.node_of(reader, count) == 0) ++kept;
  }
  EXPECT_GE(kept, 5);  // on a busy machine more time may pass between two statements
  EXPECT_TRUE(weir.logged("RecentlyWritten"));
  EXPECT_TRUE(weir.reaches_standby(reader, count));
  EXPECT_TRUE(weir.reaches_standby(writer, count));
}

TEST_F(GlobalTest, other_tables_are_read_on_standbys_at_once) {
  Pgweir weir(cluster_, settings({{"sr_check_period", "0"}, {"track_table_mutation_max_staleness", "12000"}}));
  Connection writer(weir.conninfo());
  Connection reader(weir.conninfo());
  ASSERT_TRUE(wait_until([&] { return writer.exec("SHOW ROUTE 'INSERT INTO audit(what) VALUES (1)'").text().find("audit: known, harmless") != std::string::npos; }));
  ASSERT_TRUE(settled(weir, reader, kRead));
  ASSERT_TRUE(settled(weir, writer, kRead));
  ASSERT_TRUE(settled(weir, reader, "SELECT count(*) FROM vw"));
  ASSERT_TRUE(settled(weir, reader, "SELECT count(*) FROM audit"));
  writer.must("INSERT INTO audit(what) VALUES ('x')");
  for (Connection* client : {&reader, &writer}) {
    EXPECT_EQ(weir.node_of(*client, "SELECT count(*) FROM audit"), 0);
    EXPECT_EQ(weir.node_of(*client, "SELECT count(*) FROM vw"), 0);
    EXPECT_GT(weir.node_of(*client, kRead), 0);
    EXPECT_EQ(weir.node_of(*client, "SELECT count(*) FROM audit"), 0);
    client->must("BEGIN");
    EXPECT_GT(weir.node_of(*client, kRead), 0);
    EXPECT_EQ(weir.node_of(*client, "SELECT count(*) FROM audit"), 0);
    client->must("COMMIT");
  }
}

TEST_F(GlobalTest, a_block_counts_from_its_writes_on) {
  Pgweir weir(cluster_, settings({{"sr_check_period", "0"}, {"track_table_mutation_max_staleness", "12000"}}));
  Connection writer(weir.conninfo());
  Connection reader(weir.conninfo());
  ASSERT_TRUE(wait_until([&] { return writer.exec("SHOW ROUTE 'INSERT INTO audit(what) VALUES (1)'").text().find("audit: known, harmless") != std::string::npos; }));
  ASSERT_TRUE(settled(weir, writer, kRead));
  ASSERT_TRUE(settled(weir, reader, "SELECT count(*) FROM audit"));
  writer.must("BEGIN");
  writer.must("INSERT INTO audit(what) VALUES ('x')");
  EXPECT_EQ(weir.node_of(writer, kRead), 0);
  writer.must("COMMIT");
  EXPECT_EQ(weir.node_of(reader, "SELECT count(*) FROM audit"), 0);
  EXPECT_GT(weir.node_of(writer, kRead), 0);
}

TEST_F(GlobalTest, the_beginning_is_cold) {
  Pgweir weir(cluster_, settings({{"track_table_mutation_cold_start_duration", "60000"}}));
  Connection client(weir.conninfo());
  ASSERT_TRUE(wait_until([&] { return client.exec("SHOW ROUTE '" + kRead + "'").text().find("plain: known, harmless") != std::string::npos; }));
  EXPECT_EQ(weir.node_of(client, kRead), 0);
  EXPECT_NE(client.exec("SHOW ROUTE '" + kRead + "'").text().find("RecentlyWritten"), std::string::npos);
}

TEST_F(GlobalTest, max_staleness_ends_it) {
  Pgweir weir(cluster_, settings({{"sr_check_period", "0"}, {"track_table_mutation_max_staleness", "1500"}}));
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  client.must("UPDATE plain SET v = v WHERE id = -1");
  EXPECT_TRUE(wait_until([&] {
    client.must("UPDATE plain SET v = v WHERE id = -1");
    return weir.node_of(client, kRead) > 0;
  }));
}

TEST(DelaySource, a_command_tells_the_delays) {
  Pgweir weir(Cluster::shared(), {{"replication_delay_source_cmd", "'./delays'"}, {"sr_check_period", "1"}, {"delay_threshold_by_time", "1000"}}, Pgweir::Unstarted{});
  const std::string file = weir.folder() + "/delays";
  const auto tell = [&](const std::string& what) {
    weir.add_file("delays.new", "#!/bin/sh\necho \"$@\" >> " + weir.folder() + "/asked\necho '" + what + "'\n");
    ASSERT_EQ(chmod((file + ".new").c_str(), 0700), 0);
    ASSERT_EQ(std::rename((file + ".new").c_str(), file.c_str()), 0);
  };
  tell("5000 20.5");
  weir.set("replication_delay_source_cmd", "'" + file + "'");
  weir.start();
  Connection client(weir.conninfo());
  ASSERT_TRUE(wait_until([&] { return client.exec("SHOW POOL_NODES").text().find("0.020500 second") != std::string::npos; }));
  EXPECT_NE(client.exec("SHOW POOL_NODES").text().find("5.000000 seconds"), std::string::npos);
  EXPECT_TRUE(wait_until([&] {  // a session's own node may be the one that is behind
    Connection other(weir.conninfo());
    return weir.node_of(other, kRead) == 2;
  }));
  for (int i = 0; i < 10; ++i) {
    Connection other(weir.conninfo());
    EXPECT_NE(weir.node_of(other, kRead), 1);
  }
  const std::string asked = read_file(weir.folder() + "/asked");
  const std::string ports = ":" + std::to_string(Cluster::shared().port(1));
  EXPECT_NE(asked.find(ports), std::string::npos);
  EXPECT_EQ(asked.find(":" + std::to_string(Cluster::shared().port(0))), std::string::npos);
  tell("nonsense 1");
  EXPECT_TRUE(wait_until([&] { return client.exec("SHOW POOL_NODES").text().find("unknown") != std::string::npos; }));
  tell("1");
  EXPECT_TRUE(wait_until([&] { return weir.logged("replication_delay_source_cmd has not told the delays: 2 numbers were expected"); }));
}

}  // namespace
}  // namespace weir::test
