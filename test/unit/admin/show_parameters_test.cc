#include "common/admin/show_parameters.h"

#include <gtest/gtest.h>

#include "common/base/sqlstate.h"
#include "common/config/loader.h"
#include "common/config/parameter.h"
#include "test/unit/admin/show_support.h"

namespace weir::admin {
namespace {

class ShowParameters : public ::testing::Test {
 protected:
  ShowParameters() {
    for (const config::Parameter& parameter : config::parameters()) {
      EXPECT_TRUE(config::set_parameter(config_, parameter, parameter.default_text)) << parameter.name;
    }
    set("sr_check_password", "a secret");
    config_.backends.resize(3);
    config_.backends[0].port = config_.backends[2].port = 5432;
    config_.backends[2].weight = 0.5;
  }
  void set(const char* name, const char* value) {
    ASSERT_TRUE(config::set_parameter(config_, *config::find_parameter(name), value));
  }
  Rowset list(const char* name) const {
    auto rows = show_parameters(config_, name);
    EXPECT_TRUE(rows) << name;
    if (!rows) return {};
    EXPECT_EQ(names_of(rows->columns), (Names{"item", "value", "description"})) << name;
    expect_sound(*rows);
    return *rows;
  }
  std::string value(const char* name) const {
    const auto rows = show_parameters(config_, name);
    if (!rows || rows->rows.size() != 1 || rows->columns.size() != 1) return "not one value";
    return rows->rows[0][0].value_or("NULL");
  }
  static std::string item(const Rowset& rows, std::string_view name) {
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      if (cell(rows, i, "item") == name) return cell(rows, i, "value");
    }
    return "no such item";
  }

  config::Config config_;
};

TEST_F(ShowParameters, one_value) {
  EXPECT_EQ(value("port"), "9999");
  EXPECT_EQ(show_parameters(config_, "port")->columns[0].name, "port");
  EXPECT_EQ(value("log_statement"), "off");
  EXPECT_EQ(value("backend_weight2"), "0.5");
  EXPECT_EQ(value("unix_socket_permissions"), "0777");
}

TEST_F(ShowParameters, numbers_in_their_largest_exact_unit) {
  EXPECT_EQ(value("child_life_time"), "5min");
  EXPECT_EQ(value("connect_timeout"), "10s");
  EXPECT_EQ(value("client_idle_limit"), "0");
  EXPECT_EQ(value("memqcache_total_size"), "64MB");
  set("child_life_time", "301");
  EXPECT_EQ(value("child_life_time"), "301s");
  EXPECT_EQ(value("connect_timeout2"), "10s");
}

TEST_F(ShowParameters, secrets_are_never_shown) {
  EXPECT_EQ(value("sr_check_password"), "*****");
  EXPECT_EQ(value("recovery_password"), "*****");
  EXPECT_EQ(value("wd_authkey"), "*****");
  for (const Row& row : list("all").rows) EXPECT_EQ(row[1]->find("a secret"), std::string::npos) << *row[0];
}

TEST_F(ShowParameters, lists) {
  const Rowset all = list("all");
  EXPECT_GE(all.rows.size(), config::parameters().size() + 2 * 6);
  EXPECT_EQ(item(all, "port"), "9999");
  EXPECT_EQ(item(all, "sr_check_password"), "*****");
  EXPECT_EQ(item(all, "child_life_time"), "5min");
  const Rowset backend = list("backend");
  EXPECT_EQ(item(backend, "backend_port0"), "5432");
  EXPECT_EQ(item(backend, "backend_port1"), "no such item");  // not in use
  EXPECT_EQ(item(backend, "backend_clustering_mode"), "no such item");
  EXPECT_EQ(list("backend_hostname").rows.size(), 2U);
  EXPECT_EQ(item(list("watchdog"), "use_watchdog"), "off");
  EXPECT_EQ(item(list("heartbeat"), "wd_heartbeat_keepalive"), "2s");
  const Rowset health = list("health_check");
  EXPECT_EQ(cell(health, 0, "item").back() == '0', false);  // the defaults first
  EXPECT_EQ(item(health, "health_check_timeout2"), "20s");
}

TEST_F(ShowParameters, there_is_no_such) {
  const auto rows = show_parameters(config_, "prot");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().sqlstate, sqlstate::kUndefinedObject);
  EXPECT_EQ(rows.error().message, "config variable \"prot\" not found");
  EXPECT_EQ(rows.error().hint, "Perhaps you meant \"port\".");
  EXPECT_FALSE(show_parameters(config_, "backend_weight1"));
  EXPECT_FALSE(show_parameters(config_, ""));
  EXPECT_LT(show_parameters(config_, std::string(100'000, 'x')).error().message.size(), 200U);
}

}  // namespace
}  // namespace weir::admin
