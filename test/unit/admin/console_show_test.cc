#include "common/admin/console_show.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

namespace weir::admin {
namespace {

std::string names(const std::vector<Column>& columns, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < std::min(count, columns.size()); ++i) text += (i > 0 ? " " : "") + columns[i].name;
  return text;
}

using Values = std::map<std::string, std::string>;
Values values(const Rowset& rows, std::size_t row) {
  Values out;
  for (std::size_t i = 0; i < rows.columns.size(); ++i) out[rows.columns[i].name] = rows.rows.at(row).at(i).value_or("null");
  return out;
}

class ConsoleShowTest : public testing::Test {
protected:
  ConsoleShowTest() {
    nodes_->count = 1;
    nodes_->primary = 0;
    nodes_->nodes[0].hostname.assign("db1");
    nodes_->nodes[0].port = 5432;
    config_.pool_mode = "transaction";
    config_.default_pool_size = 20;
    config_.port = 9999;
    view_.config = &config_;
    view_.nodes = nodes_.get();
    view_.children = 2;
    PoolFacts pool;
    pool.database = "shop";
    pool.user = "app";
    for (std::size_t i = 0; i < kPoolCounts; ++i) pool.counts[i] = static_cast<std::int32_t>(i + 1);
    pool.longest_wait_us = 3'000'007;
    view_.census.pools.push_back(pool);
    view_.leases = {{"shop", "app", 0, 4, 1}, {"shop", "app", 1, 2, 0}};
  }

  config::Config config_;
  std::unique_ptr<shmem::NodeView> nodes_ = std::make_unique<shmem::NodeView>();
  ConsoleView view_;
};

// PgBouncer's names and order; what stands behind them is ours.
TEST_F(ConsoleShowTest, columns) {
  struct Case {
    ConsoleShow show;
    std::size_t count;
    const char* names;
  };
  for (const Case& c : {
           Case{ConsoleShow::Clients, 21,
                "type user database replication state addr port local_addr local_port connect_time request_time wait wait_us close_needed ptr link remote_pid tls "
                "application_name prepared_statements id"},
           Case{ConsoleShow::Pools, 17,
                "database user cl_active cl_waiting cl_active_cancel_req cl_waiting_cancel_req sv_active sv_active_cancel sv_being_canceled sv_idle sv_used sv_tested "
                "sv_login maxwait maxwait_us pool_mode load_balance_hosts"},
           Case{ConsoleShow::Databases, 17,
                "name host port database force_user pool_size min_pool_size reserve_pool_size server_lifetime pool_mode load_balance_hosts max_connections "
                "current_connections max_client_connections current_client_connections paused disabled"},
           Case{ConsoleShow::Users, 8,
                "name pool_size reserve_pool_size pool_mode max_user_connections current_connections max_user_client_connections current_client_connections"},
           Case{ConsoleShow::Lists, 2, "list items"},
           Case{ConsoleShow::Stats, 25,
                "database total_server_assignment_count total_xact_count total_query_count total_received total_sent total_xact_time total_query_time total_wait_time "
                "total_client_parse_count total_server_parse_count total_bind_count total_client_login_count avg_server_assignment_count avg_xact_count avg_query_count "
                "avg_recv avg_sent avg_xact_time avg_query_time avg_wait_time avg_client_parse_count avg_server_parse_count avg_bind_count avg_client_login_count"},
           Case{ConsoleShow::StatsTotals, 13,
                "database server_assignment_count xact_count query_count bytes_received bytes_sent xact_time query_time wait_time client_parse_count server_parse_count "
                "bind_count client_login_count"},
           Case{ConsoleShow::StatsAverages, 13,
                "database server_assignment_count xact_count query_count bytes_received bytes_sent xact_time query_time wait_time avg_client_parse_count "
                "avg_server_parse_count avg_bind_count avg_client_login_count"},
           Case{ConsoleShow::Totals, 2, "name value"},
           Case{ConsoleShow::Config, 4, "key value default changeable"},
           Case{ConsoleShow::Version, 1, "version"},
       }) {
    EXPECT_EQ(names(console_columns(c.show), c.count), c.names);
  }
  EXPECT_TRUE(console_columns(ConsoleShow::Help).empty());
}

TEST_F(ConsoleShowTest, each_row_has_as_many_values_as_columns) {
  SocketFacts socket;
  view_.census.clients.push_back(socket);
  view_.census.servers.push_back(socket);
  view_.traffic.push_back({"shop", {}, {}, {}});
  view_.overrides.push_back({ledger::OverrideKind::User, "", "app", {}});
  for (int i = 0; i < static_cast<int>(ConsoleShow::Help); ++i) {
    const auto show = static_cast<ConsoleShow>(i);
    const Rowset rows = console_rows(show, view_);
    EXPECT_EQ(names(rows.columns, 99), names(console_columns(show), 99)) << show_name(show);
    EXPECT_FALSE(rows.rows.empty()) << show_name(show);
    for (const Row& row : rows.rows) EXPECT_EQ(row.size(), rows.columns.size()) << show_name(show);
  }
}

TEST_F(ConsoleShowTest, pools) {
  view_.overrides.push_back({ledger::OverrideKind::Pool, "shop", "app", {30, -1, -1, -1, -1}});
  Values row = values(console_rows(ConsoleShow::Pools, view_), 0);
  EXPECT_EQ(row["cl_active"], "1");
  EXPECT_EQ(row["sv_active"], "5");
  EXPECT_EQ(row["sv_login"], "11");
  EXPECT_EQ(row["sv_closing"], "12");
  EXPECT_EQ(row["maxwait"], "3");
  EXPECT_EQ(row["maxwait_us"], "7");
  EXPECT_EQ(row["pool_mode"], "transaction");
  EXPECT_EQ(row["load_balance_hosts"], "null");
  EXPECT_EQ(row["leased"], "6");
  EXPECT_EQ(row["leased_by_node"], "0:4 1:2");
  EXPECT_EQ(row["pool_size"], "30");
  EXPECT_EQ(row["blocked"], "0");
  view_.overrides[0].limits.pool_size = 0;
  EXPECT_EQ(values(console_rows(ConsoleShow::Pools, view_), 0)["blocked"], "1");
}

TEST_F(ConsoleShowTest, a_size_without_limit_is_0_and_does_not_block) {
  config_.default_pool_size = 0;
  Values row = values(console_rows(ConsoleShow::Pools, view_), 0);
  EXPECT_EQ(row["pool_size"], "0");
  EXPECT_EQ(row["blocked"], "0");
}

TEST_F(ConsoleShowTest, databases_and_users) {
  view_.overrides.push_back({ledger::OverrideKind::Database, "shop", "", {-1, -1, -1, 7, -1}});
  view_.overrides.push_back({ledger::OverrideKind::User, "", "app", {-1, -1, -1, 0, -1}});
  const Rowset databases = console_rows(ConsoleShow::Databases, view_);
  ASSERT_EQ(databases.rows.size(), 3U);  // pgbouncer, pgweir, shop
  Values shop = values(databases, 2);
  EXPECT_EQ(shop["name"], "shop");
  EXPECT_EQ(shop["host"], "db1");
  EXPECT_EQ(shop["port"], "5432");
  EXPECT_EQ(shop["pool_size"], "20");
  EXPECT_EQ(shop["max_connections"], "7");
  EXPECT_EQ(shop["current_connections"], "6");
  EXPECT_EQ(shop["current_client_connections"], "3");
  EXPECT_EQ(values(databases, 0)["pool_mode"], "statement");
  const Rowset users = console_rows(ConsoleShow::Users, view_);
  ASSERT_EQ(users.rows.size(), 1U);
  Values app = values(users, 0);
  EXPECT_EQ(app["name"], "app");
  EXPECT_EQ(app["pool_size"], "");
  EXPECT_EQ(app["max_user_connections"], "0");
  EXPECT_EQ(app["blocked"], "1");
  view_.overrides[1].limits.pool_size = 5;
  EXPECT_EQ(values(console_rows(ConsoleShow::Users, view_), 0)["pool_size"], "        5");
}

TEST_F(ConsoleShowTest, lists) {
  view_.census.logins = 9;
  std::map<std::string, std::string> items;
  for (const Row& row : console_rows(ConsoleShow::Lists, view_).rows) items[*row[0]] = *row[1];
  EXPECT_EQ(items["databases"], "3");
  EXPECT_EQ(items["pools"], "1");
  EXPECT_EQ(items["used_clients"], "3");
  EXPECT_EQ(items["login_clients"], "9");
  EXPECT_EQ(items["free_servers"], "17");
  EXPECT_EQ(items["used_servers"], "33");
  EXPECT_EQ(items["children"], "2");
}

TEST_F(ConsoleShowTest, stats_of_two_children) {
  auto one = std::make_unique<shmem::DatabaseTable>();
  auto two = std::make_unique<shmem::DatabaseTable>();
  using shmem::Traffic;
  for (auto* table : {one.get(), two.get()}) {
    table->turn(1000, 60'000);
    shmem::DatabaseCounts& shop = *table->row_of("shop");
    shop.add(Traffic::Queries, 100);
    shop.add(Traffic::QueryTime, 5000);
  }
  two->row_of("apple")->add(Traffic::Logins);
  add_traffic(view_.traffic, *one, 11'000);
  add_traffic(view_.traffic, *two, 11'000);
  const Rowset rows = console_rows(ConsoleShow::Stats, view_);
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(*rows.rows[0][0], "apple");
  Values shop = values(rows, 1);
  EXPECT_EQ(shop["total_query_count"], "200");
  EXPECT_EQ(shop["avg_query_count"], "20");
  EXPECT_EQ(shop["total_query_time"], "10000");
  EXPECT_EQ(shop["avg_query_time"], "50");
  EXPECT_EQ(shop["avg_xact_time"], "0");
  std::map<std::string, std::string> totals;
  for (const Row& row : console_rows(ConsoleShow::Totals, view_).rows) totals[*row[0]] = *row[1];
  EXPECT_EQ(totals.size(), 24U);
  EXPECT_EQ(totals["total_query_count"], "200");
  EXPECT_EQ(totals["total_client_login_count"], "1");
}

TEST_F(ConsoleShowTest, clients_and_config) {
  SocketFacts client;
  client.user = "app";
  client.state = SocketState::Waiting;
  client.wait_us = 2'000'003;
  client.self = 0x100000002;
  view_.census.clients.push_back(client);
  Values row = values(console_rows(ConsoleShow::Clients, view_), 0);
  EXPECT_EQ(row["type"], "C");
  EXPECT_EQ(row["state"], "waiting");
  EXPECT_EQ(row["wait"] + "." + row["wait_us"], "2.3");
  EXPECT_EQ(row["ptr"], "0x100000002");
  EXPECT_EQ(row["link"], "");
  EXPECT_EQ(row["held_seconds"], "null");
  std::map<std::string, Row> config;
  for (const Row& parameter : console_rows(ConsoleShow::Config, view_).rows) config[*parameter[0]] = parameter;
  EXPECT_EQ(config["default_pool_size"][1], "20");
  EXPECT_EQ(config["default_pool_size"][2], "0");
  EXPECT_EQ(config["default_pool_size"][3], "yes");
  EXPECT_EQ(config["num_init_children"][3], "no");
}

}  // namespace
}  // namespace weir::admin
