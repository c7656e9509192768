// Prepared statements on lent connections: shared, lost by the server, kept for unnamed ones; and connections that are given
// back as soon as it is known what was done on them.
#include <gtest/gtest.h>

#include <chrono>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

// One child and one connection to one server: all share it.
class StatementsTest : public testing::Test {
protected:
  static Settings settings(const Settings& more = {}) {
    Settings all{{"pool_mode", "'transaction'"}, {"num_init_children", "1"}, {"max_pool", "1"}, {"load_balance_mode", "off"}, {"query_wait_timeout", "20"}};
    for (const auto& [name, value] : more) all[name] = value;
    return all;
  }
  // As outline, without the rows' values.
  static std::string shape(const std::vector<Message>& answer) {
    std::string out;
    for (const Message& message : answer) (out += out.empty() ? "" : " ") += message.tag == 'D' ? "D" : outline({message});
    return out;
  }
  static RawClient login(const Pgweir& weir, const Parameters& more = {}) {
    RawClient client(weir.port());
    client.login("app", "app", more);
    return client;
  }
  static std::string run(const std::string& name) { return msg::bind("", name) + execute("") + sync(); }
  static std::string value(RawClient& client, const std::string& messages) {
    const auto answer = client.ask(messages);
    for (const Message& message : answer) {
      if (message.tag == 'D') return message.values().at(0).value_or("null");
    }
    return outline(answer);
  }
  static std::string error_text(const std::vector<Message>& answer) {
    for (const Message& message : answer) {
      if (message.tag == 'E') return message.field('M');
    }
    return outline(answer);
  }
  // Beside pgweir and behind its back, on the one connection that everybody has: a function that takes statements away.
  static void take_away(RawClient& client) {
    EXPECT_EQ(outline(client.ask(query("DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$"))), "C:DO Z:I");
  }

  const Cluster& cluster_ = Cluster::shared();
};

// The session that did it keeps the connection; its own statements come back without a word.
TEST_F(StatementsTest, what_the_server_has_lost_is_prepared_again) {
  Pgweir weir(cluster_, settings());
  RawClient client = login(weir);
  ASSERT_EQ(outline(client.ask(parse("mine", "SELECT 'mine'") + parse("also", "SELECT 'also'") + sync())), "1 1 Z:I");
  take_away(client);
  EXPECT_EQ(shape(client.ask(run("mine"))), "2 D C:SELECT 1 Z:I");
  EXPECT_EQ(shape(client.ask(run("also"))), "2 D C:SELECT 1 Z:I");
  take_away(client);
  EXPECT_EQ(outline(client.ask(describe('S', "mine") + sync())), "t T Z:I");
  take_away(client);
  // A Parse of what the server is believed to have.
  EXPECT_EQ(shape(client.ask(parse("third", "SELECT 'mine'") + msg::bind("", "third") + describe('P', "") + execute("") + sync())), "1 2 T D C:SELECT 1 Z:I");
  EXPECT_EQ(shape(client.ask(run("third"))), "2 D C:SELECT 1 Z:I");
}

// In a transaction nobody can undo what was done: the error is the client's, with the client's name, and then all is well.
TEST_F(StatementsTest, in_a_transaction_it_is_an_error_once) {
  Pgweir weir(cluster_, settings());
  RawClient client = login(weir);
  ASSERT_EQ(outline(client.ask(parse("mine", "SELECT 'mine'") + sync())), "1 Z:I");
  client.ask(query("BEGIN"));
  client.ask(query("DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$"));
  const auto answer = client.ask(run("mine"));
  EXPECT_EQ(outline(answer), "E:26000 Z:E");
  EXPECT_EQ(error_text(answer), "prepared statement \"mine\" does not exist");
  client.ask(query("ROLLBACK"));
  EXPECT_EQ(value(client, run("mine")), "mine");
}

// Whoever sends ahead gets the error too, and once.
TEST_F(StatementsTest, in_a_pipeline_it_is_an_error_once) {
  Pgweir weir(cluster_, settings());
  RawClient client = login(weir);
  ASSERT_EQ(outline(client.ask(parse("mine", "SELECT 'mine'") + sync())), "1 Z:I");
  take_away(client);
  client.send(run("mine") + run("mine") + run("mine"));
  EXPECT_EQ(outline(client.read_to_ready()), "E:26000 Z:I");
  client.read_to_ready();
  client.read_to_ready();
  EXPECT_EQ(value(client, run("mine")), "mine");
}

TEST_F(StatementsTest, a_result_of_other_types_is_no_error) {
  Pgweir weir(cluster_, settings());
  RawClient client = login(weir);
  RawClient other = login(weir);
  client.ask(query("DROP TABLE IF EXISTS changes_its_type; CREATE TABLE changes_its_type (x int); INSERT INTO changes_its_type VALUES (1)"));
  ASSERT_EQ(outline(client.ask(parse("s", "SELECT * FROM changes_its_type") + sync())), "1 Z:I");
  EXPECT_EQ(shape(client.ask(run("s"))), "2 D C:SELECT 1 Z:I");
  ASSERT_EQ(outline(other.ask(parse("t", "SELECT * FROM changes_its_type") + sync())), "1 Z:I");
  other.ask(query("ALTER TABLE changes_its_type ADD y text DEFAULT 'new'"));
  EXPECT_EQ(client.ask(run("s")).at(1).values().size(), 2U);
  EXPECT_EQ(other.ask(run("t")).at(1).values().size(), 2U);
  client.ask(query("ALTER TABLE changes_its_type ALTER x TYPE text"));
  EXPECT_EQ(outline(other.ask(describe('S', "t") + sync())), "t T Z:I");
  EXPECT_EQ(value(client, run("s")), "1");
  // In a transaction it is one.
  other.ask(query("ALTER TABLE changes_its_type DROP y"));
  client.ask(query("BEGIN"));
  EXPECT_EQ(outline(client.ask(run("s"))), "E:0A000 Z:E");
  client.ask(query("ROLLBACK"));
  EXPECT_EQ(client.ask(run("s")).at(1).values().size(), 1U);
  client.ask(query("DROP TABLE changes_its_type"));
  EXPECT_EQ(outline(client.ask(run("s"))), "E:42P01 Z:I");
}

// What has run is never run again.
TEST_F(StatementsTest, nothing_runs_twice) {
  Pgweir weir(cluster_, settings());
  RawClient client = login(weir);
  client.ask(query("DROP TABLE IF EXISTS runs_once; CREATE TABLE runs_once (x int)"));
  ASSERT_EQ(outline(client.ask(parse("w", "INSERT INTO runs_once VALUES (1)") + parse("s", "SELECT 's'") + sync())), "1 1 Z:I");
  const std::string lose = "DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$";
  const auto answer = client.ask(msg::bind("", "w") + execute("") + parse("", lose) + msg::bind("", "") + execute("") + msg::bind("", "s") + execute("") + sync());
  EXPECT_EQ(outline(answer), "2 C:INSERT 0 1 1 2 C:DO E:26000 Z:I");
  EXPECT_EQ(value(client, query("SELECT count(*) FROM runs_once")), "0") << "one implicit transaction";
  EXPECT_EQ(outline(client.ask(run("w"))), "2 C:INSERT 0 1 Z:I");
  EXPECT_EQ(value(client, query("SELECT count(*) FROM runs_once")), "1");
  client.ask(query("DROP TABLE runs_once"));
}

TEST_F(StatementsTest, names_of_pgweirs_own_are_not_shown) {
  Pgweir weir(cluster_, settings());
  RawClient client = login(weir);
  ASSERT_EQ(outline(client.ask(parse("two", "SELECT $1::int + $2::int") + sync())), "1 Z:I");
  EXPECT_EQ(error_text(client.ask(msg::bind("", "two", {"1"}) + execute("") + sync())),
            "bind message supplies 1 parameters, but prepared statement \"two\" requires 2");
  EXPECT_EQ(error_text(client.ask(run("pgweir_1"))), "prepared statement \"pgweir_1\" does not exist");
  EXPECT_EQ(error_text(client.ask(run("none"))), "prepared statement \"none\" does not exist");
  EXPECT_EQ(error_text(client.ask(parse("two", "SELECT 1") + sync())), "prepared statement \"two\" already exists");
}

// A text means what the settings say of whoever has it parsed, and a word of the moment that moment.
TEST_F(StatementsTest, equal_texts_of_other_meaning) {
  Pgweir weir(cluster_, settings());
  RawClient english = login(weir);
  RawClient german = login(weir, {{"datestyle", "German, DMY"}});
  const std::string sql = "SELECT extract(month FROM '01/02/2003'::date)::text";
  ASSERT_EQ(outline(english.ask(parse("d", sql) + sync())), "1 Z:I");
  ASSERT_EQ(outline(german.ask(parse("d", sql) + sync())), "1 Z:I");
  EXPECT_EQ(value(english, run("d")), "1");
  EXPECT_EQ(value(german, run("d")), "2");
  english.ask(query("SET datestyle = 'ISO, DMY'"));
  ASSERT_EQ(outline(english.ask(parse("e", sql) + sync())), "1 Z:I");
  EXPECT_EQ(value(english, run("e")), "2");
  EXPECT_EQ(value(english, run("d")), "1") << "as it was parsed";
  const std::string now = "SELECT 'now'::timestamptz::text";
  ASSERT_EQ(outline(english.ask(parse("n1", now) + sync())), "1 Z:I");
  ASSERT_EQ(outline(german.ask(parse("n2", now) + sync())), "1 Z:I");
  EXPECT_NE(value(english, run("n1")), value(german, run("n2")));
}

// ------------------------------------------------------------------------------------------------------- plan_unnamed

const std::string kOnServer = "SELECT count(*)::text FROM pg_prepared_statements WHERE name LIKE 'pgweir%' AND statement LIKE '%written%'";

TEST_F(StatementsTest, unnamed_ones_are_kept_from_the_second_time_on) {
  Pgweir weir(cluster_, settings({{"plan_unnamed", "on"}}));
  RawClient one = login(weir);
  RawClient two = login(weir);
  const std::string sql = "SELECT id FROM written WHERE id = $1";
  const std::string batch = parse("", sql) + msg::bind("", "", {"0"}) + describe('P', "") + execute("") + sync();
  const std::string expected = "1 2 T C:SELECT 0 Z:I";
  EXPECT_EQ(outline(one.ask(batch)), expected);
  EXPECT_EQ(value(one, query(kOnServer)), "0");
  EXPECT_EQ(outline(two.ask(batch)), expected);
  EXPECT_EQ(value(one, query(kOnServer)), "1");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(outline(one.ask(batch)), expected);
  EXPECT_EQ(outline(one.ask(parse("", sql) + describe('S', "") + sync())), "1 t T Z:I");
  EXPECT_EQ(outline(one.ask(msg::bind("", "", {"0"}) + execute("") + sync())), "2 C:SELECT 0 Z:I") << "in a batch of its own";
  EXPECT_EQ(value(one, query(kOnServer)), "1");
  EXPECT_EQ(outline(one.ask(msg::bind("", "", {"0"}) + execute("") + sync())), "E:26000 Z:I") << "a Query has ended it";
  EXPECT_EQ(outline(two.ask(parse("", sql) + close('S', "") + msg::bind("", "", {"0"}) + sync())), "1 3 E:26000 Z:I");
  // Two in one batch, and one between them that is new.
  EXPECT_EQ(shape(one.ask(parse("", sql) + msg::bind("", "", {"0"}) + execute("") + parse("", "SELECT 'once'") + msg::bind("", "") + execute("") + parse("", sql) + msg::bind("", "", {"0"}) + execute("") + sync())),
            "1 2 C:SELECT 0 1 2 D C:SELECT 1 1 2 C:SELECT 0 Z:I");
  // A server that has lost it.
  take_away(one);
  EXPECT_EQ(outline(one.ask(batch)), expected);
  const auto wrong = one.ask(parse("", sql) + msg::bind("", "") + execute("") + sync());
  EXPECT_EQ(outline(wrong), "1 E:08P01 Z:I");
  EXPECT_EQ(error_text(wrong), "bind message supplies 0 parameters, but prepared statement \"\" requires 1");
}

TEST_F(StatementsTest, unnamed_ones_mean_what_they_mean) {
  Pgweir weir(cluster_, settings({{"plan_unnamed", "on"}}));
  RawClient client = login(weir);
  const auto ask = [&](const std::string& sql) { return value(client, parse("", sql) + msg::bind("", "") + execute("") + sync()); };
  client.ask(query("DROP TABLE IF EXISTS kept_plan; CREATE TABLE kept_plan AS SELECT 'permanent'::text AS x"));
  const std::string read = "SELECT x FROM kept_plan";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(read), "permanent");
  client.ask(query("CREATE SCHEMA IF NOT EXISTS kept_schema; DROP TABLE IF EXISTS kept_schema.kept_plan; CREATE TABLE kept_schema.kept_plan AS SELECT 'schema'::text AS x, 1 AS y"));
  client.ask(query("SET search_path = kept_schema, public"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(read), "schema");
  client.ask(query("RESET search_path"));
  EXPECT_EQ(ask(read), "permanent");
  client.ask(query("CREATE TEMP TABLE kept_plan AS SELECT 'temporary'::text AS x"));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(read), "temporary");
  client.ask(query("DISCARD ALL"));
  EXPECT_EQ(ask(read), "permanent");
  client.ask(query("ALTER TABLE kept_plan ADD z int"));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client.ask(parse("", "SELECT * FROM kept_plan") + msg::bind("", "") + execute("") + sync()).at(2).values().size(), 2U);
  client.ask(query("ALTER TABLE kept_plan ALTER x TYPE varchar(20)"));
  EXPECT_EQ(client.ask(parse("", "SELECT * FROM kept_plan") + msg::bind("", "") + execute("") + sync()).at(2).values().size(), 2U);
  client.ask(query("BEGIN; SET LOCAL search_path = kept_schema"));
  EXPECT_EQ(ask(read), "schema");
  client.ask(query("COMMIT"));
  EXPECT_EQ(ask(read), "permanent");
  const std::string before = ask("SELECT 'now'::timestamptz::text");
  EXPECT_NE(ask("SELECT 'now'::timestamptz::text"), before);
  client.ask(query("DROP TABLE kept_plan; DROP SCHEMA kept_schema CASCADE"));
}

TEST_F(StatementsTest, kept_ones_are_as_many_as_is_allowed) {
  Pgweir weir(cluster_, settings({{"plan_unnamed", "on"}, {"max_prepared_statements", "3"}}));
  RawClient client = login(weir);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 8; ++i) {
      const std::string sql = "SELECT " + std::to_string(i) + " FROM written LIMIT 0";
      EXPECT_EQ(outline(client.ask(parse("", sql) + msg::bind("", "") + execute("") + sync())), "1 2 C:SELECT 0 Z:I");
    }
  }
  EXPECT_EQ(value(client, query(kOnServer)), "3");
}

// A Bind that is too long to be looked at, of what the server has and of what it has not.
TEST_F(StatementsTest, long_parameters) {
  for (const char* keep : {"off", "on"}) {
    Pgweir weir(cluster_, settings({{"plan_unnamed", keep}}));
    RawClient client = login(weir);
    const std::string text(100000, 'x');
    for (const std::string& name : {std::string(), std::string("s")}) {
      for (int i = 0; i < 4; ++i) {
        const std::string first = i == 0 || name.empty() ? parse(name, "SELECT length($1)::text") : std::string();
        EXPECT_EQ(value(client, first + msg::bind("", name, {text}) + execute("") + sync()), "100000") << keep << name << i;
        EXPECT_EQ(value(client, query("SELECT 1")), "1");
      }
    }
  }
}

// ------------------------------------------------------------------------------------------------------ given back soon

// Names that nobody has seen yet are looked up at once, though no read could leave the primary.
TEST_F(StatementsTest, a_new_name_keeps_a_connection_for_a_moment_only) {
  Pgweir weir(cluster_, settings());
  Connection one(weir.conninfo());
  Connection two(weir.conninfo());
  auto best = std::chrono::milliseconds(10000);
  for (int i = 0; i < 5; ++i) {
    const std::string name = "new_name_" + std::to_string(i);
    one.must("DROP TABLE IF EXISTS " + name);
    one.must("CREATE TABLE " + name + " (x int)");
    one.must("INSERT INTO " + name + " VALUES (1)");
    const auto start = std::chrono::steady_clock::now();
    two.must("SELECT 1");
    best = std::min(best, std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start));
    one.must("DROP TABLE " + name);
  }
  EXPECT_LT(best.count(), 700) << "a look-up that pauses takes 1 s and more";
}

} // namespace
} // namespace weir::test
