#include "common/admin/show_nodes.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "common/admin/show_text.h"
#include "test/unit/admin/show_support.h"

namespace weir::admin {
namespace {

using shmem::Answer;
using shmem::NodeAdmin;
using shmem::NodeRole;
using shmem::NodeStatus;

class ShowNodes : public ::testing::Test {
 protected:
  ShowNodes() {
    view_->count = 3;
    view_->primary = 0;
    for (int id = 0; id < 3; ++id) {
      shmem::Node& node = this->node(id);
      node.hostname.assign("db" + std::to_string(id));
      node.port = 5432 + id;
      node.weight = 1;
      node.status = NodeStatus::Up;
      node.role = id == 0 ? NodeRole::Primary : NodeRole::Standby;
      facts_[static_cast<std::size_t>(id)].observation.answer = Answer::Ok;
      facts_[static_cast<std::size_t>(id)].observation.in_recovery = id == 0 ? 0 : 1;
    }
  }
  shmem::Node& node(int id) { return view_->nodes[static_cast<std::size_t>(id)]; }
  Rowset show(int load_balance_node = -1, bool streaming = true) const {
    Rowset rows = show_nodes(*view_, facts_, load_balance_node, streaming);
    expect_sound(rows);
    return rows;
  }

  std::unique_ptr<shmem::NodeView> view_ = std::make_unique<shmem::NodeView>();
  std::vector<NodeFacts> facts_{3};
};

TEST_F(ShowNodes, columns) {
  EXPECT_EQ(names_of(nodes_columns()),
            (Names{"node_id", "hostname", "port", "status", "pg_status", "lb_weight", "role", "pg_role", "select_cnt",
                   "load_balance_node", "replication_delay", "replication_state", "replication_sync_state",
                   "last_status_change", "reason"}));
  EXPECT_EQ(names_of(show().columns), names_of(nodes_columns()));
  EXPECT_EQ(type_of(nodes_columns(), "node_id"), kInt4);
  EXPECT_EQ(type_of(nodes_columns(), "port"), kInt4);
  EXPECT_EQ(type_of(nodes_columns(), "select_cnt"), kInt8);
  EXPECT_EQ(type_of(nodes_columns(), "lb_weight"), kText);
  EXPECT_EQ(type_of(nodes_columns(), "replication_delay"), kText);
}

TEST_F(ShowNodes, values) {
  const TimeZone zone("UTC");
  node(1).seen_connected = true;
  node(1).changed_at = 1'000'000'000;
  facts_[1].selects = 18'000'000'000'000'000'000U;
  const Rowset rows = show(1);
  ASSERT_EQ(rows.rows.size(), 3U);
  EXPECT_EQ(cell(rows, 1, "node_id"), "1");
  EXPECT_EQ(cell(rows, 1, "hostname"), "db1");
  EXPECT_EQ(cell(rows, 1, "port"), "5433");
  EXPECT_EQ(cell(rows, 1, "lb_weight"), "0.333333");
  EXPECT_EQ(cell(rows, 1, "select_cnt"), "18000000000000000000");
  EXPECT_EQ(cell(rows, 0, "load_balance_node"), "false");
  EXPECT_EQ(cell(rows, 1, "load_balance_node"), "true");
  EXPECT_EQ(cell(rows, 1, "last_status_change"), "2001-09-09 01:46:40");
  EXPECT_EQ(cell(rows, 0, "last_status_change"), "");
  EXPECT_EQ(cell(rows, 0, "replication_state"), "");
  EXPECT_EQ(cell(rows, 0, "replication_sync_state"), "");
}

TEST_F(ShowNodes, status) {
  struct Case {
    NodeStatus status;
    NodeAdmin admin;
    bool seen;
    const char* text;
  };
  for (const Case& c : {Case{NodeStatus::Up, NodeAdmin::Ready, true, "up"},
                        Case{NodeStatus::Up, NodeAdmin::Ready, false, "waiting"},
                        Case{NodeStatus::Up, NodeAdmin::Draining, true, "up"},
                        Case{NodeStatus::Up, NodeAdmin::Detached, true, "down"},
                        Case{NodeStatus::Down, NodeAdmin::Ready, true, "down"},
                        Case{NodeStatus::Down, NodeAdmin::Ready, false, "down"},
                        Case{NodeStatus::Unknown, NodeAdmin::Ready, false, "waiting"},
                        Case{NodeStatus::Suspect, NodeAdmin::Ready, true, "up"},
                        Case{NodeStatus::Unused, NodeAdmin::Ready, true, "unused"}}) {
    node(2).status = c.status;
    node(2).admin = c.admin;
    node(2).seen_connected = c.seen;
    EXPECT_EQ(cell(show(), 2, "status"), c.text) << static_cast<int>(c.status) << " " << static_cast<int>(c.admin);
  }
  node(2).status = NodeStatus::Down;
  node(2).reason.assign("it refuses connections");
  EXPECT_EQ(cell(show(), 2, "reason"), "it refuses connections");
  EXPECT_EQ(cell(show(), 1, "reason"), "");
}

TEST_F(ShowNodes, pg_status_and_pg_role_are_what_the_server_said_last) {
  struct Case {
    Answer answer;
    int in_recovery;
    const char* status;
    const char* role;
  };
  for (const Case& c :
       {Case{Answer::None, -1, "unknown", "unknown"}, Case{Answer::Ok, 1, "up", "standby"},
        Case{Answer::Ok, 0, "up", "primary"}, Case{Answer::Ok, -1, "up", "unknown"},
        Case{Answer::Saturated, 1, "up", "standby"}, Case{Answer::BadCredentials, -1, "up", "unknown"},
        Case{Answer::WrongRole, 0, "up", "primary"}, Case{Answer::Starting, 1, "down", "unknown"},
        Case{Answer::Stopping, 1, "down", "unknown"}, Case{Answer::Refused, 1, "down", "unknown"},
        Case{Answer::Silent, 0, "down", "unknown"}, Case{Answer::Unresolved, -1, "down", "unknown"}}) {
    facts_[1].observation.answer = c.answer;
    facts_[1].observation.in_recovery = static_cast<std::int8_t>(c.in_recovery);
    EXPECT_EQ(cell(show(), 1, "pg_status"), c.status) << static_cast<int>(c.answer);
    EXPECT_EQ(cell(show(), 1, "pg_role"), c.role) << static_cast<int>(c.answer);
  }
}

TEST_F(ShowNodes, role) {
  const auto roles = [&](bool streaming) {
    const Rowset rows = show(-1, streaming);
    return cell(rows, 0, "role") + " " + cell(rows, 1, "role") + " " + cell(rows, 2, "role");
  };
  EXPECT_EQ(roles(true), "primary standby standby");
  EXPECT_EQ(roles(false), "main replica replica");
  node(2).role = NodeRole::Primary;  // a second writable server
  EXPECT_EQ(roles(true), "primary standby standby");
  view_->primary = 2;
  EXPECT_EQ(roles(true), "standby standby primary");
  view_->primary = -1;  // the last known roles
  node(2).role = NodeRole::Standby;
  EXPECT_EQ(roles(true), "primary standby standby");
  node(0).role = NodeRole::Unknown;
  EXPECT_EQ(roles(true), "standby standby standby");
}

TEST_F(ShowNodes, weights) {
  node(0).weight = 0;
  node(1).weight = 3;
  node(2).weight = 1;
  EXPECT_EQ(cell(show(), 0, "lb_weight"), "0.000000");
  EXPECT_EQ(cell(show(), 1, "lb_weight"), "0.750000");
  EXPECT_EQ(cell(show(), 2, "lb_weight"), "0.250000");
  node(1).weight = node(2).weight = 0;
  EXPECT_EQ(cell(show(), 1, "lb_weight"), "0.000000");
}

TEST_F(ShowNodes, replication_delay) {
  facts_[1].delay = {400, 1'250'000, 77};
  const auto delay = [&](int id, DelayUnit unit) {
    return cell(show_nodes(*view_, facts_, -1, true, unit), static_cast<std::size_t>(id), "replication_delay");
  };
  EXPECT_EQ(delay(0, DelayUnit::Bytes), "0");
  EXPECT_EQ(delay(1, DelayUnit::Bytes), "400");
  EXPECT_EQ(delay(2, DelayUnit::Bytes), "unknown");
  EXPECT_EQ(delay(0, DelayUnit::Time), "0.000000 second");
  EXPECT_EQ(delay(1, DelayUnit::Time), "1.250000 second");
  EXPECT_EQ(delay(2, DelayUnit::Time), "unknown");
  facts_[1].delay.microseconds = 3'000'001;
  EXPECT_EQ(delay(1, DelayUnit::Time), "3.000001 seconds");
  facts_[1].delay = {-1, -1, 77};  // it follows somebody else
  EXPECT_EQ(delay(1, DelayUnit::Bytes), "unknown");
  facts_[1].observation.in_recovery = 0;
  EXPECT_EQ(delay(1, DelayUnit::Bytes), "0");
}

TEST_F(ShowNodes, what_the_primary_says_of_a_standby) {
  facts_[2].observation.replication_state.assign("streaming");
  facts_[2].observation.sync_state.assign("async");
  EXPECT_EQ(cell(show(), 2, "replication_state"), "streaming");
  EXPECT_EQ(cell(show(), 2, "replication_sync_state"), "async");
}

TEST_F(ShowNodes, a_hindrance_is_shown_where_the_node_is_usable) {
  facts_[1].hindrance = "too far behind";
  EXPECT_EQ(cell(show(), 1, "reason"), "too far behind");
  node(1).reason.assign("it is down");
  EXPECT_EQ(cell(show(), 1, "reason"), "it is down");
}

TEST_F(ShowNodes, an_id_left_out_is_unused) {
  node(1) = shmem::Node{};
  facts_[1] = NodeFacts{};
  const Rowset rows = show();
  ASSERT_EQ(rows.rows.size(), 3U);
  EXPECT_EQ(cell(rows, 1, "status"), "unused");
  EXPECT_EQ(cell(rows, 1, "hostname"), "");
  EXPECT_EQ(cell(rows, 1, "lb_weight"), "0.000000");
  EXPECT_EQ(cell(rows, 2, "node_id"), "2");
}

TEST_F(ShowNodes, without_facts_and_out_of_range) {
  facts_.clear();
  EXPECT_EQ(cell(show(), 0, "pg_status"), "unknown");
  EXPECT_EQ(cell(show(), 0, "select_cnt"), "0");
  view_->count = 0;
  EXPECT_TRUE(show().rows.empty());
  view_->count = 100'000;
  view_->primary = 100'000;
  EXPECT_EQ(show().rows.size(), static_cast<std::size_t>(shmem::kMaxNodes));
  view_->count = -5;
  EXPECT_TRUE(show().rows.empty());
}

TEST(TimeText, local_and_never) {
  const TimeZone zone("CET-1");
  EXPECT_EQ(time_text(1'000'000'000), "2001-09-09 02:46:40");
  EXPECT_EQ(time_text(0), "");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::max()), "");
}

}  // namespace
}  // namespace weir::admin
