// The protocol message by message, against what PostgreSQL itself answers to the same bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

class ProtocolTest : public ::testing::Test {
protected:
  // What pgweir answers, and that PostgreSQL answers the same.
  void same(const std::string& bytes) {
    RawClient direct(Cluster::shared().port(0));
    direct.login();
    const std::string expected = outline(direct.ask(bytes));
    RawClient through(weir_.port());
    through.login();
    EXPECT_EQ(outline(through.ask(bytes)), expected);
    // The connection is as usable as before.
    EXPECT_EQ(outline(through.ask(query("SELECT 'still here'"))), "T D:still here C:SELECT 1 Z:I");
  }
  // Several exchanges on one connection.
  void same_dialogue(const std::vector<std::string>& steps, int readies_each = 1) {
    RawClient direct(Cluster::shared().port(0));
    direct.login();
    RawClient through(weir_.port());
    through.login();
    for (const std::string& step : steps) {
      direct.send(step);
      through.send(step);
      for (int i = 0; i < readies_each; ++i) {
        EXPECT_EQ(outline(through.read_to_ready()), outline(direct.read_to_ready()))
            << "after " << printable(step);
      }
    }
  }
  static std::string printable(const std::string& bytes) {
    std::string out;
    for (const char c : bytes)
      out += c >= ' ' && c <= '~' ? c : '.';
    return out;
  }

  Pgweir weir_{Cluster::shared()};
};

const std::string kRead = "SELECT v FROM plain WHERE id = $1::int";

TEST_F(ProtocolTest, simple_queries) {
  same(query("SELECT v FROM plain WHERE id = 1"));
  same(query("SELECT 1; SELECT 2"));
  same(query(""));
  same(query("   ;  ; "));
  same(query("-- only a comment"));
  same(query("SELECT 1; SELECT 1/0; SELECT 3"));
  same(query("SELEC"));
  same(query("COPY (SELECT id FROM plain WHERE id < 4 ORDER BY id) TO STDOUT"));
}

TEST_F(ProtocolTest, unnamed_statement_and_portal) {
  same(parse("", kRead) + bind("", "", {"3"}) + describe('P', "") + execute("") + sync());
  same(parse("", kRead) + describe('S', "") + bind("", "", {"3"}) + execute("") + sync());
  same(parse("", "") + bind("", "") + execute("") + sync());
  same(parse("", "INSERT INTO written(v) VALUES ('x')") + bind("", "") + describe('P', "") +
       execute("") + sync());
}

TEST_F(ProtocolTest, named_statements_and_portals) {
  same_dialogue({
      parse("s1", kRead) + describe('S', "s1") + sync(),
      bind("", "s1", {"1"}) + execute("") + sync(),
      bind("p1", "s1", {"2"}) + bind("p2", "s1", {"3"}) + describe('P', "p2") + execute("p2") +
          execute("p1") + sync(),
      execute("p1") + sync(),           // the portal went with its transaction
      parse("s1", "SELECT 1") + sync(), // exists already
      close('S', "s1") + sync(),
      bind("", "s1", {"1"}) + execute("") + sync(),
      parse("s1", "SELECT 'again'") + bind("", "s1") + execute("") + close('S', "s1") + sync(),
      close('S', "never was") + close('P', "never was") + sync(),
      describe('S', "never was") + sync(),
      execute("never was") + sync(),
      parse("w", "SELECT count(*) FROM written WHERE id < $1::int") + bind("", "w", {"0"}) +
          execute("") + sync(),
      bind("", "w", {"0"}) + execute("") + sync(),
  });
}

TEST_F(ProtocolTest, portal_with_row_limits) {
  same(parse("", "SELECT id FROM plain ORDER BY id LIMIT 7") + bind("p", "") + execute("p", 3) +
       execute("p", 3) + execute("p", 3) + execute("p", 3) + sync());
  same_dialogue({
      query("BEGIN"),
      parse("", "SELECT id FROM plain ORDER BY id LIMIT 7") + bind("p", "") + execute("p", 3) +
          sync(),
      execute("p", 2) + sync(),
      query("SELECT 'between'"),
      execute("p") + close('P', "p") + sync(),
      execute("p") + sync(),
      query("ROLLBACK"),
  });
}

TEST_F(ProtocolTest, several_statements_in_a_batch) {
  same(parse("", "SELECT 1") + bind("", "") + execute("") +
       parse("", "SELECT v FROM plain WHERE id = 2") + bind("", "") + execute("") +
       parse("", "SELECT 3") + bind("", "") + execute("") + sync());
  // A batch is one transaction: what came before the error is undone, what follows is skipped.
  same_dialogue({
      parse("", "INSERT INTO written(id, v) VALUES (-500, 'x')") + bind("", "") + execute("") +
          parse("", "SELECT 1/0") + bind("", "") + execute("") + parse("", "SELECT 'skipped'") +
          bind("", "") + execute("") + sync(),
      query("SELECT count(*) FROM written WHERE id = -500"),
  });
}

TEST_F(ProtocolTest, errors_inside_a_batch) {
  same(parse("", "SELEC") + bind("", "") + execute("") + sync());
  same(parse("", "SELECT nothing FROM plain") + describe('S', "") + sync());
  same(parse("", kRead) + bind("", "", {"not a number"}) + execute("") + sync());
  same(parse("", kRead) + bind("", "", {"1", "2"}) + execute("") + sync());
  same(parse("", "SELECT 10/(id-2) FROM plain ORDER BY id LIMIT 3") + bind("", "") + execute("") +
       sync());
  same(bind("", "missing") + execute("") + sync());
  same(parse("x", "SELECT 1; SELECT 2") + sync());
}

TEST_F(ProtocolTest, many_syncs_in_one_write) {
  RawClient direct(Cluster::shared().port(0));
  direct.login();
  RawClient through(weir_.port());
  through.login();
  std::string bytes;
  int readies = 0;
  for (int i = 1; i <= 40; ++i) {
    bytes += parse("", kRead) + bind("", "", {std::to_string(i)}) + execute("") + sync();
    if (i % 4 == 0)
      bytes += parse("", "SELECT count(*) FROM written WHERE id < -10000") + bind("", "") +
               execute("") + sync();
    if (i % 6 == 0)
      bytes += query("SELECT v FROM plain WHERE id = 1; SELECT pg_sleep(0)");
    if (i % 5 == 0)
      bytes += parse("", "SELECT 1/0") + bind("", "") + execute("") + sync();
    if (i % 8 == 0)
      bytes += sync();
  }
  for (std::size_t at = 0; at < bytes.size();) { // count the Syncs and Queries sent
    const auto byte = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + i]));
    };
    if (bytes[at] == 'S' || bytes[at] == 'Q')
      ++readies;
    at += 1 + (byte(1) << 24U) + (byte(2) << 16U) + (byte(3) << 8U) + byte(4);
  }
  direct.send(bytes);
  through.send(bytes);
  for (int i = 0; i < readies; ++i) {
    ASSERT_EQ(outline(through.read_to_ready()), outline(direct.read_to_ready())) << "answer " << i;
  }
}

// A Query ends what was begun without a Sync.
TEST_F(ProtocolTest, query_after_parts_of_a_batch) {
  same(parse("", "SELECT 1") + query("SELECT 2"));
  same(parse("", "SELECT 1") + bind("", "") + query("SELECT 2"));
  same(parse("", "SELECT 1") + bind("", "") + execute("") +
       query("SELECT v FROM plain WHERE id = 1"));
  same(parse("n", kRead) + describe('S', "n") + query("SELECT v FROM plain WHERE id = 1"));
  same_dialogue({parse("", "SELECT 1") + query("BEGIN"), close('S', "x") + query("COMMIT")});
}

TEST_F(ProtocolTest, flush) {
  // What a client waits for after a Flush comes without a Sync.
  RawClient client(weir_.port());
  client.login();
  client.send(parse("f", kRead) + describe('S', "f") + flush());
  EXPECT_EQ(outline(client.read_to('T')), "1 t T");
  client.send(bind("", "f", {"4"}) + execute("") + flush());
  EXPECT_EQ(outline(client.read_to('C')), "2 D:row 4 C:SELECT 1");
  EXPECT_EQ(outline(client.ask(sync())), "Z:I");
  client.send(parse("", "SELECT 1/0") + bind("", "") + execute("") + flush());
  EXPECT_EQ(outline(client.read_to('E')), "1 E:22012"); // constants are folded at Bind
  client.send(parse("", "SELECT 'skipped until Sync'") + flush());
  EXPECT_TRUE(client.silent(std::chrono::milliseconds(200)));
  EXPECT_EQ(outline(client.ask(sync())), "Z:I");
}

TEST_F(ProtocolTest, transactions_in_the_extended_protocol) {
  const auto run_it = [](const std::string& sql) {
    return parse("", sql) + bind("", "") + describe('P', "") + execute("") + sync();
  };
  same_dialogue({run_it("BEGIN"), run_it("SELECT v FROM plain WHERE id = 1"), run_it("COMMIT"),
                 run_it("COMMIT"), run_it("BEGIN READ ONLY"),
                 run_it("SELECT v FROM plain WHERE id = 1"), run_it("SELECT 1/0"),
                 run_it("SELECT 1"), run_it("ROLLBACK"), run_it("BEGIN"), run_it("BEGIN"),
                 run_it("ROLLBACK")});
  // As JDBC does: a named BEGIN, and BEGIN and the statement in one batch.
  same_dialogue({
      parse("b", "BEGIN") + sync(),
      bind("", "b") + execute("") + parse("", kRead) + bind("", "", {"1"}) + describe('P', "") +
          execute("", 0) + sync(),
      parse("", "COMMIT") + bind("", "") + execute("") + sync(),
      bind("", "b") + execute("") + sync(),
      parse("", "INSERT INTO written(v) VALUES ('never kept')") + bind("", "") + execute("") +
          sync(),
      query("ROLLBACK"),
      query("SELECT count(*) FROM written WHERE v = 'never kept'"),
      bind("", "b") + execute("") + sync(),
      query("SAVEPOINT s; SELECT 1"),
      query("ROLLBACK TO s"),
      parse("", "ROLLBACK") + bind("", "") + execute("") + sync(),
  });
}

TEST_F(ProtocolTest, copy_in) {
  const auto dialogue = [](RawClient& client) {
    std::string out =
        outline(client.ask(query("CREATE TABLE IF NOT EXISTS copy_raw (i int)"))).substr(0, 0);
    out += outline(client.ask(query("TRUNCATE copy_raw"))) + "\n";
    client.send(query("COPY copy_raw FROM STDIN"));
    out += outline(client.read_to('G')) + "\n";
    out += outline(client.ask(copy_data("1\n2") + flush() + sync() + copy_data("\n3\n") +
                              copy_done())) +
           "\n";
    client.send(query("COPY copy_raw FROM STDIN"));
    out += outline(client.read_to('G')) + "\n";
    out += outline(client.ask(copy_data("4\n") + copy_fail("enough"))) + "\n";
    client.send(query("COPY copy_raw FROM STDIN"));
    out += outline(client.read_to('G')) + "\n";
    out += outline(client.ask(copy_data("nonsense\n") + copy_data("5\n") + copy_done())) + "\n";
    // Extended: data follows in the same write as Execute; a Sync ends it.
    out += outline(client.ask(parse("", "COPY copy_raw FROM STDIN") + bind("", "") + execute("") +
                              copy_data("6\n") + copy_done() + sync())) +
           "\n";
    client.send(parse("", "COPY copy_raw FROM STDIN") + bind("", "") + execute("") + flush());
    out += outline(client.read_to('G')) + "\n";
    out += outline(client.ask(copy_data("7\n") + copy_fail("enough") + sync())) + "\n";
    out += outline(client.ask(query("SELECT count(*), sum(i) FROM copy_raw"))) + "\n";
    // A stray end of copy is ignored.
    out += outline(client.ask(copy_done() + copy_data("x") + copy_fail("y") + query("SELECT 1"))) +
           "\n";
    // COPY and another statement in one text.
    client.send(query("COPY copy_raw FROM STDIN; SELECT count(*) FROM copy_raw"));
    out += outline(client.read_to('G')) + "\n";
    out += outline(client.ask(copy_data("8\n") + copy_done())) + "\n";
    return out;
  };
  RawClient direct(Cluster::shared().port(0));
  direct.login();
  const std::string expected = dialogue(direct);
  RawClient through(weir_.port());
  through.login();
  EXPECT_EQ(dialogue(through), expected);
}

TEST_F(ProtocolTest, function_call) {
  RawClient direct(Cluster::shared().port(0));
  direct.login();
  RawClient through(weir_.port());
  through.login();
  for (const std::string& step :
       {function_call(1397, {"-5"}), function_call(99999999, {"1"}), function_call(1397, {"x"})}) {
    EXPECT_EQ(outline(through.ask(step)), outline(direct.ask(step)));
  }
}

// The same bytes, cut at every place.
TEST_F(ProtocolTest, split_at_every_position) {
  const std::string bytes = query("SELECT v FROM plain WHERE id = 1") + parse("s", kRead) +
                            bind("", "s", {"2"}) + describe('P', "") + execute("") +
                            close('S', "s") + sync() + query("COPY (SELECT 7) TO STDOUT");
  RawClient direct(Cluster::shared().port(0));
  direct.login();
  direct.send(bytes);
  std::string expected;
  for (int i = 0; i < 3; ++i)
    expected += outline(direct.read_to_ready()) + "\n";
  RawClient through(weir_.port());
  through.login();
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    through.send(std::string_view(bytes).substr(0, cut));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(1)); // or the two parts would travel as one
    through.send(std::string_view(bytes).substr(cut));
    std::string got;
    for (int i = 0; i < 3; ++i)
      got += outline(through.read_to_ready()) + "\n";
    ASSERT_EQ(got, expected) << "cut at " << cut;
  }
  for (const char byte : bytes) {
    through.send(std::string_view(&byte, 1));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  std::string got;
  for (int i = 0; i < 3; ++i)
    got += outline(through.read_to_ready()) + "\n";
  EXPECT_EQ(got, expected);
}

TEST_F(ProtocolTest, replication_connection_goes_to_the_primary) {
  RawClient client(weir_.port());
  client.login("postgres", "app", {{"replication", "true"}});
  EXPECT_TRUE(std::any_of(client.welcome.begin(), client.welcome.end(), [](const Message& message) {
    return message.tag == 'S' && message.body == cstring("integer_datetimes") + cstring("on");
  }));
  const auto answer = client.ask(query("IDENTIFY_SYSTEM"));
  ASSERT_FALSE(answer.empty());
  EXPECT_EQ(answer.back().tag, 'Z') << outline(answer);
  RawClient logical(weir_.port());
  logical.login("postgres", "app", {{"replication", "database"}});
  EXPECT_EQ(outline(logical.ask(query("SELECT pg_is_in_recovery()"))), "T D:f C:SELECT 1 Z:I");
  EXPECT_EQ(outline(logical.ask(query("SELECT v FROM plain WHERE id = 1"))),
            "T D:row 1 C:SELECT 1 Z:I");
  for (const NodeStatement& s : weir_.statements("SELECT v FROM plain"))
    EXPECT_EQ(s.node, 0);
}

TEST_F(ProtocolTest, base_backup_streams_through) {
  const std::string target = make_folder("backup");
  SpawnOptions options;
  options.argv = {postgres_bin() + "/pg_basebackup",
                  "-h",
                  "127.0.0.1",
                  "-p",
                  std::to_string(weir_.port()),
                  "-U",
                  "postgres",
                  "-D",
                  target + "/data",
                  "-X",
                  "stream",
                  "-c",
                  "fast",
                  "--no-sync"};
  options.folder = target;
  const Output output = run(options);
  EXPECT_EQ(output.code, 0) << output.out;
  EXPECT_NE(read_file(target + "/data/PG_VERSION"), "");
  remove_folder(target);
}

// A portal cannot move: a READ ONLY block in which one is opened goes to the primary, where everything works.
TEST_F(ProtocolTest, a_portal_takes_its_read_only_block_to_the_primary) {
  for (const bool through : {true, false}) {
    RawClient client(through ? weir_.port() : Cluster::shared().port(0));
    client.login();
    EXPECT_EQ(outline(client.ask(query("BEGIN READ ONLY"))), "C:BEGIN Z:T");
    EXPECT_EQ(outline(client.ask(parse("", "SELECT id FROM plain ORDER BY id") + bind("p", "") +
                                 execute("p", 1) + sync())),
              "1 2 D:1 s Z:T");
    EXPECT_EQ(outline(client.ask(query("SELECT count(*) > 0 FROM pg_class"))),
              "T D:t C:SELECT 1 Z:T");
    EXPECT_EQ(outline(client.ask(query("NOTIFY portal_test"))), "C:NOTIFY Z:T");
    EXPECT_EQ(outline(client.ask(query("PREPARE s AS SELECT 1"))), "C:PREPARE Z:T");
    EXPECT_EQ(outline(client.ask(execute("p", 1) + sync())), "D:2 s Z:T");
    EXPECT_EQ(outline(client.ask(query("COMMIT"))), "C:COMMIT Z:I");
    EXPECT_EQ(outline(client.ask(query("EXECUTE s"))), "T D:1 C:SELECT 1 Z:I");
    // In one batch with its BEGIN.
    EXPECT_EQ(outline(client.ask(parse("", "BEGIN READ ONLY") + bind("", "") + execute("") + parse("", "SELECT id FROM plain ORDER BY id") +
                                 bind("p", "") + execute("p", 1) + sync())),
              "1 2 C:BEGIN 1 2 D:1 s Z:T");
    EXPECT_EQ(outline(client.ask(query("NOTIFY portal_test"))), "C:NOTIFY Z:T");
    EXPECT_EQ(outline(client.ask(execute("p", 1) + sync())), "D:2 s Z:T");
    EXPECT_EQ(outline(client.ask(query("ROLLBACK"))), "C:ROLLBACK Z:I");
  }
}

// A chained READ ONLY block, or one whose modes came after its BEGIN, can move as well.
TEST_F(ProtocolTest, chained_read_only_blocks_move) {
  for (const bool through : {true, false}) {
    RawClient client(through ? weir_.port() : Cluster::shared().port(0));
    client.login();
    for (const char* text : {"BEGIN READ ONLY", "SELECT v FROM plain WHERE id = 1", "COMMIT AND CHAIN", "SELECT v FROM plain WHERE id = 1", "NOTIFY chained",
                             "SHOW transaction_read_only", "COMMIT AND CHAIN", "NOTIFY chained", "INSERT INTO plain (id) VALUES (-1)", "ROLLBACK"}) {
      const std::string got = outline(client.ask(query(text)));
      const std::string_view sql = text;
      const std::string wanted = sql.starts_with("SELECT") ? "T D:row 1 C:SELECT 1 Z:T" : sql.starts_with("SHOW") ? "T D:on C:SHOW Z:T" : sql.starts_with("INSERT") ? "E:25006 Z:E" : sql == "ROLLBACK" ? "C:ROLLBACK Z:I" : sql.starts_with("BEGIN") ? "C:BEGIN Z:T" : sql.starts_with("COMMIT") ? "C:COMMIT Z:T" : "C:NOTIFY Z:T";
      EXPECT_EQ(got, wanted) << text << (through ? " through pgweir" : " directly");
    }
  }
}

// A batch that a standby refuses is run again with the names that there were before it.
TEST_F(ProtocolTest, names_of_a_batch_that_is_run_again) {
  for (const bool through : {true, false}) {
    RawClient client(through ? weir_.port() : Cluster::shared().port(0));
    client.login();
    EXPECT_EQ(outline(client.ask(parse("a", "SELECT 1") + parse("a", "SELECT 2") + sync())),
              "1 E:42P05 Z:I");
    EXPECT_EQ(outline(client.ask(parse("b", "SELECT v FROM plain WHERE id = 1") +
                                 parse("c", "SELECT nothing FROM plain") + sync())),
              "1 E:42703 Z:I");
    EXPECT_EQ(outline(client.ask(bind("", "b") + execute("") + sync())),
              "2 D:row 1 C:SELECT 1 Z:I");
  }
}

// Who closes only the sending side still gets all that was asked for.
TEST_F(ProtocolTest, half_closed_clients_get_their_answer) {
  RawClient client(weir_.port());
  client.login();
  client.send(query("SELECT repeat('x', 1000) FROM generate_series(1, 5000)"));
  client.half_close();
  EXPECT_EQ(client.read_to_ready().size(), 1U + 5000U + 1U + 1U);
  // Without a Sync: up to the Flush.
  for (const bool through : {true, false}) {
    RawClient flushing(through ? weir_.port() : Cluster::shared().port(0));
    flushing.login();
    flushing.send(parse("", "SELECT 1") + bind("", "") + execute("") + flush());
    flushing.half_close();
    EXPECT_EQ(outline(flushing.read_to_ready()), "1 2 D:1 C:SELECT 1") << (through ? "through pgweir" : "directly");
  }
}

TEST_F(ProtocolTest, odd_startup_parameters) {
  RawClient latin(weir_.port());
  latin.login("app", "app", {{"application_name", "caf\xe9"}, {"client_encoding", "LATIN1"}});
  EXPECT_EQ(outline(latin.ask(query("SHOW application_name"))), "T D:caf? C:SHOW Z:I");
  RawClient walsender(weir_.port());
  walsender.send(startup({{"user", "app"}, {"database", "app"}, {"replication", "garbage"}}));
  const auto answer = walsender.read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->field('C'), "22023");
  RawClient stuffed(weir_.port());
  stuffed.send(ssl_request() + startup({{"user", "app"}}));
  const auto refused = stuffed.read();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->field('C'), "08P01");
}

// ... and who is gone altogether does not keep a server at work once that has something to say.
TEST_F(ProtocolTest, clients_that_vanish_while_they_are_answered) {
  {
    RawClient client(weir_.port());
    client.login();
    client.send(query("SELECT repeat('vanished', 1000) FROM generate_series(1, 100000000)"));
    ASSERT_TRUE(client.read().has_value());
  }
  Connection super(Cluster::shared().conninfo(0, "postgres", "postgres"));
  expect_soon("the statement is gone", [&] {
    return super.value("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE "
                       "'%vanished%' AND pid <> pg_backend_pid()") == "0";
  });
}

} // namespace
} // namespace weir::test
