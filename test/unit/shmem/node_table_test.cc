#include "common/shmem/node_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {
namespace {

// All of it tells the same number.
std::unique_ptr<NodeView> view_of(int number, int count) {
  auto view = std::make_unique<NodeView>();
  view->count = count;
  view->primary = number % count;
  for (int id = 0; id < count; ++id) {
    Node& node = view->nodes[static_cast<std::size_t>(id)];
    node.hostname.assign("host" + std::to_string(number));
    node.reason.assign(std::to_string(number));
    node.port = number;
    node.status = NodeStatus::Up;
    node.changed_at = number;
  }
  return view;
}

::testing::AssertionResult tells(const NodeView& view, int number, int count) {
  if (view.count != count) return ::testing::AssertionFailure() << "count " << view.count;
  if (view.primary != number % count) return ::testing::AssertionFailure() << "primary " << view.primary;
  for (int id = 0; id < count; ++id) {
    const Node& node = view.nodes[static_cast<std::size_t>(id)];
    if (node.port != number || node.changed_at != number ||
        node.hostname.view() != "host" + std::to_string(number) || node.reason.view() != std::to_string(number)) {
      return ::testing::AssertionFailure() << "node " << id << " is of " << node.port << ", not of " << number;
    }
  }
  return ::testing::AssertionSuccess();
}

TEST(NodeTable, starts_without_nodes) {
  const Shared<NodeTable> table;
  EXPECT_EQ(table->epoch(), 0U);
  const auto seen = view_of(5, 3);
  ASSERT_TRUE(table->read(*seen));
  EXPECT_EQ(seen->count, 0);
  EXPECT_EQ(seen->primary, -1);
  EXPECT_EQ(seen->epoch, 0U);
}

TEST(NodeTable, a_change_moves_the_epoch) {
  const Shared<NodeTable> table;
  const auto seen = std::make_unique<NodeView>();
  for (int number = 1; number <= 5; ++number) {
    const auto view = view_of(number, 3);
    table->publish(*view);
    EXPECT_EQ(view->epoch, static_cast<std::uint64_t>(number));
    EXPECT_EQ(table->epoch(), view->epoch);
    ASSERT_TRUE(table->read(*seen));
    EXPECT_EQ(seen->epoch, view->epoch);
    EXPECT_TRUE(tells(*seen, number, 3));
  }
}

TEST(NodeTable, slots_that_are_gone_are_empty_again) {
  const Shared<NodeTable> table;
  const auto seen = std::make_unique<NodeView>();
  table->publish(*view_of(1, kMaxNodes));
  ASSERT_TRUE(table->read(*seen));
  EXPECT_TRUE(tells(*seen, 1, kMaxNodes));
  table->publish(*view_of(2, 2));
  ASSERT_TRUE(table->read(*seen));
  EXPECT_TRUE(tells(*seen, 2, 2));
  EXPECT_EQ(seen->nodes[2].port, 0);
  EXPECT_EQ(seen->nodes[kMaxNodes - 1].status, NodeStatus::Unused);
}

TEST(NodeTable, a_count_out_of_range_is_cut) {
  const Shared<NodeTable> table;
  const auto view = view_of(1, 3);
  view->count = kMaxNodes + 1000;
  table->publish(*view);
  const auto seen = std::make_unique<NodeView>();
  ASSERT_TRUE(table->read(*seen));
  EXPECT_EQ(seen->count, kMaxNodes);
}

// While the new nodes are half written a reader gets the old ones, all of them.
TEST(NodeTable, no_mixture_of_old_and_new_nodes) {
  const Shared<NodeTable> table;
  const auto seen = std::make_unique<NodeView>();
  table->publish(*view_of(1, 3));
  table->publish(*view_of(2, 3), [&] {
    ASSERT_TRUE(table->read(*seen));
    EXPECT_TRUE(tells(*seen, 1, 3));
    EXPECT_EQ(seen->epoch, 1U);
  });
  EXPECT_NE(seen->epoch, table->epoch());
}

TEST(NodeTable, changes_during_a_read) {
  const Shared<NodeTable> table;
  const auto seen = std::make_unique<NodeView>();
  table->publish(*view_of(1, 3));
  ASSERT_TRUE(table->read(*seen, [&] { table->publish(*view_of(2, 3)); }));
  EXPECT_TRUE(tells(*seen, 1, 3));
  int number = 2;
  ASSERT_TRUE(table->read(*seen, [&] {
    if (number >= 6) return;
    table->publish(*view_of(++number, 3));
    table->publish(*view_of(++number, 3));
  }));
  EXPECT_TRUE(tells(*seen, 6, 3));
  EXPECT_EQ(seen->epoch, 6U);
}

TEST(NodeTable, after_bounded_tries_the_last_good_copy_is_kept) {
  const Shared<NodeTable> table;
  const auto seen = std::make_unique<NodeView>();
  table->publish(*view_of(1, 3));
  ASSERT_TRUE(table->read(*seen));
  int number = 1;
  EXPECT_FALSE(table->read(*seen, [&] {
    table->publish(*view_of(++number, 3));
    table->publish(*view_of(++number, 3));
  }));
  EXPECT_EQ(number, 201);
  EXPECT_TRUE(tells(*seen, 1, 3));
  EXPECT_EQ(seen->epoch, 1U);
  EXPECT_NE(seen->epoch, table->epoch());
}

TEST(NodeTable, a_parent_killed_midway_leaves_the_last_table) {
  const Shared<NodeTable> table;
  const auto seen = std::make_unique<NodeView>();
  for (int number = 1; number <= 2; ++number) {
    table->publish(*view_of(number, 3));
    Fork parent([&] { table->publish(*view_of(100, 3), die); });
    ASSERT_TRUE(parent.was_killed());
    ASSERT_TRUE(table->read(*seen));
    EXPECT_TRUE(tells(*seen, number, 3));
    EXPECT_EQ(table->epoch(), static_cast<std::uint64_t>(number));
  }
}

TEST(NodeTable, readers_beside_a_busy_writer) {
  const Shared<NodeTable> table;
  const Shared<std::atomic<bool>> stop;
  Fork writer([&] {
    for (int number = 1; !*stop; ++number) table->publish(*view_of(number, 1 + number % 5));
  });
  const auto seen = std::make_unique<NodeView>();
  std::uint64_t last = 0;
  int changes = 0;
  for (const Deadline deadline; !deadline.over() && changes < 500;) {
    if (table->epoch() == last) continue;
    if (!table->read(*seen)) continue;
    const int number = static_cast<int>(seen->epoch);
    ASSERT_TRUE(tells(*seen, number, 1 + number % 5));
    ASSERT_GE(seen->epoch, last);
    last = seen->epoch;
    ++changes;
  }
  *stop = true;
  EXPECT_TRUE(writer.ended_well());
  EXPECT_GT(changes, 20);
}

}  // namespace
}  // namespace weir::shmem
