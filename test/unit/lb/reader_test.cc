#include "lb/reader.h"

#include <gtest/gtest.h>

#include <array>

#include "test/unit/lb/cluster.h"

namespace weir::lb {
namespace {

using shmem::NodeAdmin;
using shmem::NodeStatus;
using shmem::NodeView;
using To = Redirect::To;

class Reader : public ::testing::Test {
 protected:
  ReaderInputs inputs() const { return {.view = view_, .policy = policy_}; }
  // How often each node is drawn in 1,000 even steps of the random number.
  std::array<int, 3> draws(ReaderInputs in) const {
    std::array<int, 3> counts{};
    for (int i = 0; i < 1000; ++i) {
      in.random_unit = i / 1000.0;
      const int node = choose_reader(in);
      if (node >= 0) ++counts.at(static_cast<std::size_t>(node));
    }
    return counts;
  }

  NodeView view_ = cluster({0, 1, 1});
  Policy policy_;
};

TEST_F(Reader, KeepsTheSessionsNode) {
  ReaderInputs in = inputs();
  in.kept = 2;
  EXPECT_EQ(draws(in)[2], 1000);
  in.kept = 0;  // drawn earlier, by whatever rule
  EXPECT_EQ(draws(in)[0], 1000);
}

TEST_F(Reader, DrawsAgainWhenTheNodeMayNotBeRead) {
  ReaderInputs in = inputs();
  in.kept = 2;
  in.excluded.set(2);
  EXPECT_EQ(draws(in)[1], 1000);
  in.excluded.reset();
  for (const NodeAdmin admin : {NodeAdmin::Draining, NodeAdmin::Detached}) {
    view_.nodes[2].admin = admin;
    EXPECT_EQ(draws(in)[1], 1000);
  }
  view_.nodes[2].admin = NodeAdmin::Ready;
  view_.nodes[2].status = NodeStatus::Down;
  EXPECT_EQ(draws(in)[1], 1000);
  in.kept = 0;
  in.candidates = Candidates::Standbys;  // the primary is none of them
  EXPECT_EQ(draws(in)[1], 1000);
}

TEST_F(Reader, ARedirectGoesBeforeTheWeights) {
  ReaderInputs in = inputs();
  in.redirect = {To::Node, 2, 1};
  EXPECT_EQ(draws(in)[2], 1000);
  view_.nodes[2].weight = 0;
  EXPECT_EQ(draws(in)[2], 1000);
  in.redirect = {To::Primary, -1, 1};
  EXPECT_EQ(draws(in)[0], 1000);
  in.redirect = {To::Standby, -1, 1};
  EXPECT_EQ(draws(in)[1], 1000);
}

TEST_F(Reader, TheRatioIsDrawnApartFromTheNode) {
  ReaderInputs in = inputs();
  in.redirect = {To::Primary, -1, 0.3};
  in.redirect_unit = 0.2;
  EXPECT_EQ(draws(in)[0], 1000);
  in.redirect_unit = 0.5;
  const auto counts = draws(in);
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[1], 500);
}

TEST_F(Reader, ARedirectReachesNoNodeThatMayNotBeRead) {
  ReaderInputs in = inputs();
  in.redirect = {To::Node, 2, 1};
  view_.nodes[2].admin = NodeAdmin::Draining;
  EXPECT_EQ(draws(in)[1], 1000);
  view_.nodes[2].admin = NodeAdmin::Ready;
  in.excluded.set(2);
  EXPECT_EQ(draws(in)[1], 1000);
  in.excluded.reset();
  in.redirect = {To::Primary, -1, 1};
  in.candidates = Candidates::Standbys;  // a hint of the statement wants a standby
  EXPECT_EQ(draws(in)[0], 0);
}

TEST_F(Reader, NobodyIsNobody) {
  view_ = cluster({0, 0, 0});
  EXPECT_EQ(choose_reader(inputs()), -1);
  view_ = NodeView{};
  ReaderInputs in = inputs();
  in.kept = 1;
  EXPECT_EQ(choose_reader(in), -1);
}

}  // namespace
}  // namespace weir::lb
