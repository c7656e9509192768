// How long what was written stays on the primary (dml_adaptive_global).
#include "lb/recent.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "test/unit/lb/cluster.h"

namespace weir::lb {
namespace {

constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kNow = 100'000;

shmem::ReplicationDelay delay(std::int64_t microseconds, std::int64_t at = kNow) { return {0, microseconds, at}; }

TEST(RecentTtl, IsTheHighestDelaySoManyTimes) {
  struct Row {
    std::int64_t first;
    std::int64_t second;
    double factor;
    std::int64_t ttl;
  };
  for (const Row& row : {Row{0, 0, 5, 100}, Row{10'000, 0, 5, 100}, Row{40'000, 90'000, 5, 450}, Row{90'000, 40'000, 5, 450}, Row{1'000'000, 0, 1, 1000},
                         Row{1'000'001, 0, 1, 1001}, Row{1'000'000, 0, 0, 1000}, Row{-1, 0, 5, kForEver}, Row{0, -1, 5, kForEver},
                         Row{std::numeric_limits<std::int64_t>::max(), 0, 100, 1'000'000'000'000'000}}) {
    RecentLimits limits;
    limits.ttl_factor = row.factor;
    const std::vector<shmem::ReplicationDelay> delays = {{}, delay(row.first), delay(row.second)};
    EXPECT_EQ(ttl_of_writes(cluster({1, 1, 1}), delays, limits, kNow), row.ttl) << row.first << " " << row.second;
  }
}

TEST(RecentTtl, OnlyNodesThatAreReadCount) {
  shmem::NodeView view = cluster({1, 1, 1});
  view.nodes[2].status = shmem::NodeStatus::Down;
  const std::vector<shmem::ReplicationDelay> delays = {{}, delay(30'000), {}};
  EXPECT_EQ(ttl_of_writes(view, delays, {}, kNow), 150);
  EXPECT_EQ(ttl_of_writes(cluster({1}), {}, {}, kNow), kLeastTtl);
  EXPECT_EQ(ttl_of_writes(cluster({1, 1}), {}, {}, kNow), kForEver);
}

TEST(RecentTtl, AnOldMeasurementIsNone) {
  RecentLimits limits;
  limits.stale_after = 5000;
  const std::vector<shmem::ReplicationDelay> delays = {{}, delay(0, kNow - 5000)};
  EXPECT_EQ(ttl_of_writes(cluster({1, 1}), delays, limits, kNow), kLeastTtl);
  EXPECT_EQ(ttl_of_writes(cluster({1, 1}), delays, limits, kNow + 1), kForEver);
}

TEST(Recent, UntilItsTimeIsOver) {
  struct Row {
    std::int64_t first_ago;
    std::int64_t last_ago;
    std::int64_t ttl;
    std::int64_t max_staleness;
    bool recent;
  };
  for (const Row& row : {Row{0, 0, 100, 60000, true}, Row{99, 99, 100, 60000, true}, Row{100, 100, 100, 60000, false}, Row{60000, 0, 100, 60000, false},
                         Row{59999, 0, 100, 60000, true}, Row{90000, 0, 100, 0, true}, Row{90000, 90000, kForEver, 0, true}, Row{70000, 10, kForEver, 60000, false}}) {
    RecentLimits limits;
    limits.max_staleness = row.max_staleness;
    EXPECT_EQ(is_recent({kNow - row.first_ago, kNow - row.last_ago}, row.ttl, limits, kNow), row.recent) << row.first_ago << " " << row.last_ago;
  }
}

}  // namespace
}  // namespace weir::lb
