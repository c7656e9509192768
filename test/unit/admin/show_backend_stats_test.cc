#include "common/admin/show_backend_stats.h"

#include <gtest/gtest.h>

#include "test/unit/admin/show_support.h"

namespace weir::admin {
namespace {

class BackendStats : public ::testing::Test {
 protected:
  BackendStats() : totals_(2) {
    view_.count = 3;
    view_.primary = 0;
    for (std::size_t id = 0; id < 3; ++id) {
      view_.nodes[id].port = static_cast<int>(5432 + id);
      view_.nodes[id].status = shmem::NodeStatus::Up;
      view_.nodes[id].hostname.assign("db");
    }
    for (std::size_t i = 0; i < shmem::kStatementClasses; ++i) totals_[1].statements[i] = 10 + i;
    for (std::size_t i = 0; i < shmem::kErrorClasses; ++i) totals_[1].errors[i] = 20 + i;
    totals_[1].decisions[1] = 7;
    totals_[0].dry_runs[0] = 5;
  }
  shmem::NodeView view_;
  std::vector<shmem::NodeTotals> totals_;
};

TEST_F(BackendStats, pgpools_columns_in_its_order) {
  const Rowset rows = show_backend_stats(view_, totals_, true);
  EXPECT_EQ(names_of(rows.columns),
            (Names{"node_id", "hostname", "port", "status", "role", "select_cnt", "insert_cnt", "update_cnt", "delete_cnt",
                   "ddl_cnt", "other_cnt", "panic_cnt", "fatal_cnt", "error_cnt"}));
  expect_sound(rows);
  ASSERT_EQ(rows.rows.size(), 3U);
  EXPECT_EQ(cell(rows, 1, "select_cnt"), "10");
  EXPECT_EQ(cell(rows, 1, "insert_cnt"), "11");
  EXPECT_EQ(cell(rows, 1, "update_cnt"), "12");
  EXPECT_EQ(cell(rows, 1, "delete_cnt"), "13");
  EXPECT_EQ(cell(rows, 1, "ddl_cnt"), "14");
  EXPECT_EQ(cell(rows, 1, "other_cnt"), "15");
  EXPECT_EQ(cell(rows, 1, "panic_cnt"), "20");
  EXPECT_EQ(cell(rows, 1, "fatal_cnt"), "21");
  EXPECT_EQ(cell(rows, 1, "error_cnt"), "22");
  EXPECT_EQ(cell(rows, 0, "role"), "primary");
  EXPECT_EQ(cell(rows, 2, "select_cnt"), "0");  // nothing known of it
  EXPECT_EQ(cell(show_backend_stats(view_, totals_, false), 0, "role"), "main");
}

TEST_F(BackendStats, one_row_a_node_and_reason) {
  const std::vector<ReasonText> reasons{{"First", "the first"}, {"Second", "the second"}};
  const Rowset rows = show_route_stats(view_, totals_, reasons, true);
  expect_sound(rows);
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(cell(rows, 0, "node_id"), "0");
  EXPECT_EQ(cell(rows, 0, "reason"), "First");
  EXPECT_EQ(cell(rows, 0, "decisions"), "0");
  EXPECT_EQ(cell(rows, 0, "dry_runs"), "5");
  EXPECT_EQ(cell(rows, 1, "node_id"), "1");
  EXPECT_EQ(cell(rows, 1, "reason"), "Second");
  EXPECT_EQ(cell(rows, 1, "decisions"), "7");
  EXPECT_EQ(cell(rows, 1, "explanation"), "the second");
}

}  // namespace
}  // namespace weir::admin
