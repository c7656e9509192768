#include "common/admin/show_status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>

#include "common/admin/show.h"
#include "common/config/parameter.h"
#include "test/unit/admin/show_support.h"

namespace weir::admin {
namespace {

constexpr std::string_view kOrder[] = {
#include "common/admin/status_order.inc"
};

class ShowStatus : public ::testing::Test {
 protected:
  ShowStatus() {
    for (const config::Parameter& parameter : config::parameters()) {
      const auto status = config::set_parameter(config_, parameter, parameter.default_text);
      if (!status) ADD_FAILURE() << parameter.name << ": " << status.error().message;
    }
  }
  std::string value(std::string_view item) const {
    for (const StatusItem& each : status_items(config_, *nodes_)) {
      if (each.item == item) return each.value;
    }
    return "no such item";
  }
  Names names() const {
    Names names;
    for (const StatusItem& each : status_items(config_, *nodes_)) names.push_back(each.item);
    return names;
  }

  config::Config config_;
  std::unique_ptr<shmem::NodeView> nodes_ = std::make_unique<shmem::NodeView>();
};

// A parameter that is renamed or dropped would silently vanish from its place.
TEST_F(ShowStatus, every_name_in_the_order_is_a_parameter) {
  std::set<std::string_view> seen;
  for (const std::string_view name : kOrder) {
    const config::Parameter* parameter = config::find_parameter(name);
    ASSERT_NE(parameter, nullptr) << name;
    EXPECT_EQ(parameter->name, name);
    EXPECT_NE(parameter->kind, config::Kind::SECRET) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
}

TEST_F(ShowStatus, pgpools_items_come_first_and_in_its_order) {
  const Names all = names();
  ASSERT_GE(all.size(), std::size(kOrder));
  EXPECT_TRUE(std::equal(std::begin(kOrder), std::end(kOrder), all.begin()));
  EXPECT_EQ(all[0], "backend_clustering_mode");
  EXPECT_EQ(all[2], "port");
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << "an item twice";
}

TEST_F(ShowStatus, no_secrets) {
  for (const config::Parameter& parameter : config::parameters()) {
    if (parameter.kind != config::Kind::SECRET) continue;
    config_.*std::get<std::string config::Config::*>(parameter.field) = "hush";
  }
  for (const StatusItem& item : status_items(config_, *nodes_)) {
    EXPECT_EQ(item.value.find("hush"), std::string::npos) << item.item;
    EXPECT_EQ(item.item.find("password"), std::string::npos) << item.item;
  }
}

TEST_F(ShowStatus, values_are_raw) {
  config_.port = 9876;
  config_.load_balance_mode = false;
  config_.connection_cache = true;
  EXPECT_EQ(value("port"), "9876");
  EXPECT_EQ(value("load_balance_mode"), "0");
  EXPECT_EQ(value("connection_cache"), "1");
}

TEST_F(ShowStatus, items_of_the_nodes) {
  config_.backends.resize(3);
  config_.backends[0].port = 5432;
  config_.backends[0].weight = 1;
  config_.backends[2].port = 5433;
  config_.backends[2].weight = 3;
  config_.backends[2].allow_to_failover = false;
  config_.backends[2].always_primary = true;
  nodes_->count = 3;
  nodes_->nodes[0].status = shmem::NodeStatus::Up;
  nodes_->nodes[0].seen_connected = true;
  nodes_->nodes[2].status = shmem::NodeStatus::Down;
  nodes_->primary = 0;
  const Names all = names();
  const auto first = std::find(all.begin(), all.end(), "backend_hostname0");
  ASSERT_EQ(first - all.begin(), static_cast<std::ptrdiff_t>(std::size(kOrder)));
  EXPECT_EQ(Names(first, first + 16),
            (Names{"backend_hostname0", "backend_port0", "backend_weight0", "backend_data_directory0",
                   "backend_status0", "standby_delay0", "backend_flag0", "backend_application_name0",
                   "backend_hostname2", "backend_port2", "backend_weight2", "backend_data_directory2",
                   "backend_status2", "standby_delay2", "backend_flag2", "backend_application_name2"}));
  EXPECT_EQ(value("backend_weight0"), "0.250000");
  EXPECT_EQ(value("backend_weight2"), "0.750000");
  EXPECT_EQ(value("backend_status0"), "up");
  EXPECT_EQ(value("backend_status2"), "down");
  EXPECT_EQ(value("standby_delay0"), "0");
  EXPECT_EQ(value("standby_delay2"), "unknown");
  EXPECT_EQ(value("backend_flag0"), "ALLOW_TO_FAILOVER");
  EXPECT_EQ(value("backend_flag2"), "DISALLOW_TO_FAILOVER|ALWAYS_PRIMARY");
  EXPECT_EQ(value("backend_port2"), "5433");
  nodes_->count = 1;  // the table is older than the configuration
  EXPECT_EQ(value("backend_status2"), "unused");
}

TEST_F(ShowStatus, rows) {
  const Rowset rows = show_status({{"a", "1", "first"}, {"b", "", "second"}});
  EXPECT_EQ(names_of(rows.columns), (Names{"item", "value", "description"}));
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(cell(rows, 0, "value"), "1");
  EXPECT_EQ(cell(rows, 1, "value"), "");
  EXPECT_EQ(cell(rows, 1, "description"), "second");
  EXPECT_EQ(show_status(config_, *nodes_, {}).rows.size(), names().size());
}

TEST(ShowVersion, begins_with_a_release) {
  const Rowset rows = show_version();
  EXPECT_EQ(names_of(rows.columns), Names{"pool_version"});
  ASSERT_EQ(rows.rows.size(), 1U);
  const std::string text = cell(rows, 0, "pool_version");
  int major = 0;
  int minor = 0;
  ASSERT_EQ(std::sscanf(text.c_str(), "%d.%d", &major, &minor), 2) << text;
  EXPECT_EQ(major, 4);
  EXPECT_NE(text.find("pgweir"), std::string::npos);
}

// What Describe tells is what Execute sends.
TEST(ShowColumns, are_those_of_the_rows) {
  const auto nodes = std::make_unique<shmem::NodeView>();
  EXPECT_EQ(names_of(show_columns(ShowCommand::Nodes)), names_of(show_nodes(*nodes, {}, -1, true).columns));
  EXPECT_EQ(names_of(show_columns(ShowCommand::Processes)), names_of(show_processes({}).columns));
  EXPECT_EQ(names_of(show_columns(ShowCommand::Pools)), names_of(show_pools({}).columns));
  EXPECT_EQ(names_of(show_columns(ShowCommand::Status)), names_of(show_status(std::vector<StatusItem>{}).columns));
  EXPECT_EQ(names_of(show_columns(ShowCommand::Version)), names_of(show_version().columns));
  EXPECT_TRUE(show_columns(ShowCommand::NotYet).empty());
}

}  // namespace
}  // namespace weir::admin
