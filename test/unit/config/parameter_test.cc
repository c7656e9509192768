#include "common/config/parameter.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "common/config/indexed.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

Config defaults() {
  Config config;
  for (const Parameter& parameter : parameters()) {
    const Status status = set_parameter(config, parameter, parameter.default_text);
    EXPECT_TRUE(status) << parameter.name << ": " << status.error().message;
  }
  return config;
}

std::string error_of(const char* name, const std::string& value) {
  Config config;
  const Status status = set_parameter(config, *find_parameter(name), value);
  return status ? "" : status.error().message;
}

TEST(parameter, every_row_is_whole) {
  for (const Parameter& parameter : parameters()) {
    SCOPED_TRACE(parameter.name);
    const std::string_view text = parameter.documentation;
    ASSERT_GE(text.size(), 10u);
    EXPECT_TRUE(text.ends_with('.')) << "a sentence";
    EXPECT_EQ(text.find('\n'), std::string_view::npos);
    EXPECT_FALSE(parameter.group.empty());
    for (char c : parameter.name) EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
    if (parameter.kind == Kind::INT || parameter.kind == Kind::REAL || parameter.kind == Kind::OCTAL) {
      EXPECT_LT(parameter.minimum, parameter.maximum);
    }
    if (parameter.kind == Kind::ENUM) {
      EXPECT_GE(choices_of(parameter).size(), 2u);
    }
    if (parameter.kind == Kind::INT && !parameter.unit.empty()) {
      EXPECT_TRUE(parse_integer("1", parameter.unit));
    }
  }
}

TEST(parameter, defaults_are_good_values_and_are_shown_as_such) {
  const Config config = defaults();
  for (const Parameter& parameter : parameters()) {
    Config again = config;
    const Status status = set_parameter(again, parameter, show_parameter(config, parameter));
    EXPECT_TRUE(status) << parameter.name;
    EXPECT_EQ(show_parameter(again, parameter), show_parameter(config, parameter)) << parameter.name;
  }
}

TEST(parameter, names_and_aliases_are_unique) {
  std::set<std::string> names;
  for (const Parameter& parameter : parameters()) {
    EXPECT_TRUE(names.insert(std::string(parameter.name)).second) << parameter.name;
    EXPECT_EQ(find_parameter(parameter.name), &parameter);
    for (std::string alias : split_list(parameter.aliases, ',')) {
      alias = alias.substr(0, alias.find(':'));
      EXPECT_EQ(find_parameter(alias), &parameter);
      for (char& c : alias) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      // delegate_IP differs in its case alone from what it is an alias of.
      if (alias != parameter.name) {
        EXPECT_TRUE(names.insert(alias).second) << alias;
      }
    }
    EXPECT_FALSE(Indexed::is_indexed(parameter.name)) << parameter.name;
  }
}

TEST(parameter, other_names) {
  struct {
    const char* alias;
    const char* name;
  } const cases[] = {
      {"client_login_timeout", "authentication_timeout"},
      {"server_idle_timeout", "connection_life_time"},
      {"server_lifetime", "connection_max_age"},
      {"client_idle_timeout", "client_idle_limit"},
      {"logdir", "work_dir"},
      {"socket_dir", "unix_socket_directories"},
      {"fail_over_on_backend_error", "failover_on_backend_error"},
      {"delegate_IP", "delegate_ip"},
      {"PORT", "port"},
  };
  for (const auto& c : cases) {
    const Parameter* parameter = find_parameter(c.alias);
    ASSERT_NE(parameter, nullptr) << c.alias;
    EXPECT_EQ(parameter->name, c.name);
  }
  EXPECT_EQ(find_parameter(""), nullptr);
  EXPECT_EQ(find_parameter("por"), nullptr);
}

TEST(parameter, nearest) {
  EXPECT_EQ(nearest_parameter("listen_adresses"), "listen_addresses");
  EXPECT_EQ(nearest_parameter("num_init_childs"), "num_init_children");
  EXPECT_EQ(nearest_parameter("MAX_POOOL"), "max_pool");
  EXPECT_EQ(nearest_parameter("completely_different_thing_altogether_xyzzy"), "");
  EXPECT_EQ(nearest_parameter(std::string(1000000, 'x')), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
}

TEST(parameter, bad_values) {
  struct {
    const char* name;
    std::string value;
    const char* part;
  } const cases[] = {
      {"port", "0", "outside of 1 .. 65535"},
      {"port", "65536", "outside"},
      {"port", "many", "is no number"},
      {"port", "5min", "is no number"},
      {"authentication_timeout", "1MB", "(unit s)"},
      {"authentication_timeout", "-1", "outside"},
      {"ssl", "maybe", "neither on nor off"},
      {"unix_socket_permissions", "0999", "octal"},
      {"unix_socket_permissions", "7777", "outside of 0000 .. 0777"},
      {"backend_clustering_mode", "native_replication", "native_replication is not offered"},
      {"backend_clustering_mode", "SNAPSHOT_ISOLATION", "is not offered"},
      {"backend_clustering_mode", "mirror", "streaming_replication, logical_replication, raw"},
      {"pool_mode", "all", "session, transaction, statement"},
      {"log_destination", "stderr,csvlog", "\"csvlog\" is none of: stderr, syslog"},
      {"log_min_messages", "loud", "debug5, debug4"},
      {"track_table_mutation_ttl_factor", "x", "is no number"},
      {"track_table_mutation_ttl_factor", "0.5", "outside"},
      {"write_function_list", "good,ba[d", "no regular expression"},
      {"read_only_function_list", "(", "no regular expression"},
      {"primary_routing_query_pattern_list", "a;*", "no regular expression"},
      {"sr_check_user", std::string("a\0b", 3), "NUL"},
  };
  for (const auto& c : cases) {
    EXPECT_NE(error_of(c.name, c.value).find(c.part), std::string::npos)
        << c.name << " = " << c.value << ": " << error_of(c.name, c.value);
  }
}

TEST(parameter, secrets) {
  Config config = defaults();
  const Parameter& parameter = *find_parameter("sr_check_password");
  ASSERT_TRUE(set_parameter(config, parameter, "TEXT<pa>ss>"));
  EXPECT_EQ(config.sr_check_password, "pa>ss");
  EXPECT_EQ(show_parameter(config, parameter), "*****");
  EXPECT_EQ(raw_parameter(config, parameter), "*****");
  ASSERT_TRUE(set_parameter(config, parameter, "plain"));
  EXPECT_EQ(config.sr_check_password, "plain");
}

TEST(parameter, lists_are_shown_as_they_are_read) {
  Config config = defaults();
  const Parameter& parameter = *find_parameter("primary_routing_query_pattern_list");
  ASSERT_TRUE(set_parameter(config, parameter, "a\\;b; .*nextval.*;c"));
  EXPECT_EQ(config.primary_routing_query_pattern_list, (std::vector<std::string>{"a;b", ".*nextval.*", "c"}));
  EXPECT_EQ(show_parameter(config, parameter), "a\\;b;.*nextval.*;c");
}

// The numbers are those that Pgpool-II 4.3 shows.
TEST(parameter, raw_values) {
  const Config config = defaults();
  struct {
    const char* name;
    const char* value;
  } const cases[] = {
      {"backend_clustering_mode", "1"},
      {"log_error_verbosity", "1"},
      {"client_min_messages", "18"},
      {"log_min_messages", "19"},
      {"log_standby_delay", "2"},
      {"syslog_facility", "LOCAL0"},
      {"check_temp_table", "1"},
      {"memqcache_method", "1"},
      {"wd_lifecheck_method", "2"},
      {"disable_load_balance_on_write", "2"},
      {"relcache_query_target", "1"},
      {"ssl", "0"},
      {"load_balance_mode", "1"},
      {"authentication_timeout", "60"},
      {"reset_query_list", "ABORT;DISCARD ALL"},
  };
  for (const auto& c : cases) EXPECT_EQ(raw_parameter(config, *find_parameter(c.name)), c.value) << c.name;
}

// What the rest of pgweir relies on.
TEST(parameter, defaults_that_are_promised) {
  const Config config = defaults();
  EXPECT_EQ(config.max_pool, 0);
  EXPECT_TRUE(config.connection_cache);
  EXPECT_EQ(config.connection_max_age, 3600);
  EXPECT_EQ(config.query_wait_timeout, 120);
  EXPECT_EQ(config.max_client_conn, 1000);
  EXPECT_EQ(config.default_pool_size, 0);
  EXPECT_EQ(config.num_init_children, 32);
  EXPECT_EQ(config.port, 9999);
  EXPECT_EQ(config.pool_mode, "session");
  EXPECT_EQ(config.reset_query_list, (std::vector<std::string>{"ABORT", "DISCARD ALL"}));
  EXPECT_EQ(config.unix_socket_permissions, 0777);
  EXPECT_EQ(config.connect_timeout, 10000);
}

}  // namespace
}  // namespace weir::config
