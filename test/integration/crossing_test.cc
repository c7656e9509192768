// Nothing crosses between clients that share connections: whatever a server says out of turn, and wherever a client vanishes.
// Everybody asks for what carries a token of its own, and looks at every row, error and copied line that it gets.
// WEIR_SOAK_SECONDS makes it longer than ctest has time for.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "test/support/meddler.h"
#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

Settings lending(const Settings& more = {}) {
  Settings all{{"pool_mode", "'transaction'"}, {"num_init_children", "1"}, {"default_pool_size", "1"}, {"load_balance_mode", "off"}, {"query_wait_timeout", "30"}};
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

RawClient login(const Pgweir& weir) {
  RawClient client(weir.port());
  client.login();
  return client;
}

// As outline, without the rows' values.
std::string shape(const std::vector<Message>& answer) {
  std::string out;
  for (const Message& message : answer) (out += out.empty() ? "" : " ") += message.tag == 'D' ? "D" : outline({message});
  return out;
}

std::string data_row(const std::string& value) { return tagged('D', int16(1) + int32(static_cast<std::int64_t>(value.size())) + value); }
std::string description() { return tagged('T', int16(1) + cstring("stolen") + int32(0) + int16(0) + int32(25) + int16(-1) + int32(-1) + int16(0)); }
std::string ready(char status) { return tagged('Z', std::string(1, status)); }
std::string notice(const std::string& text) { return tagged('N', "SNOTICE" + std::string(1, '\0') + "C00000" + std::string(1, '\0') + "M" + text + std::string(2, '\0')); }

// What a server adds to the answer of one client.
struct Addition {
  const char* name;
  std::string bytes;
  int delay_ms;
  bool cut;
};

class CrossingTest : public testing::TestWithParam<int> {};

TEST_P(CrossingTest, what_a_server_says_unasked) {
  const std::vector<Addition> additions{
      {"a second ReadyForQuery", ready('I'), 0, false},
      {"... of a transaction", ready('T'), 0, false},
      {"a whole answer", description() + data_row("stolen") + tagged('C', cstring("SELECT 1")) + ready('I'), 0, false},
      {"a row", data_row("stolen"), 0, false},
      {"a notice", notice("stolen"), 0, false},
      {"half a message", data_row("stolen").substr(0, 8), 0, false},
      {"an error", tagged('E', "SERROR" + std::string(1, '\0') + "C22000" + std::string(1, '\0') + "Mstolen" + std::string(2, '\0')), 0, false},
      {"a second ReadyForQuery, later", ready('I'), 30, false},
      {"a whole answer, later", description() + data_row("stolen") + tagged('C', cstring("SELECT 1")) + ready('I'), 30, false},
      {"a row, later", data_row("stolen"), 30, false},
      {"a notice, later", notice("stolen"), 30, false},
      {"a notification, later", tagged('A', int32(1) + cstring("stolen") + cstring("stolen")), 30, false},
      {"a parameter, later", tagged('S', cstring("stolen") + cstring("stolen")), 30, false},
      {"half a message, later", data_row("stolen").substr(0, 8), 30, false},
      {"nonsense, later", std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8), 30, false},
      {"the end", "", 0, true},
      {"the end, later", "", 30, true},
      {"the server's last words, later", tagged('E', "SFATAL" + std::string(1, '\0') + "C57P01" + std::string(1, '\0') + "Mstolen" + std::string(2, '\0')), 30, true},
  };
  const Cluster& cluster = Cluster::shared();
  Meddler meddler(cluster.port(0));
  Pgweir weir(cluster, lending({{"backend_port0", std::to_string(meddler.port())}, {"default_pool_size", std::to_string(GetParam())}}));
  for (const Addition& addition : additions) {
    SCOPED_TRACE(addition.name);
    RawClient one = login(weir);
    RawClient two = login(weir);
    EXPECT_EQ(shape(two.ask(query("SELECT 'before'"))), "T D C:SELECT 1 Z:I");
    meddler.add_behind("token of one", addition.bytes, std::chrono::milliseconds(addition.delay_ms), addition.cut);
    one.ask(query("SELECT 'token of one'"));
    ASSERT_TRUE(wait_until([&] { return meddler.added() > 0; }));
    meddler.add_behind("", "");
    // It has come before the next question is asked: what comes behind that cannot be told from its answer.
    for (int i = 0; i < 5; ++i) {
      const std::string token = "token of two " + std::to_string(i);
      const std::string messages = i % 2 == 0 ? query("SELECT '" + token + "'") : parse("", "SELECT '" + token + "'") + msg::bind("", "") + describe('P', "") + execute("") + sync();
      const auto answer = two.ask(messages);
      // The connection may be found broken only when it is used: never is it an answer of somebody else.
      const bool broken = !answer.empty() && answer.back().tag == 'E' && answer.back().field('S') == "FATAL" && answer.back().field('M').find("stolen") == std::string::npos;
      if (broken) {
        two = login(weir);
        continue;
      }
      ASSERT_EQ(shape(answer), i % 2 == 0 ? "T D C:SELECT 1 Z:I" : "1 2 T D C:SELECT 1 Z:I");
      EXPECT_EQ(answer[answer.size() - 3].values().at(0), token);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(pool, CrossingTest, testing::Values(1, 2));

// Both are there when the child wakes up, and the question was there first: the connection is looked at before it is lent.
TEST(Crossing, what_has_come_before_the_question_is_passed_on) {
  const Cluster& cluster = Cluster::shared();
  Meddler meddler(cluster.port(0));
  Pgweir weir(cluster, lending({{"backend_port0", std::to_string(meddler.port())}}));
  const auto children = weir.processes_named("child");
  ASSERT_EQ(children.size(), 1U);
  for (int i = 0; i < 5; ++i) {
    RawClient one = login(weir);
    RawClient two = login(weir);
    EXPECT_EQ(shape(two.ask(query("SELECT 'before'"))), "T D C:SELECT 1 Z:I");
    meddler.add_behind("token of one", description() + data_row("stolen") + tagged('C', cstring("SELECT 1")) + ready('I'), std::chrono::milliseconds(100));
    one.ask(query("SELECT 'token of one'"));
    ::kill(children[0], SIGSTOP);
    two.send(query("SELECT 'token of two'"));
    const bool added = wait_until([&] { return meddler.added() > 0; });
    meddler.add_behind("", "");
    ::kill(children[0], SIGCONT);
    ASSERT_TRUE(added);
    const auto answer = two.read_to_ready();
    ASSERT_EQ(shape(answer), "T D C:SELECT 1 Z:I");
    EXPECT_EQ(answer[1].values().at(0), "token of two");
  }
}

// ---------------------------------------------------------------------------------------------------------------- soak

// Nobody else's connections are counted there.
const std::string kDatabase = "crossing";

struct Verdicts {
  std::mutex mutex;
  std::vector<std::string> wrong;
  std::atomic<int> exchanges = 0;
  std::atomic<int> vanished = 0;

  void add(const std::string& what) {
    const std::lock_guard lock(mutex);
    if (wrong.size() < 20) wrong.push_back(what);
  }
};

// One client after another, until the time is over.
class Customer {
public:
  Customer(const Pgweir& weir, int number, Verdicts& verdicts) : weir_(weir), verdicts_(verdicts), name_("c" + std::to_string(number)), random_(static_cast<unsigned>(number) * 7919U + 1U) {}

  void run(std::chrono::steady_clock::time_point until) {
    while (std::chrono::steady_clock::now() < until) {
      RawClient client(weir_.port());
      client.login("app", kDatabase);
      prepared_ = false;
      const int exchanges = pick(30);
      for (int i = 0; i < exchanges && std::chrono::steady_clock::now() < until; ++i) {
        if (!exchange(client)) return;
        ++verdicts_.exchanges;
      }
      vanish(client);
      ++verdicts_.vanished;
    }
  }

private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  void next_token() { token_ = name_ + "_" + std::to_string(++tokens_); }

  // All of the answer carries the token; false: it does not, or is not what was expected.
  bool check(const std::vector<Message>& answer, const std::string& expected) {
    for (const Message& message : answer) {
      const bool tells = message.tag == 'D' || message.tag == 'd' || message.tag == 'E' || message.tag == 'N' || message.tag == 'A';
      if (tells && message.body.find(token_) == std::string::npos) return wrong("without " + token_, answer);
    }
    if (shape(answer) != expected) return wrong("not " + expected, answer);
    return true;
  }
  bool wrong(const std::string& why, const std::vector<Message>& answer) {
    std::string text = why + ": " + shape(answer).substr(0, 300);
    for (const Message& message : answer) {
      if (message.tag == 'E') text += " [" + message.field('M') + "]";
      if (message.tag == 'D') text += " [" + message.body.substr(0, 60) + "]";
      if (text.size() > 500) break;
    }
    verdicts_.add(text);
    return false;
  }
  std::string rows(int count) const { return "SELECT '" + token_ + "' || g FROM generate_series(1, " + std::to_string(count) + ") g"; }
  static std::string times(const std::string& word, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += word;
    return out;
  }

  bool exchange(RawClient& client) {
    next_token();
    switch (pick(10)) {
      case 0: return check(client.ask(query("SELECT '" + token_ + "'")), "T D C:SELECT 1 Z:I");
      case 1: return check(client.ask(parse("", "SELECT $1::text") + msg::bind("", "", {token_}) + describe('P', "") + execute("") + sync()), "1 2 T D C:SELECT 1 Z:I");
      case 2: {
        const std::string first = std::exchange(prepared_, true) ? std::string() : parse("s", "SELECT $1::text || $2::text");
        return check(client.ask(first + msg::bind("", "s", {token_, "x"}) + execute("") + sync()), (first.empty() ? "" : "1 ") + std::string("2 D C:SELECT 1 Z:I"));
      }
      case 3: {
        std::string all;
        for (int i = 0; i < 4; ++i) all += parse("", "SELECT $1::text") + msg::bind("", "", {token_}) + execute("") + sync();
        client.send(all);
        for (int i = 0; i < 4; ++i) {
          if (!check(client.read_to_ready(), "1 2 D C:SELECT 1 Z:I")) return false;
        }
        return true;
      }
      case 4: return transaction(client);
      case 5: {
        const int count = 1 + pick(3000);
        return check(client.ask(query(rows(count))), "T " + times("D ", count) + "C:SELECT " + std::to_string(count) + " Z:I");
      }
      case 6: {
        const int count = 1 + pick(500);
        return check(client.ask(query("COPY (" + rows(count) + ") TO STDOUT")), "H " + times("d ", count) + "c C:COPY " + std::to_string(count) + " Z:I");
      }
      case 7: return copy_in(client);
      case 8: return check(client.ask(query("SELECT '" + token_ + "'::int")), "E:22P02 Z:I");
      default: return check(client.ask(parse("", "SELECT $1::int") + msg::bind("", "", {token_}) + execute("") + sync()), "1 E:22P02 Z:I");
    }
  }

  bool transaction(RawClient& client) {
    const std::string token = token_;
    if (!check(client.ask(query("BEGIN")), "C:BEGIN Z:T")) return false;
    if (!check(client.ask(query("INSERT INTO crossing VALUES ('" + token + "') RETURNING token")), "T D C:INSERT 0 1 Z:T")) return false;
    if (!check(client.ask(parse("", "SELECT token FROM crossing WHERE token = $1") + msg::bind("", "", {token}) + execute("") + sync()), "1 2 D C:SELECT 1 Z:T")) return false;
    const bool commits = pick(2) == 0;
    return check(client.ask(query(commits ? "COMMIT" : "ROLLBACK")), commits ? "C:COMMIT Z:I" : "C:ROLLBACK Z:I");
  }

  bool copy_in(RawClient& client) {
    client.send(query("COPY crossing FROM STDIN"));
    if (client.read_to('G').back().tag != 'G') return wrong("no copy", {});
    const bool fails = pick(3) == 0;
    for (int i = 0; i < 5; ++i) client.send(copy_data(token_ + "\n"));
    client.send(fails ? copy_fail(token_) : copy_done());
    return check(client.read_to_ready(), fails ? "E:57014 Z:I" : "C:COPY 5 Z:I");
  }

  void vanish(RawClient& client) {
    next_token();
    const std::string batch = parse("v", "SELECT $1::text") + msg::bind("", "v", {token_}) + execute("") + sync();
    switch (pick(9)) {
      case 0: client.send(query("SELECT '" + token_ + "'").substr(0, static_cast<std::size_t>(1 + pick(15)))); break;
      case 1: client.send(query(rows(50000))); client.read(); client.read(); break;
      case 2: client.send(query("BEGIN; INSERT INTO crossing VALUES ('lost')")); client.read(); break;
      case 3: client.ask(query("BEGIN")); client.ask(query("INSERT INTO crossing VALUES ('lost')")); break;
      case 4: client.send(batch.substr(0, static_cast<std::size_t>(pick(static_cast<int>(batch.size()))))); break;
      case 5: client.send(query("COPY crossing FROM STDIN")); client.read(); client.send(copy_data("lost\n").substr(0, static_cast<std::size_t>(1 + pick(9)))); break;
      case 6: client.send(query("COPY (" + rows(50000) + ") TO STDOUT")); client.read(); client.read(); break;
      case 7: client.send(parse("", "SELECT $1::text") + msg::bind("", "", {token_}) + execute("") + sync() + query("SELECT '" + token_ + "'") + batch); break;
      default: client.send(query("SELECT pg_sleep(0.01), '" + token_ + "'")); break;
    }
    client.disconnect();
  }

  const Pgweir& weir_;
  Verdicts& verdicts_;
  const std::string name_;
  std::mt19937 random_;
  std::string token_;
  int tokens_ = 0;
  bool prepared_ = false;
};

class SoakTest : public testing::TestWithParam<int> {};

TEST_P(SoakTest, everybody_gets_what_is_its_own) {
  const Cluster& cluster = Cluster::shared();
  const int size = GetParam();
  const char* seconds = std::getenv("WEIR_SOAK_SECONDS");
  const auto time = std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 5);
  Pgweir weir(cluster, lending({{"num_init_children", "2"}, {"default_pool_size", std::to_string(size)}, {"plan_unnamed", size == 1 ? "on" : "off"}}));
  Connection admin(cluster.conninfo(0, "postgres"));
  admin.must("DROP DATABASE IF EXISTS " + kDatabase + " WITH (FORCE)");
  admin.must("CREATE DATABASE " + kDatabase + " OWNER app");
  {
    Connection owner(cluster.conninfo(0, "app", kDatabase));
    owner.must("CREATE TABLE crossing (token text)");
  }
  const std::string lent = "SELECT count(*) FROM pg_stat_activity WHERE datname = '" + kDatabase + "' AND backend_type = 'client backend' AND application_name <> 'pgweir service'";
  Verdicts verdicts;
  std::atomic<bool> over = false;
  int most = 0;
  std::thread sampler([&] {
    Connection watch(cluster.conninfo(0, "postgres"));
    while (!over) most = std::max(most, std::stoi(watch.value(lent)));
  });
  std::vector<std::thread> customers;
  const auto until = std::chrono::steady_clock::now() + time;
  for (int i = 0; i < 6; ++i) customers.emplace_back([&, i] { Customer(weir, i + 1, verdicts).run(until); });
  for (std::thread& customer : customers) customer.join();
  over = true;
  sampler.join();
  for (const std::string& one : verdicts.wrong) ADD_FAILURE() << one;
  EXPECT_GT(verdicts.exchanges, 20);
  EXPECT_GT(verdicts.vanished, 5);
  EXPECT_LE(most, size);
  EXPECT_TRUE(wait_until([&] { return admin.value(lent + " AND state LIKE '%in transaction%'") == "0"; }));
  RawClient last(weir.port());
  last.login("app", kDatabase);
  const auto lost = last.ask(query("SELECT count(*) FROM crossing WHERE token = 'lost'"));
  ASSERT_EQ(shape(lost), "T D C:SELECT 1 Z:I");
  EXPECT_EQ(lost[1].values().at(0), "0");
  std::printf("%d exchanges, %d clients vanished\n", verdicts.exchanges.load(), verdicts.vanished.load());
  weir.stop();
  admin.must("DROP DATABASE " + kDatabase + " WITH (FORCE)");
}

INSTANTIATE_TEST_SUITE_P(pool, SoakTest, testing::Values(1, 2));

} // namespace
} // namespace weir::test
