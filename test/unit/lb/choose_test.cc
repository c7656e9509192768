#include "lb/choose.h"

#include <gtest/gtest.h>

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
