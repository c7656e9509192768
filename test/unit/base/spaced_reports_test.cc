#include "common/base/spaced_reports.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(spaced_reports, at_most_one_in_the_time_and_none_is_lost) {
  SpacedReports reports(std::chrono::milliseconds(1000));
  const Monotonic start{std::chrono::hours(1)};
  EXPECT_EQ(reports.happened(start), 1u) << "the first is told at once";
  for (int ms = 1; ms < 1000; ++ms) EXPECT_EQ(reports.happened(start + std::chrono::milliseconds(ms)), std::nullopt);
  EXPECT_EQ(reports.happened(start + std::chrono::milliseconds(1000)), 1000u);
  EXPECT_EQ(reports.happened(start + std::chrono::milliseconds(1001)), std::nullopt);
  EXPECT_EQ(reports.happened(start + std::chrono::hours(1)), 2u);
}

}  // namespace
}  // namespace weir
