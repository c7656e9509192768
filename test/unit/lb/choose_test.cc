#include "lb/choose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "test/unit/lb/cluster.h"

namespace weir::lb {
namespace {

using shmem::NodeAdmin;
using shmem::NodeRole;
using shmem::NodeStatus;
using shmem::NodeView;

int choose(const NodeView& view, double random_unit, Candidates candidates = Candidates::Readable,
           const NodeSet& excluded = {}) {
  return lb::choose(view, eligible(view, candidates) & ~excluded, random_unit);
}

// How often each of three nodes is drawn in 10,000 even steps of the random number.
std::array<int, 3> draw(const NodeView& view, Candidates candidates = Candidates::Readable, NodeSet excluded = {}) {
  std::array<int, 3> counts{};
  for (int i = 0; i < 10000; ++i) {
    const int id = choose(view, i / 10000.0, candidates, excluded);
    EXPECT_GE(id, 0);
    if (id >= 0) ++counts.at(static_cast<std::size_t>(id));
  }
  return counts;
}

TEST(Choose, DrawsByWeightThePrimaryIncluded) {
  const auto counts = draw(cluster({1, 2, 1}));
  EXPECT_NEAR(counts[0], 2500, 1);
  EXPECT_NEAR(counts[1], 5000, 1);
  EXPECT_NEAR(counts[2], 2500, 1);
}

TEST(Choose, WeightsNeedNotAddUpToAnything) {
  const auto counts = draw(cluster({0.1, 0.3, 0.6}));
  EXPECT_NEAR(counts[0], 1000, 2);
  EXPECT_NEAR(counts[1], 3000, 2);
}

TEST(Choose, WeightZeroIsNeverDrawn) {
  const auto counts = draw(cluster({0, 1, 1}));
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 5000, 1);
}

TEST(Choose, NobodyWithWeightIsNobody) {
  EXPECT_EQ(choose(cluster({0, 0, 0}), 0.5), -1);
  EXPECT_EQ(choose(NodeView{}, 0.5), -1);
}

TEST(Choose, StandbysAlone) {
  const auto counts = draw(cluster({8, 1, 1}), Candidates::Standbys);
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 5000, 1);
  EXPECT_EQ(choose(cluster({1}), 0.1, Candidates::Standbys), -1);
}

TEST(Choose, ExcludedNodesTakeNone) {
  NodeSet excluded;
  excluded.set(1);
  const auto counts = draw(cluster({1, 1, 1}), Candidates::Readable, excluded);
  EXPECT_EQ(counts[1], 0);
  EXPECT_NEAR(counts[0], 5000, 1);
  EXPECT_EQ(choose(cluster({1, 1, 1}), 0.5, Candidates::Readable, NodeSet().set()), -1);
}

TEST(Choose, NodesThatAreNotUpAndReadyTakeNone) {
  for (const NodeStatus status : {NodeStatus::Unknown, NodeStatus::Suspect, NodeStatus::Down, NodeStatus::Unused}) {
    NodeView view = cluster({1, 1, 1});
    view.nodes[1].status = status;
    EXPECT_EQ(draw(view)[1], 0);
  }
  for (const NodeAdmin admin : {NodeAdmin::Draining, NodeAdmin::Detached}) {
    NodeView view = cluster({1, 1, 1});
    view.nodes[2].admin = admin;
    EXPECT_EQ(draw(view)[2], 0);
  }
}

TEST(Choose, OnlyTheOnePrimaryAndKnownStandbysAreRead) {
  NodeView view = cluster({1, 1, 1});
  view.nodes[1].role = NodeRole::Unknown;
  view.nodes[2].role = NodeRole::Primary;  // a second writable server
  EXPECT_EQ(draw(view)[0], 10000);
}

TEST(Choose, StandbysServeWithoutAPrimary) {
  NodeView view = cluster({1, 1, 1});
  view.primary = -1;
  view.nodes[0].status = NodeStatus::Down;
  const auto counts = draw(view);
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 5000, 1);
}

TEST(Choose, OddNumbersDoNoHarm) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(choose(cluster({nan, -1, 1}), 0.0), 2);
  EXPECT_EQ(choose(cluster({infinite, 0, 1}), 0.5), 2);
  EXPECT_EQ(choose(cluster({1, 1, 1}), 1.0), 2);   // out of range: the last one
  EXPECT_EQ(choose(cluster({1, 1, 1}), -0.5), 0);
  EXPECT_EQ(choose(cluster({1, 1, 0}), std::nextafter(1.0, 0.0)), 1);
}

// How often each of three nodes is drawn by ALGORITHM in 1,000 even steps.
std::array<int, 3> draw_by(Algorithm algorithm, const NodeView& view, const NodeLoads& loads) {
  std::array<int, 3> counts{};
  for (int i = 0; i < 1000; ++i) {
    const int id = choose_by(algorithm, view, eligible(view, Candidates::Readable), loads, i / 1000.0);
    if (id >= 0) ++counts.at(static_cast<std::size_t>(id));
  }
  return counts;
}

using Counts = std::array<int, 3>;

TEST(ChooseBy, WeightedLooksAtNoLoad) {
  NodeLoads loads;
  loads.connections = {0, 1000, 0};
  loads.latency = {1, 1000000, 1};
  EXPECT_EQ(draw_by(Algorithm::Weighted, cluster({1, 2, 1}), loads), (Counts{250, 500, 250}));
}

TEST(ChooseBy, LeastConnectionsTable) {
  struct Case {
    const char* what;
    std::vector<double> weights;
    std::array<std::uint32_t, 3> connections;
    Counts drawn;
  };
  const Case cases[] = {
      {"the fewest", {1, 1, 1}, {5, 3, 4}, {0, 1000, 0}},
      {"equals by weight", {1, 1, 1}, {5, 3, 3}, {0, 500, 500}},
      {"all are free", {2, 1, 1}, {0, 0, 0}, {500, 250, 250}},
      {"for its weight", {1, 4, 1}, {2, 7, 2}, {0, 1000, 0}},
      {"for its weight, equal", {1, 3, 1}, {2, 6, 9}, {250, 750, 0}},
      {"no weight, no reads", {0, 1, 1}, {0, 9, 8}, {0, 0, 1000}},
      {"nobody has weight", {0, 0, 0}, {0, 9, 8}, {0, 0, 0}},
  };
  for (const Case& one : cases) {
    NodeLoads loads;
    std::copy(one.connections.begin(), one.connections.end(), loads.connections.begin());
    EXPECT_EQ(draw_by(Algorithm::LeastConnections, cluster(one.weights), loads), one.drawn) << one.what;
  }
}

TEST(ChooseBy, LeastLatencyTable) {
  struct Case {
    const char* what;
    std::vector<double> weights;
    std::array<std::uint32_t, 3> latency;
    Counts least;  // of each: at least so many of 1,000, since 1 in 16 is by weight
  };
  const Case cases[] = {
      {"the quickest", {1, 1, 1}, {5000, 1000, 4000}, {20, 937, 20}},
      {"about as quick", {1, 1, 1}, {5000, 1000, 1349}, {20, 460, 460}},
      {"not quite", {1, 1, 1}, {5000, 1000, 1351}, {20, 937, 20}},
      {"by weight among them", {0, 3, 1}, {0, 1000, 1000}, {0, 740, 240}},
      {"one not measured", {1, 1, 1}, {5000, 1000, 0}, {20, 20, 937}},
      {"none measured", {1, 1, 2}, {0, 0, 0}, {240, 240, 490}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    NodeLoads loads;
    std::copy(one.latency.begin(), one.latency.end(), loads.latency.begin());
    const Counts drawn = draw_by(Algorithm::LeastLatency, cluster(one.weights), loads);
    EXPECT_EQ(drawn[0] + drawn[1] + drawn[2], 1000);
    for (std::size_t id = 0; id < 3; ++id) EXPECT_GE(drawn[id], one.least[id]) << id << " of " << drawn[id];
    if (one.weights[0] == 0) {
      EXPECT_EQ(drawn[0], 0);
    }
  }
}

TEST(ChooseBy, OnlyOfThoseAllowed) {
  const NodeView view = cluster({1, 1, 1});
  NodeLoads loads;
  loads.connections = {0, 5, 9};
  loads.latency = {10, 20, 900000};
  NodeSet allowed;
  allowed.set(2);
  for (const Algorithm algorithm : {Algorithm::Weighted, Algorithm::LeastConnections, Algorithm::LeastLatency}) {
    for (const double unit : {0.0, 0.05, 0.5, 0.99}) {
      EXPECT_EQ(choose_by(algorithm, view, allowed, loads, unit), 2);
      EXPECT_EQ(choose_by(algorithm, view, {}, loads, unit), -1);
    }
  }
}

TEST(SmoothedLatency, FollowsItsSamples) {
  EXPECT_EQ(smoothed_latency(0, 800), 800U);
  EXPECT_EQ(smoothed_latency(800, 1600), 900U);
  EXPECT_EQ(smoothed_latency(800, 0), 701U);
  EXPECT_EQ(smoothed_latency(0, 0), 1U);
  EXPECT_EQ(smoothed_latency(1, -5), 1U);
  EXPECT_EQ(smoothed_latency(0, std::int64_t{1} << 62), 1U << 30U);
  std::uint32_t smoothed = 100;
  for (int i = 0; i < 100; ++i) smoothed = smoothed_latency(smoothed, 10000);
  EXPECT_NEAR(smoothed, 10000, 10);
}

TEST(Eligible, CountsWhateverTheWeight) {
  const NodeSet set = eligible(cluster({0, 0, 1}), Candidates::Readable);
  EXPECT_EQ(set.count(), 3U);
  EXPECT_EQ(eligible(cluster({0, 0, 1}), Candidates::Standbys).count(), 2U);
}

TEST(Eligible, NoSuchNode) {
  const NodeView view = cluster({1, 1, 1});
  for (const int id : {-1, 3, 127, 128, 1 << 30}) EXPECT_FALSE(eligible_node(view, id)) << id;
  NodeView holes = cluster({1, 1, 1});
  holes.nodes[1].port = 0;
  EXPECT_FALSE(eligible_node(holes, 1));
}

TEST(Eligible, ACountBeyondTheTableIsCutOff) {
  NodeView view = cluster({1, 1, 1});
  view.count = 1000;
  EXPECT_EQ(eligible(view, Candidates::Readable).count(), 3U);
}

}  // namespace
}  // namespace weir::lb
