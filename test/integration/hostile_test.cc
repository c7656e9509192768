// Broken and hostile bytes from clients that are logged in, and servers that die in the middle: the
// right error or a closed connection, never a crash, a stuck process or somebody else's data.
#include <gtest/gtest.h>

#include <random>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

class HostileTest : public ::testing::Test {
protected:
  void SetUp() override {
    expect_soon("two children", [this] { return weir_.processes_named("child").size() == 2; });
    children_ = weir_.processes_named("child");
    neighbour_.login();
  }
  // No process was lost, and the client that was there before is served as before.
  void expect_unharmed() {
    EXPECT_EQ(outline(neighbour_.ask(query("SELECT v FROM plain WHERE id = 1"))),
              "T D:row 1 C:SELECT 1 Z:I");
    EXPECT_EQ(weir_.processes_named("child"), children_);
  }
  static std::string printable(std::string bytes) {
    for (char& c : bytes)
      c = c >= ' ' && c <= '~' ? c : '.';
    return bytes;
  }
  std::vector<Message> answer_to(const std::string& bytes) {
    RawClient client(weir_.port());
    client.login();
    client.send(bytes);
    client.half_close();
    std::vector<Message> messages;
    while (auto message = client.read())
      messages.push_back(std::move(*message));
    EXPECT_TRUE(client.closed());
    return messages;
  }

  Pgweir weir_{Cluster::shared()};
  std::vector<pid_t> children_;
  RawClient neighbour_{weir_.port()};
};

TEST_F(HostileTest, unknown_tags_and_impossible_lengths) {
  for (const std::string& bytes :
       {tagged('y', "what"), tagged('\0', ""), tagged('\xff', "x"),
        std::string("Q") + int32(3) + "abc", std::string("Q") + int32(0),
        std::string("Q") + int32(-1) + std::string(100, 'x'),
        std::string("Q") + int32(0x7fffffff) + "SELECT", std::string("S") + int32(0x40000000),
        tagged('S', "body"), std::string("X") + int32(1000000),
        std::string("E") + int32(5) + "x"}) {
    const auto messages = answer_to(bytes);
    if (!messages.empty()) {
      EXPECT_EQ(messages[0].tag, 'E') << outline(messages);
      EXPECT_EQ(messages[0].field('C'), "08P01") << outline(messages);
    }
    expect_unharmed();
  }
}

TEST_F(HostileTest, unknown_tag_is_a_fatal_protocol_violation) {
  const auto messages = answer_to(tagged('y', "what"));
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].field('S'), "FATAL");
  EXPECT_EQ(messages[0].field('C'), "08P01");
}

TEST_F(HostileTest, malformed_bodies) {
  for (const std::string& bytes :
       {tagged('Q', "no end"),
        tagged('P', "name without end"),
        tagged('P', std::string("n\0q\0", 4)),
        tagged('P', std::string("n\0q\0", 4) + int16(5) + int32(23)),
        tagged('P', std::string("n\0q\0", 4) + int16(-1)),
        tagged('B', ""),
        tagged('B', std::string("\0\0", 2) + int16(3)),
        tagged('B', std::string("\0\0", 2) + int16(0) + int16(1) + int32(1000) + "short"),
        tagged('B', std::string("\0\0", 2) + int16(0) + int16(1) + int32(-7)),
        tagged('B', std::string("\0\0", 2) + int16(-1)),
        tagged('D', ""),
        tagged('D', "X"),
        tagged('D', std::string("Qn\0", 3)),
        tagged('C', std::string("Zx\0", 3)),
        tagged('E', ""),
        tagged('E', std::string("p\0", 2)),
        tagged('E', "no end"),
        tagged('F', ""),
        tagged('F', int32(1397) + int16(0) + int16(30000)),
        tagged('f', "no end"),
        tagged('p', "password now?"),
        tagged('d', "")}) {
    const auto messages = answer_to(bytes + sync());
    for (const Message& message : messages) {
      EXPECT_TRUE(message.tag == 'E' || message.tag == 'Z' || message.tag == 'V' ||
                  message.tag == '1')
          << outline(messages);
      if (message.tag == 'E') {
        EXPECT_TRUE(message.field('C') == "08P01" || message.field('C') == "34000" ||
                    message.field('C') == "26000")
            << outline(messages) << " " << message.field('M');
      }
    }
    expect_unharmed();
  }
}

TEST_F(HostileTest, half_a_message_and_silence_or_the_end) {
  RawClient silent(weir_.port());
  silent.login();
  silent.send(query("SELECT 1").substr(0, 7));
  expect_unharmed();
  RawClient gone(weir_.port());
  gone.login();
  gone.send(parse("", "SELECT 1") + bind("", "") + std::string("E") + int32(100));
  gone.disconnect();
  RawClient in_copy(weir_.port());
  in_copy.login();
  in_copy.send(query("COPY written(v) FROM STDIN"));
  in_copy.read_to('G');
  in_copy.send(copy_data("half of\n") + "d" + int32(5000) + "x");
  in_copy.disconnect();
  expect_unharmed();
  Connection direct(Cluster::shared().conninfo(0));
  EXPECT_EQ(direct.value("SELECT count(*) FROM written WHERE v = 'half of'"), "0");
}

// A client that is gone before the server asks for its data: the server must learn that none will come.
TEST_F(HostileTest, gone_before_the_copy_begins) {
  const std::string copy = "COPY written(v) FROM STDIN /* gone */";
  Connection super(Cluster::shared().conninfo(0, "postgres", "postgres"));
  const auto left = [&] { return super.value("SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND query LIKE 'COPY written%gone%'"); };
  for (const std::string& bytes : {query(copy), query(copy) + copy_data("x\n"), parse("", copy) + msg::bind("", "") + execute("") + sync(),
                                   query("BEGIN") + query(copy), parse("", copy) + msg::bind("", "") + execute("") + flush()}) {
    for (const bool half : {false, true}) {
      Connection locks(Cluster::shared().conninfo(0));
      locks.must("BEGIN");
      locks.must("LOCK TABLE written");
      RawClient client(weir_.port());
      client.login();
      client.send(bytes);
      expect_soon("the server waits for the lock", [&] { return left() == "1"; });
      if (half) {
        client.half_close();
      } else {
        client.disconnect();
      }
      locks.must("COMMIT");
      expect_soon("the server has given up", [&] { return left() == "0"; });
    }
  }
}

TEST_F(HostileTest, random_bytes_after_login) {
  std::mt19937 random(7);
  const std::string tags = "QPBDECSHFXdcfp";
  for (int i = 0; i < 300; ++i) {
    std::string body(random() % 60, '\0');
    for (char& byte : body)
      byte = static_cast<char>(random());
    const std::string bytes = i % 3 == 0 ? body : tagged(tags[random() % tags.size()], body);
    (void)answer_to(bytes + (i % 5 == 0 ? sync() : std::string()));
  }
  expect_unharmed();
}

// Random messages that are each well formed, in random order: pgweir answers as PostgreSQL does.
TEST_F(HostileTest, messages_in_any_order) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces{parse("", "SELECT v FROM plain WHERE id = 3"),
                                        parse("a", "SELECT v FROM plain WHERE id = $1::int"),
                                        parse("bad", "SELEC"),
                                        bind("", ""),
                                        bind("", "a", {"5"}),
                                        bind("p", "a", {"6"}),
                                        bind("p", "", {}),
                                        describe('S', "a"),
                                        describe('P', "p"),
                                        describe('P', ""),
                                        execute(""),
                                        execute("p", 1),
                                        execute("p"),
                                        close('S', "a"),
                                        close('P', "p"),
                                        close('S', ""),
                                        sync(),
                                        sync(),
                                        sync(),
                                        query("SELECT 2"),
                                        query("BEGIN"),
                                        query("COMMIT"),
                                        query("SELECT 1/0"),
                                        copy_done(),
                                        copy_fail("x")};
  for (int round = 0; round < 150; ++round) {
    std::string bytes;
    std::string names;
    for (std::size_t i = 0, n = 3 + random() % 12; i < n; ++i) {
      const std::string& piece = pieces[random() % pieces.size()];
      bytes += piece;
      names += piece[0];
    }
    bytes += sync();
    const auto all = [&](RawClient& client) {
      client.send(bytes);
      // A Query that is skipped after an error gives no ReadyForQuery, so the end is marked.
      client.send(query("SELECT 'the end'"));
      std::vector<Message> messages;
      for (;;) {
        auto more = client.read_to_ready();
        const bool end =
            more.empty() || outline(more).find("the end") != std::string::npos || client.closed();
        messages.insert(messages.end(), more.begin(), more.end());
        if (end)
          return outline(messages);
        if (outline(more).find("25P02") != std::string::npos && outline(more).back() == 'E') {
          // A failed block: the mark is refused as well; leave the block and mark again.
          client.send(query("ROLLBACK") + query("SELECT 'the end'"));
        }
      }
    };
    RawClient direct(Cluster::shared().port(0));
    direct.login();
    RawClient through(weir_.port());
    through.login();
    const std::string expected = all(direct);
    EXPECT_EQ(all(through), expected)
        << "round " << round << ": " << names << " " << printable(bytes);
  }
  expect_unharmed();
}

// Statements that would overflow the stack of a careless parser go to the server, whose answer it
// is.
TEST_F(HostileTest, deep_statements) {
  const auto chain = [](const std::string& first, const std::string& link, int n) {
    std::string sql = first;
    for (int i = 0; i < n; ++i)
      sql += link;
    return sql;
  };
  const auto nested = [](const std::string& open, const std::string& inner, const std::string& end,
                         int n) {
    std::string sql = "SELECT ";
    for (int i = 0; i < n; ++i)
      sql += open;
    sql += inner;
    for (int i = 0; i < n; ++i)
      sql += end;
    return sql;
  };
  RawClient direct(Cluster::shared().port(0));
  direct.login();
  RawClient through(weir_.port());
  through.login();
  for (const int n : {100, 5000, 100000}) {
    for (const std::string& sql :
         {chain("SELECT 1", "+1", n), chain("SELECT 1", " UNION ALL SELECT 1", n / 10),
          nested("(", "1", ")", n), nested("-", "1", "", n), nested("(SELECT ", "1", ")", n / 10),
          nested("ARRAY[", "1", "]", n / 10), nested("NOT ", "true", "", n),
          chain("SELECT 1 WHERE true", " AND true", n),
          nested("CASE WHEN true THEN ", "1", " END", n / 10), chain("SELECT 1", "::int", n),
          chain("SELECT ARRAY[1]", "[1]", n),
          std::string("SELECT ") + std::string(static_cast<std::size_t>(n), '['),
          std::string("SELECT '") + std::string(static_cast<std::size_t>(n), '('),
          chain("SELECT 1", ",1", n), chain("SELECT 1", ";SELECT 1", n / 100)}) {
      const std::string expected = outline(direct.ask(query(sql)));
      EXPECT_EQ(outline(through.ask(query(sql))), expected)
          << sql.substr(0, 60) << " … " << sql.size() << " bytes";
      if (n <= 5000) {
        const std::string batch = parse("", sql) + bind("", "") + execute("") + sync();
        const std::string expected_extended = outline(direct.ask(batch));
        EXPECT_EQ(outline(through.ask(batch)), expected_extended)
            << "extended " << sql.substr(0, 60);
      }
      ASSERT_EQ(weir_.processes_named("child"), children_) << sql.substr(0, 60);
    }
  }
  expect_unharmed();
}

TEST_F(HostileTest, texts_with_odd_bytes) {
  for (const std::string& sql :
       {std::string("SELECT '\xff\xfe'"), std::string("SELECT \x01"),
        std::string("\xef\xbb\xbfSELECT 1"), std::string("SELECT 'a\\'"), std::string("SELECT $$"),
        std::string("/* never closed"), std::string("/*/**/ SELECT 1"), std::string("SELECT \"\""),
        std::string("SELECT U&'\\dead'"), std::string("/*NO LOAD BALANCE"),
        std::string("/*pgweir: node=999999999999999999999*/SELECT 1"),
        std::string("/*pgweir: node=-1*/ SELECT v FROM plain WHERE id = 1")}) {
    RawClient direct(Cluster::shared().port(0));
    direct.login();
    RawClient through(weir_.port());
    through.login();
    EXPECT_EQ(outline(through.ask(query(sql))), outline(direct.ask(query(sql)))) << sql;
  }
  expect_unharmed();
}

} // namespace
} // namespace weir::test
