#include "common/config/section_settings.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace weir::config {
namespace {

std::string add(SectionTables& tables, const char* section, const std::string& name, const SettingPairs& settings) {
  std::string text;
  for (const std::string& message : add_settings(tables, section, name, settings)) text += message + "|";
  return text;
}

std::string wrong(const char* section, const std::string& name, const SettingPairs& settings) {
  SectionTables tables;
  const std::string text = add(tables, section, name, settings);
  const bool empty = tables.databases.empty() && tables.users.empty() && tables.pools.empty() && tables.peers.empty();
  EXPECT_EQ(empty, !text.empty()) << section << " " << name;
  return text;
}

TEST(section_settings, every_key_of_pgbouncer_is_known) {
  SectionTables tables;
  EXPECT_EQ(add(tables, "databases", "app",
                {{"dbname", "d"}, {"host", "h"}, {"port", "5432"}, {"user", "u"}, {"password", "p"}, {"auth_user", "a"}, {"auth_query", "q"},
                 {"auth_dbname", "b"}, {"pool_size", "1"}, {"min_pool_size", "2"}, {"reserve_pool_size", "3"}, {"max_db_connections", "4"},
                 {"max_db_client_connections", "5"}, {"server_lifetime", "6"}, {"query_wait_timeout", "7"}, {"pool_mode", "Transaction"},
                 {"load_balance_hosts", "disable"}, {"connect_query", "SELECT 1"}, {"client_encoding", "UTF8"}, {"datestyle", "ISO"},
                 {"timezone", "UTC"}, {"application_name", "n"}}),
            "");
  const SectionSettings& app = tables.databases.at("app");
  EXPECT_EQ(app.port, 5432);
  EXPECT_EQ(app.pool_mode, PoolMode::Transaction);
  EXPECT_EQ(app.load_balance_hosts, HostOrder::Disable);
  EXPECT_EQ(app.password, "p");
  EXPECT_EQ(app.query_timeout, std::nullopt);
  EXPECT_EQ(add(tables, "databases", "b", {{"reserve_pool", "9"}}), "");
  EXPECT_EQ(tables.databases.at("b").reserve_pool_size, 9) << "PgBouncer's older name";
  EXPECT_EQ(add(tables, "users", "u",
                {{"pool_mode", "statement"}, {"pool_size", "1"}, {"reserve_pool_size", "2"}, {"max_user_connections", "3"},
                 {"max_user_client_connections", "4"}, {"query_timeout", "5"}, {"query_wait_timeout", "2min"}, {"idle_transaction_timeout", "7"},
                 {"transaction_timeout", "8"}, {"client_idle_timeout", "9"}}),
            "");
  EXPECT_EQ(tables.users.at("u").query_wait_timeout, 120);
  EXPECT_EQ(add(tables, "pools", "u.app", {{"pool_size", "0"}, {"min_pool_size", "1"}, {"reserve_pool_size", "1"}, {"pool_mode", "session"}}), "");
  EXPECT_EQ(tables.pools.at("u.app").pool_size, 0);
  EXPECT_EQ(add(tables, "peers", "3", {{"host", "h"}, {"port", "6432"}, {"pool_size", "2"}}), "");
  EXPECT_EQ(tables.peers.at(3).host, "h");
}

TEST(section_settings, what_is_wrong) {
  struct {
    const char* section;
    const char* name;
    SettingPairs settings;
    const char* part;
  } const cases[] = {
      {"databases", "a", {{"pool_sise", "1"}}, "unknown key \"pool_sise\" in [databases] (did you mean \"pool_size\"?)"},
      {"databases", "a", {{"zzzzzzzzzz", "1"}}, "unknown key \"zzzzzzzzzz\" in [databases]|"},
      {"users", "a", {{"min_pool_size", "1"}}, "min_pool_size is no key of [users]: it belongs to [databases], [pools]"},
      {"users", "a", {{"max_db_connections", "1"}}, "belongs to [databases]"},
      {"databases", "a", {{"max_user_connections", "1"}}, "belongs to [users]"},
      {"peers", "1", {{"host", "h"}, {"user", "u"}}, "user is no key of [peers]"},
      {"databases", "a", {{"pool_size", "-2"}}, "pool_size: -2 is outside of -1 ... 2147483647"},
      {"databases", "a", {{"pool_size", "2147483648"}}, "pool_size: 2147483648 is outside of"},
      {"databases", "a", {{"pool_size", "99999999999999999999"}}, "is no whole number"},
      {"databases", "a", {{"pool_size", ""}}, "is no whole number"},
      {"databases", "a", {{"pool_size", "5s"}}, "is no whole number"},
      {"databases", "a", {{"port", "0"}}, "port: 0 is outside of 1 ... 65535"},
      {"users", "a", {{"query_timeout", "-1"}}, "query_timeout: -1 is outside of 0"},
      {"users", "a", {{"query_timeout", "5kB"}}, "is no time"},
      {"users", "a", {{"pool_mode", "sessions"}}, "none of: session, transaction, statement"},
      {"databases", "a", {{"load_balance_hosts", "random"}}, "none of: round-robin, disable"},
      {"databases", "a", {{"host", std::string("h\0x", 3)}}, "host: there is a zero byte"},
      {"databases", "pgbouncer", {}, "\"pgbouncer\" is reserved"},
      {"databases", "pgweir", {}, "\"pgweir\" is reserved"},
      {"databases", "a", {{"auth_dbname", "pgbouncer"}}, "it cannot run auth_query"},
      {"databases", "", {}, "the name is empty"},
      {"pools", "nodot", {{"pool_size", "1"}}, "its name is user.database"},
      {"pools", ".x", {}, "its name is user.database"},
      {"pools", "x.", {}, "its name is user.database"},
      {"peers", "0", {{"host", "h"}}, "numbers from 1 to 65535"},
      {"peers", "65536", {{"host", "h"}}, "numbers from 1 to 65535"},
      {"peers", "1x", {{"host", "h"}}, "numbers from 1 to 65535"},
      {"peers", "1", {{"port", "1"}}, "peer 1 has no host"},
  };
  for (const auto& c : cases) EXPECT_NE(wrong(c.section, c.name, c.settings).find(c.part), std::string::npos) << wrong(c.section, c.name, c.settings);
  EXPECT_NE(wrong("databases", std::string(64, 'd'), {}).find("longer than 63"), std::string::npos);
  EXPECT_NE(wrong("users", std::string(128, 'u'), {}).find("longer than 127"), std::string::npos);
  EXPECT_EQ(wrong("users", "a", {{"x", "1"}, {"pool_size", "y"}}).find("||"), std::string::npos);
}

TEST(section_settings, minus_one_is_not_said_and_a_later_line_counts) {
  SectionTables tables;
  EXPECT_EQ(add(tables, "databases", "a", {{"pool_size", "5"}, {"min_pool_size", "1"}}), "");
  EXPECT_EQ(add(tables, "databases", "a", {{"pool_size", "-1"}}), "");
  EXPECT_EQ(tables.databases.at("a"), SectionSettings{});
  EXPECT_EQ(add(tables, "tenants", "t", {{"anything", "1"}}), "") << "its keys come later";
}

TEST(section_settings, secrets_are_not_shown) { EXPECT_EQ(settings_text({{"user", "u"}, {"password", "p"}, {"zz", "1"}}), "user=u password=***** zz=1"); }

TEST(section_settings, one_notice_a_key_or_section_that_is_not_in_effect) {
  EXPECT_EQ(section_notices({{"databases", {"host", "pool_size", "port"}}, {"tenants", {}}}),
            (std::vector<std::string>{"key host of [databases] is not yet in effect", "key port of [databases] is not yet in effect",
                                      "section [tenants] is not yet in effect"}));
  EXPECT_TRUE(section_notices({}).empty());
}

TEST(section_settings, keys_are_documented_once) {
  std::set<std::string_view> names;
  for (const SectionKey& key : section_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(key.documentation.ends_with('.')) << key.name;
    EXPECT_NE(key.sections, 0u) << key.name;
  }
}

}  // namespace
}  // namespace weir::config
