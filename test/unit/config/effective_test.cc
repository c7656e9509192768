#include "common/config/effective.h"

#include <gtest/gtest.h>

#include <string>

#include "common/config/loader.h"

namespace weir::config {
namespace {

std::shared_ptr<const Config> load(const std::string& text) {
  const LoadOutcome outcome = load_with({"/c/main.conf", {}, {}}, [&](const std::string&) -> Result<std::string> { return text; });
  for (const ConfError& error : outcome.errors) ADD_FAILURE() << error.line << ": " << error.message;
  return outcome.config;
}

EffectivePool pool(const std::string& text, const char* database = "d", const char* user = "u", const RuntimeOverrides& overrides = {}) {
  return effective_pool(*load(text), database, user, overrides);
}

TEST(effective, without_a_word_the_native_defaults) {
  const EffectivePool plain = pool("");
  EffectivePool expected;
  expected.reserve_pool_timeout = 5;
  expected.server_lifetime = 3600;
  EXPECT_EQ(plain, expected) << "no limit but the node's";
  const EffectiveClient client = effective_client(*load(""), "d", "u");
  EXPECT_EQ(client, (EffectiveClient{120, 0, kNoLimit, kNoLimit}));
}

TEST(effective, pool_size) {
  struct {
    const char* text;
    std::int32_t size;
  } const cases[] = {
      {"default_pool_size = 20\n", 20},
      {"default_pool_size = 20\n[databases]\nd = pool_size=5\n", 5},
      {"default_pool_size = 20\n[databases]\nd = pool_size=0\n", kNoLimit},
      {"default_pool_size = 20\n[databases]\nd = pool_size=-1\n", 20},
      {"default_pool_size = 20\n[databases]\nx = pool_size=5\n", 20},
      {"default_pool_size = 20\n[databases]\n* = pool_size=6\n", 6},
      {"default_pool_size = 20\n[databases]\n* = pool_size=6\nd = dbname=e\n", 20},
      {"[databases]\nd = pool_size=5\n[users]\nu = pool_size=7\n", 7},
      {"[databases]\nd = pool_size=5\n[users]\nu = pool_size=0\n", kNoLimit},
      {"[databases]\nd = pool_size=5\n[users]\nv = pool_size=7\n", 5},
      {"[databases]\nd = pool_size=5\n[users]\nu = pool_size=7\n[pools]\nu.d = pool_size=9\n", 9},
      {"[databases]\nd = pool_size=5\n[pools]\nu.e = pool_size=9\n", 5},
      {"[databases]\nd = pool_size=2147483647\n", kNoLimit},
  };
  for (const auto& c : cases) EXPECT_EQ(pool(c.text).pool_size, c.size) << c.text;
}

TEST(effective, somebody_is_lent_connections) {
  struct {
    const char* text;
    bool lends;
  } const cases[] = {
      {"", false},
      {"pool_mode = 'session'\n[databases]\nd = pool_mode=session\n", false},
      {"pool_mode = 'transaction'\n", true},
      {"pool_mode = 'statement'\n", true},
      {"[databases]\nd = pool_mode=transaction\n", true},
      {"[users]\nu = pool_mode=statement\n", true},
      {"[pools]\nu.d = pool_mode=transaction\n", true},
      {"[users]\nu = pool_size=3\n", false},
  };
  for (const auto& c : cases) EXPECT_EQ(lends_connections(*load(c.text)), c.lends) << c.text;
}

TEST(effective, mode_minimum_and_reserve) {
  EXPECT_EQ(pool("pool_mode = transaction\n").pool_mode, PoolMode::Transaction);
  const std::string all =
      "pool_mode = transaction\nmin_pool_size = 1\nreserve_pool_size = 1\ndefault_pool_size = 50\n"
      "[databases]\nd = pool_mode=statement min_pool_size=2 reserve_pool_size=2\n"
      "[users]\nu = pool_mode=session reserve_pool_size=3\n"
      "[pools]\nu.d = min_pool_size=4 reserve_pool_size=0\n";
  EXPECT_EQ(pool(all, "x", "y").pool_mode, PoolMode::Transaction);
  EXPECT_EQ(pool(all, "d", "y").pool_mode, PoolMode::Statement);
  EXPECT_EQ(pool(all, "d", "u").pool_mode, PoolMode::Session);
  EXPECT_EQ(pool(all, "x", "y").min_pool_size, 1);
  EXPECT_EQ(pool(all, "d", "y").min_pool_size, 2);
  EXPECT_EQ(pool(all, "d", "u").min_pool_size, 4);
  EXPECT_EQ(pool(all, "x", "u").reserve_pool_size, 3);
  EXPECT_EQ(pool(all, "d", "y").reserve_pool_size, 2);
  EXPECT_EQ(pool(all, "d", "u").reserve_pool_size, 0) << "0 is a word";
  EXPECT_EQ(pool("min_pool_size = 9\ndefault_pool_size = 4\n").min_pool_size, 4) << "never above the pool's size";
}

TEST(effective, limits_over_pools) {
  const std::string text =
      "max_db_connections = 10\nmax_user_connections = 0\nmax_db_client_connections = 100\n"
      "[databases]\nd = max_db_connections=3 max_db_client_connections=30\ne = max_db_connections=0\n"
      "[users]\nu = max_user_connections=4 max_user_client_connections=40\n";
  EXPECT_EQ(pool(text, "d", "u").max_db_connections, 3);
  EXPECT_EQ(pool(text, "d", "u").max_user_connections, 4);
  EXPECT_EQ(pool(text, "e", "v").max_db_connections, 10) << "0 in a section is the general limit";
  EXPECT_EQ(pool(text, "e", "v").max_user_connections, kNoLimit);
  const auto config = load(text);
  EXPECT_EQ(effective_client(*config, "d", "u").max_db_client_connections, 30);
  EXPECT_EQ(effective_client(*config, "d", "u").max_user_client_connections, 40);
  EXPECT_EQ(effective_client(*config, "x", "v").max_db_client_connections, 100);
}

TEST(effective, times) {
  const std::string text =
      "query_timeout = 1min\nidle_transaction_timeout = 5\nquery_wait_timeout = 120\nserver_lifetime = 60\nclient_idle_timeout = 9\n"
      "[databases]\nd = query_wait_timeout=0 server_lifetime=30\ne = server_lifetime=0\n"
      "[users]\nu = query_timeout=7 transaction_timeout=8 query_wait_timeout=3 client_idle_timeout=0\n";
  const EffectivePool mine = pool(text, "d", "u");
  EXPECT_EQ(mine.query_timeout, 7);
  EXPECT_EQ(mine.transaction_timeout, 8);
  EXPECT_EQ(mine.idle_transaction_timeout, 5);
  EXPECT_EQ(mine.server_lifetime, 30);
  EXPECT_EQ(pool(text, "e", "v").server_lifetime, 60);
  EXPECT_EQ(pool(text, "e", "v").query_timeout, 60);
  const auto config = load(text);
  EXPECT_EQ(effective_client(*config, "d", "u").query_wait_timeout, 3);
  EXPECT_EQ(effective_client(*config, "d", "v").query_wait_timeout, 0) << "a database may switch it off";
  EXPECT_EQ(effective_client(*config, "e", "v").query_wait_timeout, 120);
  EXPECT_EQ(effective_client(*config, "d", "u").client_idle_timeout, 0);
  EXPECT_EQ(effective_client(*config, "d", "v").client_idle_timeout, 9);
}

TEST(effective, what_was_set_at_run_time_stands_at_its_level) {
  const std::string text = "default_pool_size = 20\n[databases]\nd = pool_size=5\n[users]\nu = pool_size=7\n";
  RuntimeOverrides overrides;
  overrides.database.pool_size = 2;
  EXPECT_EQ(pool(text, "d", "u", overrides).pool_size, 7) << "the user's word is nearer";
  EXPECT_EQ(pool(text, "d", "v", overrides).pool_size, 2);
  overrides.user.pool_size = 0;
  EXPECT_EQ(pool(text, "d", "u", overrides).pool_size, 0) << "0 blocks";
  overrides.pool.pool_size = 30;
  EXPECT_EQ(pool(text, "d", "u", overrides).pool_size, 30);
  overrides.database.max_connections = 0;
  overrides.user.max_connections = kNoLimit;
  EXPECT_EQ(pool(text, "d", "u", overrides).max_db_connections, 0);
  EXPECT_EQ(pool("max_user_connections = 3\n", "d", "u", overrides).max_user_connections, kNoLimit);
  overrides.user.max_client_connections = 11;
  EXPECT_EQ(effective_client(*load(text), "d", "u", overrides).max_user_client_connections, 11);
}

TEST(effective, forced_user) {
  const auto config = load("[databases]\nd = user=boss\n* = dbname=x\n");
  EXPECT_EQ(pool_user(*config, "d", "alice"), "boss");
  EXPECT_EQ(pool_user(*config, "e", "alice"), "alice");
  EXPECT_EQ(pool_user(*load(""), "e", "alice"), "alice");
  EXPECT_EQ(database_settings(*load(""), "e"), nullptr);
}

TEST(effective, limits_set_at_run_time) {
  RuntimeLimits limits;
  ASSERT_TRUE(parse_runtime_limits(Section::Users, " max_user_connections=40  pool_size=0 ", limits));
  EXPECT_EQ(limits.max_connections, 40);
  EXPECT_EQ(limits.pool_size, 0);
  EXPECT_EQ(limits.reserve_pool_size, -1);
  ASSERT_TRUE(parse_runtime_limits(Section::Users, "pool_size=-1 max_user_client_connections=2147483647", limits));
  EXPECT_EQ(limits.max_connections, 40) << "what is not named stays";
  EXPECT_EQ(limits.pool_size, -1);
  EXPECT_EQ(limits.max_client_connections, kNoLimit);
  const RuntimeLimits before = limits;
  struct {
    Section section;
    const char* text;
    const char* message;
  } const bad[] = {
      {Section::Users, "", "no limit is named"},
      {Section::Users, "  ", "no limit is named"},
      {Section::Users, "max_db_connections=1", "unknown limit \"max_db_connections\""},
      {Section::Databases, "max_user_connections=1", "unknown limit"},
      {Section::Pools, "max_db_connections=1", "unknown limit"},
      {Section::Users, "min_pool_size=1", "unknown limit"},
      {Section::Users, "=", "unknown limit \"\""},
      {Section::Users, "pool_size=1 max_user_connections", "max_user_connections must be a number from -1 to 2147483647"},
      {Section::Users, "pool_size=1 max_user_connections=2147483648", "must be a number"},
      {Section::Users, "pool_size=1 max_user_connections=-2", "must be a number"},
      {Section::Users, "pool_size=1 max_user_connections=x", "must be a number"},
  };
  for (const auto& c : bad) {
    const Status status = parse_runtime_limits(c.section, c.text, limits);
    ASSERT_FALSE(status) << c.text;
    EXPECT_EQ(status.error().sqlstate, "22023");
    EXPECT_NE(status.error().message.find(c.message), std::string::npos) << status.error().message;
    EXPECT_FALSE(status.error().hint.empty());
    EXPECT_EQ(limits, before) << c.text;
  }
}

}  // namespace
}  // namespace weir::config
