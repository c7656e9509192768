#include "lb/reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>

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
      const int node = choose_reader(in).node;
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
  EXPECT_EQ(choose_reader(inputs()).node, -1);
  view_ = NodeView{};
  ReaderInputs in = inputs();
  in.kept = 1;
  EXPECT_EQ(choose_reader(in).node, -1);
}

TEST_F(Reader, TheAlgorithmDrawsAmongWhatTheRedirectLeaves) {
  PolicySettings settings;
  settings.algorithm = Algorithm::LeastConnections;
  policy_ = std::move(compile_policy(settings)).value();
  view_ = cluster({1, 1, 1});
  NodeLoads loads;
  loads.connections = {0, 5, 4};
  ReaderInputs in = inputs();
  EXPECT_EQ(draws(in)[0], 334);  // without loads by weight
  in.loads = &loads;
  EXPECT_EQ(draws(in)[0], 1000);
  in.redirect = {To::Standby, -1, 1};
  EXPECT_EQ(draws(in)[2], 1000);
  in.kept = 1;
  EXPECT_EQ(draws(in)[1], 1000);
}

TEST(Algorithm, OfAConfiguration) {
  config::Config config;
  for (const auto& [text, algorithm] : {std::pair{"weighted", Algorithm::Weighted}, std::pair{"least_connections", Algorithm::LeastConnections},
                                        std::pair{"least_latency", Algorithm::LeastLatency}}) {
    config.load_balance_algorithm = text;
    EXPECT_EQ(compile_policy(config)->algorithm(), algorithm);
  }
}

class ReaderAndDelay : public Reader {
 protected:
  ReaderAndDelay() { limit(100, 0, false); }
  void limit(std::int64_t bytes, std::int64_t milliseconds, bool prefer_lower) {
    PolicySettings settings;
    settings.delay_limit = {bytes, milliseconds, 30000, prefer_lower};
    policy_ = std::move(compile_policy(settings)).value();
  }
  // Delays of node 1 and 2, and what is chosen when the session's node is KEPT.
  lb::Reader chosen(int kept, shmem::ReplicationDelay one, shmem::ReplicationDelay two, Candidates candidates = Candidates::Readable) {
    const std::array<shmem::ReplicationDelay, 3> delays{shmem::ReplicationDelay{}, one, two};
    ReaderInputs in = inputs();
    in.kept = kept;
    in.delays = delays;
    in.now = kNow;
    in.candidates = candidates;
    return choose_reader(in);
  }
  int node(int kept, shmem::ReplicationDelay one, shmem::ReplicationDelay two) { return chosen(kept, one, two).node; }

  static constexpr std::int64_t kNow = 1'000'000;
  static constexpr shmem::ReplicationDelay kNone{0, 0, kNow};
  static constexpr shmem::ReplicationDelay kSome{100, 2'000'000, kNow};
  static constexpr shmem::ReplicationDelay kMuch{101, 9'000'000, kNow};
  static constexpr shmem::ReplicationDelay kUnknown{};
};

TEST_F(ReaderAndDelay, TooFarBehindIsThePrimaryAndTheSessionKeepsItsNode) {
  EXPECT_EQ(node(1, kNone, kNone), 1);
  EXPECT_EQ(node(1, kSome, kNone), 1);
  const lb::Reader reader = chosen(1, kMuch, kNone);
  EXPECT_EQ(reader.node, 0);
  EXPECT_EQ(reader.drawn, 1);
  EXPECT_EQ(node(2, kMuch, kNone), 2);
  EXPECT_EQ(node(0, kMuch, kMuch), 0);
}

TEST_F(ReaderAndDelay, UnknownOrStaleIsThePrimary) {
  EXPECT_EQ(node(1, kUnknown, kNone), 0);
  EXPECT_EQ(node(1, {-1, -1, kNow}, kNone), 0);
  EXPECT_EQ(node(1, {0, 0, kNow - 30000}, kNone), 1);
  EXPECT_EQ(node(1, {0, 0, kNow - 30001}, kNone), 0);
}

TEST_F(ReaderAndDelay, WithoutALimitNothingMatters) {
  limit(0, 0, true);
  EXPECT_EQ(node(1, kUnknown, kNone), 1);
  EXPECT_EQ(node(1, kMuch, kNone), 1);
}

TEST_F(ReaderAndDelay, TimeGoesBeforeBytes) {
  limit(1, 2000, false);
  EXPECT_EQ(node(1, kSome, kNone), 1);
  EXPECT_EQ(node(1, {0, 2'000'001, kNow}, kNone), 0);
  EXPECT_EQ(node(1, {0, -1, kNow}, kNone), 0);
  EXPECT_EQ(node(1, {1'000'000, 0, kNow}, kNone), 1);
}

TEST_F(ReaderAndDelay, PreferLowerTakesTheLeastDelayedStandby) {
  limit(100, 0, true);
  EXPECT_EQ(node(1, kMuch, kSome), 2);
  EXPECT_EQ(node(1, kMuch, kMuch), 0);
  EXPECT_EQ(node(1, kUnknown, kNone), 2);
  EXPECT_EQ(node(1, kMuch, kUnknown), 0);
  view_ = cluster({0, 1, 0});  // without weight it is not looked at
  EXPECT_EQ(node(1, kMuch, kNone), 0);
  view_ = cluster({0, 1, 1, 1});
  const std::array<shmem::ReplicationDelay, 4> delays{kUnknown, kMuch, {50, 0, kNow}, {20, 0, kNow}};
  ReaderInputs in = inputs();
  in.kept = 1;
  in.delays = delays;
  in.now = kNow;
  EXPECT_EQ(choose_reader(in).node, 3);
  in.excluded.set(3);
  EXPECT_EQ(choose_reader(in).node, 2);
}

TEST_F(ReaderAndDelay, WithoutAPrimaryAStandbyWithinTheLimitServes) {
  view_.primary = -1;
  view_.nodes[0].status = NodeStatus::Down;
  EXPECT_EQ(node(1, kMuch, kSome), 2);
  EXPECT_EQ(node(1, kMuch, kMuch), -1);
}

TEST_F(ReaderAndDelay, AHintIsNoWayAroundTheLimit) {
  EXPECT_EQ(chosen(-1, kMuch, kMuch, Candidates::Standbys).node, 0);
  EXPECT_EQ(chosen(1, kMuch, kSome, Candidates::Standbys).node, 2);  // it wants a standby, any
  const std::array<shmem::ReplicationDelay, 3> delays{kUnknown, kMuch, kNone};
  ReaderInputs in = inputs();
  in.delays = delays;
  in.now = kNow;
  EXPECT_TRUE(may_read(in, 0));
  EXPECT_FALSE(may_read(in, 1));
  EXPECT_TRUE(may_read(in, 2));
  EXPECT_FALSE(may_read(in, 3));
  in.excluded.set(2);
  EXPECT_FALSE(may_read(in, 2));
  in.excluded.reset();
  view_.nodes[2].admin = NodeAdmin::Draining;
  EXPECT_FALSE(may_read(in, 2));
}

TEST_F(ReaderAndDelay, ARedirectDoesNotOverruleTheLimit) {
  const std::array<shmem::ReplicationDelay, 3> delays{kUnknown, kMuch, kNone};
  ReaderInputs in = inputs();
  in.redirect = {To::Node, 1, 1};
  in.delays = delays;
  in.now = kNow;
  EXPECT_EQ(choose_reader(in).node, 0);
  EXPECT_EQ(choose_reader(in).drawn, 1);
}

TEST(DelayLimit, OfAConfiguration) {
  config::Config config;
  config.load_balance_mode = true;
  config.backend_clustering_mode = "streaming_replication";
  config.delay_threshold = 10;
  config.delay_threshold_by_time = 20;
  config.prefer_lower_delay_standby = true;
  config.sr_check_period = 10;
  EXPECT_EQ(compile_policy(config)->delay_limit().bytes, 10);
  EXPECT_EQ(compile_policy(config)->delay_limit().milliseconds, 20);
  EXPECT_EQ(compile_policy(config)->delay_limit().stale_after, 30000);
  EXPECT_TRUE(compile_policy(config)->delay_limit().prefer_lower);
  config.sr_check_period = 1;
  EXPECT_EQ(compile_policy(config)->delay_limit().stale_after, 5000);
  config.backend_clustering_mode = "logical_replication";
  EXPECT_FALSE(compile_policy(config)->delay_limit().set());
}

}  // namespace
}  // namespace weir::lb
