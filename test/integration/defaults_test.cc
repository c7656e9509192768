// ALTER ROLE ... SET and ALTER DATABASE ... SET: a new session has the new values on every node, as a new connection to
// PostgreSQL has, whatever connections lie idle.
#include <gtest/gtest.h>

#include <string>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

const std::string kOnPrimary = "/*NO LOAD BALANCE*/ SELECT 2::float8 / 3 FROM plain WHERE id = 1";
const std::string kRead = "SELECT 2::float8 / 3 FROM plain WHERE id = 1";

// What a server with extra_float_digits of that value answers.
std::string thirds(int extra) {
  const std::string digits = extra > 0 ? "0.6666666666666666" : "0.666666666666667";
  return extra >= 0 ? digits : "0." + std::string(static_cast<std::size_t>(14 + extra), '6') + "7";
}

class DefaultsTest : public testing::TestWithParam<const char*> {
protected:
  DefaultsTest() {
    admin_.must("ALTER ROLE weir_trust RESET ALL");
    admin_.must("ALTER DATABASE app RESET ALL");
    admin_.must("GRANT SELECT ON plain TO weir_trust");
    cluster_.wait_replayed();
  }
  ~DefaultsTest() override {
    admin_.must("ALTER ROLE weir_trust RESET ALL");
    admin_.must("ALTER DATABASE app RESET ALL");
  }
  Settings with(Settings more) const {
    more.emplace("pool_mode", std::string("'") + GetParam() + "'");
    return more;
  }
  std::string user() const { return weir_.conninfo("weir_trust"); }
  // Connections lie idle in all children, on all nodes.
  void warm() {
    for (int i = 0; i < 8; ++i) {
      Connection one(user());
      ASSERT_EQ(one.value(kOnPrimary), thirds(1));
      ASSERT_TRUE(weir_.reaches_standby(one, kRead));
      ASSERT_EQ(one.value(kRead), thirds(1));
    }
  }
  // EXTRA: of extra_float_digits.
  void expect_everywhere(int extra) {
    for (int i = 0; i < 8; ++i) {
      Connection one(user());
      EXPECT_EQ(one.value(kOnPrimary), thirds(extra));
      EXPECT_EQ(one.value(kRead), thirds(extra));
      EXPECT_TRUE(weir_.reaches_standby(one, kRead));
      EXPECT_EQ(one.value(kRead), thirds(extra));
    }
  }

  Cluster cluster_;
  Connection admin_{cluster_.conninfo(0, "postgres")};
  Pgweir weir_{cluster_, with({})};
  Connection changer_{weir_.conninfo("postgres")};
};

TEST_P(DefaultsTest, of_a_role) {
  warm();
  changer_.must("ALTER ROLE weir_trust SET extra_float_digits = 0");
  expect_everywhere(0);
  changer_.must("ALTER ROLE weir_trust IN DATABASE app SET extra_float_digits = -3");
  expect_everywhere(-3);
  changer_.must("ALTER ROLE weir_trust IN DATABASE app RESET extra_float_digits");
  expect_everywhere(0);
  changer_.must("ALTER ROLE weir_trust RESET ALL");
  expect_everywhere(1);
}

TEST_P(DefaultsTest, of_a_database_and_of_everybody) {
  warm();
  changer_.must("ALTER DATABASE app SET extra_float_digits = -4");
  expect_everywhere(-4);
  changer_.must("ALTER DATABASE app RESET extra_float_digits");
  expect_everywhere(1);
  changer_.must("ALTER ROLE ALL SET extra_float_digits = -5");
  expect_everywhere(-5);
  changer_.must("ALTER ROLE ALL RESET extra_float_digits");
  expect_everywhere(1);
}

// It counts when it is committed, and in whatever way it is sent.
TEST_P(DefaultsTest, of_a_transaction) {
  warm();
  changer_.must("BEGIN");
  changer_.must("ALTER ROLE weir_trust SET extra_float_digits = 0");
  expect_everywhere(1);
  changer_.must("COMMIT");
  expect_everywhere(0);
  EXPECT_TRUE(changer_.exec_params("ALTER ROLE weir_trust SET extra_float_digits = -3", {}).ok());
  expect_everywhere(-3);
  changer_.must("SELECT 1; ALTER ROLE weir_trust SET extra_float_digits = -6; SELECT 2");
  expect_everywhere(-6);
}

// What a client is told at its login is what the server tells of a new connection.
TEST_P(DefaultsTest, that_are_reported) {
  warm();
  Connection before(user());
  Connection unused(user());
  EXPECT_EQ(before.parameter("DateStyle"), "ISO, MDY");
  EXPECT_EQ(before.value("SHOW datestyle"), "ISO, MDY");
  changer_.must("ALTER ROLE weir_trust SET datestyle = 'German, YMD'");
  for (int i = 0; i < 8; ++i) {
    Connection after(user());
    EXPECT_EQ(after.parameter("DateStyle"), "German, YMD");
    EXPECT_EQ(after.value("SHOW datestyle"), "German, YMD");
  }
  // Older sessions keep what they have while they keep their connection; a child where nobody has logged in since also lends
  // those that it has. In any case the client knows.
  if (std::string(GetParam()) == "session") {
    EXPECT_EQ(before.value("SHOW datestyle"), "ISO, MDY");
  }
  for (Connection* client : {&before, &unused}) {
    const std::string value = client->value("SHOW datestyle"); // what is told comes with the answer
    EXPECT_EQ(value, client->parameter("DateStyle"));
  }
}

// What routing makes of the defaults is learnt anew.
TEST_P(DefaultsTest, that_routing_hangs_on) {
  warm();
  changer_.must("ALTER ROLE weir_trust SET default_transaction_isolation = serializable");
  for (int i = 0; i < 4; ++i) {
    Connection after(user());
    EXPECT_EQ(weir_.node_of(after, "SELECT v FROM plain WHERE id = 1"), 0);
  }
  changer_.must("ALTER ROLE weir_trust RESET default_transaction_isolation");
  Connection after(user());
  EXPECT_TRUE(weir_.reaches_standby(after, "SELECT v FROM plain WHERE id = 1"));
}

// A change of another role closes no connection.
TEST_P(DefaultsTest, of_another_role_cost_no_connection) {
  warm();
  const std::string idle = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'weir_trust' AND pid = ";
  Connection one(user());
  const std::string pid = one.value("SELECT pg_backend_pid()");
  changer_.must("ALTER ROLE limited SET extra_float_digits = 0");
  for (int i = 0; i < 8; ++i) Connection(user()).must(kOnPrimary);
  EXPECT_EQ(admin_.value(idle + pid), "1");
  changer_.must("ALTER ROLE limited RESET extra_float_digits");
}

// A standby that has not replayed the change gets no new session of the role.
TEST_P(DefaultsTest, on_a_standby_that_is_behind) {
  warm();
  for (const int node : {1, 2}) Connection(cluster_.conninfo(node, "postgres")).must("SELECT pg_wal_replay_pause()");
  changer_.must("ALTER ROLE weir_trust SET extra_float_digits = 0");
  for (int i = 0; i < 4; ++i) {
    Connection one(user());
    EXPECT_EQ(one.value(kRead), thirds(0));
    EXPECT_EQ(weir_.node_of(one, kRead), 0);
  }
  for (const int node : {1, 2}) Connection(cluster_.conninfo(node, "postgres")).must("SELECT pg_wal_replay_resume()");
  cluster_.wait_replayed();
  Connection one(user());
  EXPECT_TRUE(weir_.reaches_standby(one, kRead));
  expect_everywhere(0);
}

INSTANTIATE_TEST_SUITE_P(modes, DefaultsTest, testing::Values("session", "transaction"));

}  // namespace
}  // namespace weir::test
