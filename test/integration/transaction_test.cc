// Transactions: where they run, how they move to the primary, and that nobody can tell.
#include <gtest/gtest.h>

#include <csignal>
#include <optional>

#include "test/support/meddler.h"
#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

const std::string kRead = "SELECT v FROM plain WHERE id = 1";

class TransactionTest : public testing::Test {
protected:
  // Direct and through pgweir, the same answers.
  void same(const std::vector<std::string>& texts, const std::string& options = "") {
    Connection direct(cluster_.conninfo(0) + options);
    Connection through(weir_.conninfo() + options);
    ASSERT_TRUE(direct.ok() && through.ok()) << direct.error() << through.error();
    for (const std::string& text : texts) {
      const auto wanted = direct.exec_all(text);
      const auto got = through.exec_all(text);
      ASSERT_EQ(got.size(), wanted.size()) << text;
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].text(), wanted[i].text()) << text;
      EXPECT_EQ(through.transaction(), direct.transaction()) << text;
    }
  }
  // What is written to is looked up when it is first seen.
  static bool ready(Pgweir& weir, Connection& client) {
    client.must("INSERT INTO written(v) VALUES ('ready')");
    return weir.reaches_standby(client, kRead);
  }
  void SetUp() override { ASSERT_TRUE(ready(weir_, client_)); }

  const Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_};
  Connection client_{weir_.conninfo()};
};

TEST_F(TransactionTest, reads_before_the_first_write_run_on_a_standby) {
  for (const char* begin : {"BEGIN", "START TRANSACTION", "BEGIN ISOLATION LEVEL READ COMMITTED"}) {
    SCOPED_TRACE(begin);
    client_.must(begin);
    EXPECT_EQ(client_.transaction(), 'T');
    const int node = weir_.node_of(client_, kRead);
    EXPECT_GT(node, 0);
    EXPECT_EQ(weir_.node_of(client_, kRead), node);
    client_.must("INSERT INTO written(v) VALUES ('moved')");
    EXPECT_EQ(client_.transaction(), 'T');
    EXPECT_EQ(weir_.node_of(client_, "SELECT count(*) > 0 FROM written WHERE v = 'moved'"), 0);
    EXPECT_EQ(client_.value("SELECT count(*) > 0 FROM written WHERE v = 'moved'"), "t");
    client_.must("ROLLBACK");
    EXPECT_EQ(client_.transaction(), 'I');
    EXPECT_TRUE(weir_.reaches_standby(client_, kRead));
  }
}

TEST_F(TransactionTest, the_first_write_goes_to_the_primary_alone) {
  client_.must("BEGIN");
  client_.must("INSERT INTO written(v) VALUES ('first')");
  EXPECT_EQ(weir_.node_of(client_, kRead), 0);
  client_.must("COMMIT");
}

TEST_F(TransactionTest, settings_and_savepoints_move_too) {
  same({"BEGIN", kRead, "SET LOCAL work_mem = '3MB'", "SAVEPOINT a", "SET application_name = 'moved'", kRead, "SAVEPOINT b", kRead,
        "INSERT INTO written(v) VALUES ('x')", "SHOW work_mem", "SHOW application_name", "ROLLBACK TO b", "SELECT count(*) FROM written WHERE v = 'x'",
        "ROLLBACK TO a", "SHOW application_name", "SHOW work_mem", "RELEASE a", "COMMIT", "SHOW application_name", "SHOW work_mem"});
}

// A block keeps what it inherited by a chain even if it fails, and forgets what BEGIN said.
TEST_F(TransactionTest, modes_of_chained_blocks) {
  const std::string never = "INSERT INTO written(v) VALUES ('never')";
  const std::string show = "SHOW transaction_read_only";
  same({"BEGIN READ ONLY", kRead, "COMMIT AND CHAIN", never, "ROLLBACK AND CHAIN", show, never, "COMMIT"});
  same({"BEGIN READ ONLY", kRead, never, "ROLLBACK AND CHAIN", show, "COMMIT"});
  same({"BEGIN", "SET TRANSACTION READ ONLY", kRead, "COMMIT AND CHAIN", show, "SELECT 1/0", "COMMIT AND CHAIN", show, never, "ROLLBACK"});
  same({"BEGIN READ ONLY", kRead, "COMMIT AND CHAIN", "SELECT txid_current() > 0", "SELECT 1/0", "ROLLBACK AND CHAIN", show, "ROLLBACK AND CHAIN", show, "COMMIT"});
  same({"BEGIN ISOLATION LEVEL READ UNCOMMITTED", kRead, "SHOW transaction_isolation", "COMMIT AND CHAIN", "SHOW transaction_isolation", "COMMIT"});
}

TEST_F(TransactionTest, everything_else_in_a_block) {
  same({"BEGIN", "COMMIT"});
  same({"BEGIN", "ROLLBACK"});
  same({"START TRANSACTION", "END"});
  same({"BEGIN", "COMMIT AND CHAIN", "SHOW transaction_read_only", "ROLLBACK AND CHAIN", kRead, "COMMIT"});
  same({"BEGIN READ ONLY", "COMMIT AND CHAIN", "SHOW transaction_read_only", "INSERT INTO written(v) VALUES ('never')", "ROLLBACK"});
  same({"BEGIN", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SHOW transaction_isolation", kRead, "COMMIT"});
  same({"BEGIN", "SET TRANSACTION READ ONLY", "SHOW transaction_read_only", kRead, "DELETE FROM written", "ROLLBACK"});
  same({"BEGIN", kRead, "SHOW transaction_read_only", "SHOW transaction_isolation", "COMMIT"});
  same({"BEGIN", "BEGIN", "COMMIT", "COMMIT"});
  same({"BEGIN", kRead, "BEGIN", "COMMIT"});
  same({"BEGIN", kRead, "SELECT 1/0", kRead, "ROLLBACK", kRead});
  same({"BEGIN", kRead, "SAVEPOINT s", "SELECT 1/0", "ROLLBACK TO s", kRead, "INSERT INTO written(v) VALUES ('y')", "ROLLBACK"});
  same({"BEGIN", "SELECT nosuch FROM plain", "SELECT 1", "COMMIT", kRead});
  same({"BEGIN", kRead, "SELECT * FROM nosuch", "SELECT 1", "COMMIT", kRead});
  same({"BEGIN", kRead, "no SQL at all", "ROLLBACK"});
  same({"BEGIN", kRead, "DECLARE c CURSOR FOR SELECT id FROM plain ORDER BY id", "FETCH 2 FROM c", kRead, "COMMIT"});
  same({"BEGIN", kRead, "SELECT v FROM plain WHERE id = 2 FOR KEY SHARE", "COMMIT"});
  same({"BEGIN", kRead, "LOCK TABLE written IN ACCESS SHARE MODE", "COMMIT"});
  same({"BEGIN", kRead, "CREATE TEMP TABLE mine AS SELECT 1 AS x", "SELECT x FROM mine", "ROLLBACK", "SELECT x FROM mine"});
  same({"BEGIN", kRead, "PREPARE p AS SELECT 7", "EXECUTE p", "COMMIT", "EXECUTE p", "DEALLOCATE p"});
  same({"BEGIN; " + kRead + "; COMMIT", kRead});
  same({"BEGIN; " + kRead, "INSERT INTO written(v) VALUES ('z')", "SELECT count(*) FROM written WHERE v = 'z'", "ROLLBACK"});
  same({"BEGIN", kRead + "; INSERT INTO written(v) VALUES ('z'); SELECT count(*) FROM written WHERE v = 'z'", "ROLLBACK"});
  same({"BEGIN", "", kRead, "", "COMMIT"});
  same({"BEGIN", "SELECT pg_is_in_recovery()", "COMMIT"});
  same({"BEGIN", kRead, "SELECT now() = transaction_timestamp(), now() <= clock_timestamp()", "COMMIT"});
  same({"BEGIN", kRead, "SET TRANSACTION READ WRITE", "ROLLBACK"});
  same({"BEGIN", kRead, "SET LOCAL timezone TO DEFAULT", "SHOW timezone", "INSERT INTO written(v) VALUES ('t')", "SHOW timezone", "ROLLBACK"},
       " options='-c timezone=Asia/Tokyo'");
  same({"COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT a", "RELEASE a", "COMMIT", "SAVEPOINT a"});
}

// What a block on a standby has set, and what was undone.
TEST_F(TransactionTest, settings_of_blocks_that_move_and_fail) {
  for (const char* end : {"ROLLBACK", "COMMIT"}) {
    for (const char* step : {"selct", "INSERT INTO written(v) VALUES ('never')", "SELECT 1/0", "SELECT * FROM nosuch", "NOTIFY moved", "SELECT 1"}) {
      for (const char* begin : {"BEGIN READ ONLY", "BEGIN"}) {
        same({begin, kRead, "SET timezone = 'Asia/Tokyo'", "SET search_path = other, public", step, end, "SHOW timezone", "SHOW search_path", kRead,
              "INSERT INTO written(v) VALUES ('after')", "SHOW timezone", kRead, "SHOW search_path"});
      }
    }
  }
  same({"BEGIN READ ONLY", kRead, "SET TRANSACTION READ WRITE", "ROLLBACK"});
  same({"BEGIN READ ONLY", kRead, "SAVEPOINT s", kRead, "ROLLBACK TO s", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "ROLLBACK"});
  same({"BEGIN READ ONLY", "SET TRANSACTION READ WRITE", "SHOW transaction_read_only", "ROLLBACK"});
  same({"BEGIN READ ONLY", kRead, "SELECT 1/0", "ROLLBACK AND CHAIN", kRead, "INSERT INTO written(v) VALUES ('chained')", "ROLLBACK"});
  same({"BEGIN READ ONLY", "SELECT 1/0", "COMMIT AND CHAIN", "SHOW transaction_read_only", "ROLLBACK"});
  same({"BEGIN", "RESET ALL", kRead, "SET LOCAL timezone = 'UTC'", "INSERT INTO written(v) VALUES ('x')", "SHOW timezone", "COMMIT", "SHOW timezone"},
       " options='-c timezone=Asia/Tokyo'");
}

// The end of a failed block with more behind it, in one string.
TEST_F(TransactionTest, a_failed_block_ends_and_something_else_follows) {
  for (const char* begin : {"BEGIN", "BEGIN READ ONLY"}) {
    same({begin, kRead, "SELECT 1/0", "ROLLBACK; INSERT INTO written(v) VALUES ('behind')", kRead});
    same({begin, kRead, "SELECT 1/0", "COMMIT; INSERT INTO written(v) VALUES ('behind')", kRead});
    same({begin, kRead, "SELECT 1/0", "COMMIT AND CHAIN; INSERT INTO written(v) VALUES ('behind')", "ROLLBACK"});
    same({begin, kRead, "SELECT 1/0", "ROLLBACK; BEGIN; INSERT INTO written(v) VALUES ('behind')", "ROLLBACK"});
    same({begin, kRead, "SELECT 1/0", "ROLLBACK AND CHAIN; INSERT INTO written(v) VALUES ('behind')", "ROLLBACK"});
    same({begin, kRead, "SET LOCAL work_mem = '3MB'", "SAVEPOINT a", kRead, "SELECT 1/0", "ROLLBACK TO a; SHOW work_mem; NOTIFY behind", kRead, "COMMIT"});
    same({begin, kRead, "SAVEPOINT a", "SELECT 1/0", "ROLLBACK TO a; INSERT INTO written(v) VALUES ('behind')", "ROLLBACK"});
  }
}

// BEGIN in the extended protocol, alone and with others, named and unnamed.
TEST_F(TransactionTest, extended_protocol) {
  const auto run = [](std::string_view name) { return msg::bind("", name) + execute(""); };
  const std::string begin = parse("", "BEGIN") + run("");
  const std::string read = parse("", kRead) + run("");
  const std::string write = parse("", "INSERT INTO written(v) VALUES ('extended')") + run("");
  const std::string commit = parse("", "COMMIT") + run("");
  const std::vector<std::string> batches = {
      begin + sync(), read + sync(), commit + sync(),
      begin + sync(), commit + sync(),
      begin + read + sync(), write + sync(), read + sync(), parse("", "ROLLBACK") + run("") + sync(),
      parse("b", "BEGIN") + describe('S', "b") + sync(), bind("", "b") + describe('P', "") + execute("") + sync(), read + sync(), commit + sync(),
      run("b") + sync(), write + sync(), parse("", "ROLLBACK") + run("") + sync(),
      parse("b", "BEGIN") + sync(),  // exists
      parse("c", "COMMIT") + run("b") + run("c") + sync(), run("b") + sync(), run("c") + sync(),
      begin + commit + begin + commit + sync(),
      begin + sync(), parse("s", kRead) + describe('S', "s") + sync(), run("s") + sync(), close('S', "s") + sync(), commit + sync(),
      begin + sync(), query("SELECT 1"), query("COMMIT"),
      close('S', "b") + parse("b", "BEGIN READ ONLY") + run("b") + sync(), write + sync(), read + sync(), commit + sync(),
      begin + flush() + sync(), commit + sync(),
      query("BEGIN"), parse("", "SELECT id FROM plain ORDER BY id") + msg::bind("p", "") + execute("p", 3) + sync(), query("INSERT INTO written(v) VALUES ('portal')"), execute("p", 3) + sync(), query("ROLLBACK"),
      begin + sync(), read + sync(), parse("", "SELECT 1/0") + run("") + sync(), parse("", "ROLLBACK") + run("") + begin + write + sync(), parse("", "ROLLBACK") + run("") + sync(),
      parse("", "SELECT 1") + run("") + sync(), query("BEGIN"), query("COMMIT"), run("") + sync(),
      parse("s1", "SELECT 1") + sync(), query("BEGIN"), query("selct"), close('S', "s1") + parse("s1", "BEGIN") + sync(), query("ROLLBACK"),
      begin + sync() + read + sync() + write + sync() + parse("", "ROLLBACK") + run("") + sync(),
  };
  RawClient direct(cluster_.port(0));
  RawClient through(weir_.port());
  direct.login();
  through.login();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    direct.send(batches[i]);
    through.send(batches[i]);
    const std::size_t syncs = i + 1 == batches.size() ? 4 : 1;
    for (std::size_t n = 0; n < syncs; ++n) EXPECT_EQ(outline(through.read_to_ready()), outline(direct.read_to_ready())) << "batch " << i << ", answer " << n;
  }
}

// A standby that refuses something in a block is not the client's business.
TEST_F(TransactionTest, a_refusal_moves_the_block) {
  Connection ddl(cluster_.conninfo(0));
  ddl.must("CREATE OR REPLACE FUNCTION f_hidden_write() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO written(v) VALUES ('hidden'); RETURN 1; END $$");
  Pgweir weir(cluster_, {{"read_only_function_list", "'f_hidden_write'"}});
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  EXPECT_TRUE(wait_until([&] {  // until its facts are known and a standby gets it
    client.must("BEGIN");
    EXPECT_GT(weir.node_of(client, kRead), 0);
    client.must("SAVEPOINT s");
    EXPECT_EQ(client.value("SELECT f_hidden_write()"), "1");
    EXPECT_EQ(client.transaction(), 'T');
    EXPECT_EQ(weir.node_of(client, kRead), 0);
    client.must("ROLLBACK TO s");
    client.must("ROLLBACK");
    const bool refused = weir.logged("another node could not answer it");
    client.must("DISCARD ALL");
    return refused;
  }));
  ddl.must("DROP FUNCTION f_hidden_write()");
}

TEST_F(TransactionTest, disable_load_balance_on_write) {
  {
    Pgweir weir(cluster_, {{"disable_load_balance_on_write", "'trans_transaction'"}});
    Connection client(weir.conninfo());
    {
      Connection first(weir.conninfo());
      ASSERT_TRUE(ready(weir, first));
    }
    ASSERT_TRUE(weir.reaches_standby(client, kRead));
    client.must("BEGIN");
    EXPECT_GT(weir.node_of(client, kRead), 0);
    client.must("INSERT INTO written(v) VALUES ('kept')");
    client.must("COMMIT");
    client.must("BEGIN");
    EXPECT_EQ(weir.node_of(client, kRead), 0);
    client.must("COMMIT");
    EXPECT_GT(weir.node_of(client, kRead), 0);
  }
  Pgweir weir(cluster_, {{"disable_load_balance_on_write", "'always'"}});
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  client.must("INSERT INTO written(v) VALUES ('kept')");
  EXPECT_EQ(weir.node_of(client, kRead), 0);
  Connection other(weir.conninfo());
  EXPECT_GT(weir.node_of(other, kRead), 0);
}

// The standby of an open block is lost: while the client is idle, and under a read.
TEST(transaction, a_lost_standby_does_not_fail_the_block) {
  Cluster cluster;
  Pgweir weir(cluster);
  for (const bool idle : {true, false}) {
    Connection client(weir.conninfo());
    ASSERT_TRUE(weir.reaches_standby(client, kRead));
    client.must("BEGIN");
    client.must("SET LOCAL work_mem = '3MB'");
    const int node = weir.node_of(client, kRead);
    ASSERT_GT(node, 0);
    if (idle) {
      cluster.kill_hard(node);
    } else {
      cluster.freeze(node);
    }
    EXPECT_EQ(client.value(kRead), "row 1") << (idle ? "killed" : "frozen");
    EXPECT_EQ(client.transaction(), 'T');
    EXPECT_EQ(client.value("SHOW work_mem"), "3MB");
    client.must("INSERT INTO written(v) VALUES ('survived')");
    client.must("COMMIT");
    if (idle) {
      cluster.start(node);
    } else {
      cluster.thaw(node);
    }
    EXPECT_TRUE(wait_until([&] { return weir.reaches_standby(client, kRead); }));
  }
}

// BEGIN goes in front of the first statement, in the same write: where it fails the statement must not run.
TEST(transaction, a_begin_that_the_primary_refuses) {
  const Cluster& cluster = Cluster::shared();
  Meddler primary(cluster.port(0));
  Pgweir weir(cluster, {{"backend_port0", std::to_string(primary.port())}});
  Connection client(weir.conninfo());
  client.must("DELETE FROM written WHERE v = 'never'");
  for (const bool extended : {false, true}) {
    SCOPED_TRACE(extended ? "extended" : "simple");
    const auto insert = [&] {
      return extended ? client.exec_params("INSERT INTO written(v) VALUES ($1)", {"never"}) : client.exec("INSERT INTO written(v) VALUES ('never')");
    };
    ASSERT_TRUE(weir.reaches_standby(client, kRead));  // what was used before is known by now
    client.must("BEGIN");
    primary.change("BEGIN", "BEGIX");
    EXPECT_EQ(insert().sqlstate, "42601");
    EXPECT_EQ(primary.changed(), 1);
    primary.change("", "");
    EXPECT_EQ(client.transaction(), 'E');
    EXPECT_EQ(insert().sqlstate, "25P02");
    EXPECT_EQ(client.exec("SAVEPOINT a").sqlstate, "25P02");
    EXPECT_EQ(client.exec("COMMIT").tag, "ROLLBACK");
    EXPECT_EQ(client.transaction(), 'I');
    EXPECT_EQ(client.value("SELECT count(*) FROM written WHERE v = 'never'"), "0");
    client.must("BEGIN");
    client.must("SET LOCAL work_mem = '3MB'");
    EXPECT_EQ(client.value("SHOW work_mem"), "3MB");
    client.must("COMMIT");
    EXPECT_EQ(client.value("SHOW work_mem"), "4MB");
  }
}

TEST(transaction, a_begin_that_a_standby_refuses) {
  const Cluster& cluster = Cluster::shared();
  Meddler standby(cluster.port(1));
  Pgweir weir(cluster, {{"backend_port1", std::to_string(standby.port())}, {"backend_weight2", "0"}});
  Connection client(weir.conninfo());
  ASSERT_TRUE(weir.reaches_standby(client, kRead));
  client.must("BEGIN");
  standby.change("BEGIN", "BEGIX");
  EXPECT_EQ(client.value(kRead), "row 1");
  EXPECT_EQ(standby.changed(), 1);
  EXPECT_EQ(client.transaction(), 'T');
  client.must("INSERT INTO written(v) VALUES ('elsewhere')");
  client.must("COMMIT");
  standby.change("", "");
  EXPECT_TRUE(weir.reaches_standby(client, kRead));
}

// The standby's connection of a block that has only read.
class StandbyBackendTest : public testing::Test {
protected:
  // Begins a block that reads on a standby; the pid of its server process there.
  int begin_and_read() {
    EXPECT_TRUE(weir_.reaches_standby(client_, kRead));
    client_.must("BEGIN");
    node_ = weir_.node_of(client_, kRead);
    EXPECT_GT(node_, 0);
    super_.emplace(cluster_.conninfo(node_, "postgres", "postgres"));
    return std::stoi(super_->value("SELECT pid FROM pg_stat_activity WHERE application_name = 'victim'"));
  }

  const Cluster& cluster_ = Cluster::shared();
  Pgweir weir_{cluster_};
  Connection client_{weir_.conninfo() + " application_name=victim"};
  int node_ = -1;
  std::optional<Connection> super_; // of that node
};

TEST_F(StandbyBackendTest, its_end_does_not_end_the_block) {
  client_.must("INSERT INTO written(v) VALUES ('known')");
  const int pid = begin_and_read();
  super_->must("SELECT pg_terminate_backend(" + std::to_string(pid) + ")");
  expect_soon("it is gone", [&] { return super_->value("SELECT count(*) FROM pg_stat_activity WHERE pid = " + std::to_string(pid)) == "0"; });
  client_.must("INSERT INTO written(v) VALUES ('after its end')");
  EXPECT_EQ(client_.transaction(), 'T');
  client_.must("COMMIT");
}

// The last words of the standby must not become a part of the answer to a write on the primary.
TEST_F(StandbyBackendTest, its_end_while_the_block_moves) {
  client_.must("INSERT INTO written(v) VALUES ('known')");
  for (int i = 0; i < 20; ++i) {
    const int pid = begin_and_read();
    super_->must("SELECT pg_terminate_backend(" + std::to_string(pid) + ")");
    const Answer answer = client_.exec("INSERT INTO written(v) VALUES ('moved')");
    EXPECT_EQ(answer.tag, "INSERT 0 1") << answer.message;
    EXPECT_EQ(client_.transaction(), 'T');
    client_.must("COMMIT");
  }
}

TEST_F(StandbyBackendTest, its_silence_does_not_hold_up_the_primary) {
  client_.must("INSERT INTO written(v) VALUES ('known')");
  const int pid = begin_and_read();
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  client_.must("INSERT INTO written(v) VALUES ('without an answer')");
  client_.must("COMMIT");
  EXPECT_EQ(client_.value(kRead), "row 1"); // elsewhere
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  EXPECT_TRUE(weir_.reaches_standby(client_, kRead));
}

} // namespace
} // namespace weir::test
