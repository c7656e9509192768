// Which node a balanced read uses: redirects, delays, loads.
#include <gtest/gtest.h>

#include <string>

#include "test/support/pgweir.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

constexpr const char* kRead = "SELECT v FROM plain WHERE id = 1";

std::string named(const Pgweir& weir, const std::string& application_name) {
  return weir.conninfo() + " application_name='" + application_name + "'";
}

TEST(Redirects, reads_of_an_application_go_to_the_named_node) {
  Pgweir weir(Cluster::shared(), {{"app_name_redirect_preference_list",
                                   "'report[0-9]:2,batch:primary,never:1(0.0)'"}});
  Connection first(named(weir, "other"));
  ASSERT_TRUE(weir.reaches_standby(first, kRead));
  for (int i = 0; i < 8; ++i) {
    Connection report(named(weir, "report7"));
    EXPECT_EQ(weir.node_of(report, kRead), 2);
    EXPECT_EQ(weir.node_of(report, "INSERT INTO written(v) VALUES ('redirect')"), 0);
    EXPECT_EQ(weir.node_of(report, kRead), 2);
    Connection batch(named(weir, "Batch"));
    EXPECT_EQ(weir.node_of(batch, kRead), 0);
    EXPECT_GT(weir.node_of(batch, "/*standby*/ SELECT v FROM plain WHERE id = 1"), 0);
    Connection never(named(weir, "never"));
    EXPECT_EQ(weir.node_of(never, kRead), 2); // any node but that one, by weight
  }
}

TEST(Redirects, application_goes_before_database_and_user) {
  Pgweir weir(Cluster::shared(), {{"app_name_redirect_preference_list", "'a:1'"},
                                  {"database_redirect_preference_list", "'app:2'"},
                                  {"user_redirect_preference_list", "'app:primary'"}});
  Connection first(named(weir, "a"));
  ASSERT_TRUE(weir.reaches_standby(first, kRead));
  EXPECT_EQ(weir.node_of(first, kRead), 1);
  Connection second(named(weir, "b"));
  EXPECT_EQ(weir.node_of(second, kRead), 2);
}

TEST(Redirects, the_ratio_is_drawn_for_a_session_or_a_statement) {
  Pgweir weir(Cluster::shared(), {{"database_redirect_preference_list", "'app:primary(0.5)'"}});
  Connection first(weir.conninfo());
  first.exec(kRead);
  int primary = 0;
  for (int i = 0; i < 40; ++i) {
    Connection client(weir.conninfo());
    const int node = weir.node_of(client, kRead);
    EXPECT_EQ(weir.node_of(client, kRead), node);
    if (node == 0)
      ++primary;
  }
  EXPECT_GE(primary, 5);
  EXPECT_LE(primary, 35);
  weir.set("statement_level_load_balance", "on");
  weir.reload();
  Connection client(weir.conninfo());
  primary = 0;
  for (int i = 0; i < 40; ++i) {
    if (weir.node_of(client, kRead) == 0)
      ++primary;
  }
  EXPECT_GE(primary, 5);
  EXPECT_LE(primary, 35);
}

TEST(Redirects, a_bad_entry_is_refused_with_its_place) {
  Pgweir weir(Cluster::shared(), {{"app_name_redirect_preference_list", "'psql:nowhere'"}},
              Pgweir::Unstarted{});
  weir.launch();
  EXPECT_FALSE(weir.wait_ready());
  EXPECT_TRUE(weir.logged(weir.config_file() + ":1: app_name_redirect_preference_list: "
                                               "\"nowhere\" in \"psql:nowhere\" is no node"))
      << weir.log();
}

} // namespace
} // namespace weir::test
