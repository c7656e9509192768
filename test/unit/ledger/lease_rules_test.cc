#include "common/ledger/lease_rules.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace weir::ledger {
namespace {

constexpr std::int64_t kNow = 1'000'000;

Limits limits(std::int32_t pool, std::int32_t database = kNoLimit, std::int32_t user = kNoLimit, std::int32_t node = kNoLimit) {
  return {pool, 0, 0, database, user, node};
}

Limits with_reserve(std::int32_t pool, std::int32_t reserve, std::int32_t after_ms) { return {pool, reserve, after_ms, kNoLimit, kNoLimit, kNoLimit}; }

PoolKey key(int database, int user, int node = 0) {
  return {static_cast<std::uint16_t>(database), static_cast<std::uint16_t>(user), static_cast<std::uint16_t>(node)};
}

TEST(lease_rules, who_may_get_one_more) {
  struct {
    Counts counts;
    Limits limits;
    std::int64_t waited;
    Limit refused_by;
    bool from_reserve;
  } const cases[] = {
      {{0, 0, 0, 0}, limits(kNoLimit), 0, Limit::None, false},
      {{19, 0, 0, 0}, limits(20), 0, Limit::None, false},
      {{20, 0, 0, 0}, limits(20), 0, Limit::Pool, false},
      {{0, 0, 0, 0}, limits(0), 99999, Limit::Pool, false},
      {{0, 5, 0, 0}, limits(20, 5), 0, Limit::Database, false},
      {{0, 5, 5, 0}, limits(20, 6, 5), 0, Limit::User, false},
      {{0, 5, 5, 9}, limits(20, 6, 6, 9), 0, Limit::Node, false},
      {{5, 5, 5, 9}, limits(5, 5, 5, 9), 0, Limit::Pool, false},
      {{0, 0, 0, 0}, limits(1, 0), 0, Limit::Database, false},
      {{0, 0, 0, 0}, limits(1, 1, 0), 0, Limit::User, false},
      {{2, 2, 2, 2}, with_reserve(2, 1, 5000), 4999, Limit::Pool, false},
      {{2, 2, 2, 2}, with_reserve(2, 1, 5000), 5000, Limit::None, true},
      {{3, 3, 3, 3}, with_reserve(2, 1, 5000), 9000, Limit::Pool, false},
      {{1, 1, 1, 1}, with_reserve(2, 1, 5000), 9000, Limit::None, false},
      {{2, 2, 2, 2}, with_reserve(2, 1, 0), 9000, Limit::Pool, false},         // reserve_pool_timeout = 0: off
      {{0, 0, 0, 0}, with_reserve(0, 5, 1000), 9000, Limit::Pool, false},      // blocked is blocked
      {{2, 9, 0, 0}, {2, 1, 5000, 9, kNoLimit, kNoLimit}, 9000, Limit::Database, false},  // the reserve is not above the database's limit
      {{kNoLimit - 1, 0, 0, 0}, with_reserve(kNoLimit, kNoLimit, 1), 9000, Limit::None, false},
  };
  for (const auto& c : cases) {
    const Verdict verdict = judge(c.counts, c.limits, c.waited);
    EXPECT_EQ(verdict.refused_by, c.refused_by) << &c - cases;
    EXPECT_EQ(verdict.from_reserve, c.from_reserve) << &c - cases;
  }
}

TEST(lease_rules, what_a_node_can_give) {
  EXPECT_EQ(node_ceiling(0, 3, 5, 1), kNoLimit) << "not known yet";
  EXPECT_EQ(node_ceiling(100, 3, 10, 2), 85);
  EXPECT_EQ(node_ceiling(10, 3, 20, 2), 1) << "else it would never be tried again";
  EXPECT_EQ(node_ceiling(100, -1, -5, -7), 100);
  EXPECT_EQ(node_ceiling(kNoLimit, kNoLimit, kNoLimit, kNoLimit), 1);
}

TEST(lease_rules, limits_of_the_configuration) {
  config::EffectivePool pool;
  pool.pool_size = 20;
  pool.reserve_pool_size = 3;
  pool.reserve_pool_timeout = 5;
  pool.max_db_connections = 7;
  pool.max_user_connections = 8;
  EXPECT_EQ(limits_of(pool, 90), (Limits{20, 3, 5000, 7, 8, 90}));
  pool.reserve_pool_timeout = kNoLimit;
  EXPECT_GT(limits_of(pool, 90).reserve_after_ms, 0) << "no overflow";
}

TEST(lease_rules, what_pools_have_in_common) {
  struct {
    PoolKey a, b;
    bool pool, database, user, node;
  } const cases[] = {
      {key(1, 1), key(1, 1), true, true, true, true},
      {key(1, 1), key(1, 2), false, true, false, true},
      {key(1, 1), key(2, 1), false, false, true, true},
      {key(1, 1), key(2, 2), false, false, false, true},
      {key(1, 1, 0), key(1, 1, 1), false, false, false, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(share(Limit::Pool, c.a, c.b), c.pool);
    EXPECT_EQ(share(Limit::Database, c.a, c.b), c.database);
    EXPECT_EQ(share(Limit::User, c.a, c.b), c.user);
    EXPECT_EQ(share(Limit::Node, c.a, c.b), c.node);
    EXPECT_FALSE(share(Limit::None, c.a, c.b) || share(Limit::Turn, c.a, c.b));
  }
}

Waiter waiter(int child, PoolKey pool, std::int64_t waited_ms, Limits l, Counts counts = {}, std::int64_t offered_ago = -1) {
  return {child, pool, kNow - waited_ms, offered_ago < 0 ? 0 : kNow - offered_ago, l, counts, {}, 0};
}

TEST(lease_rules, who_has_less_comes_first) {
  const Limits one = limits(kNoLimit, 1);
  Waiter me = waiter(0, key(1, 1), 0, one);
  me.pool_gained_ms = kNow - 50;
  struct {
    const char* what;
    std::vector<Waiter> others;
    Limit refused_by;
    int first;
  } const cases[] = {
      {"nobody else", {}, Limit::None, -1},
      {"another pool that got its last one earlier, at the same database", {waiter(1, key(1, 2), 100, one)}, Limit::Turn, 0},
      {"for another database", {waiter(1, key(2, 2), 100, limits(1))}, Limit::None, -1},
      {"on another node", {waiter(1, key(1, 2, 1), 100, one)}, Limit::None, -1},
      {"the same pool in another child", {waiter(1, key(1, 1), 100, one)}, Limit::Turn, 0},
      {"two of them", {waiter(1, key(1, 3), 100, one), waiter(2, key(1, 2), 200, one)}, Limit::Turn, 1},
      {"it could not have one anyway", {waiter(1, key(1, 2), 100, limits(1, 1), {1, 0, 1, 1})}, Limit::None, -1},
      {"it was offered one and did not come", {waiter(1, key(1, 2), 500, one, {}, 101)}, Limit::None, -1},
      {"it was offered one just now", {waiter(1, key(1, 2), 500, one, {}, 100)}, Limit::Turn, 0},
  };
  for (const auto& c : cases) {
    const TurnVerdict turn = judge_in_turn(me, c.others, kNow);
    EXPECT_EQ(turn.verdict.refused_by, c.refused_by) << c.what;
    EXPECT_EQ(turn.first ? static_cast<int>(*turn.first) : -1, c.first) << c.what;
  }
  // It was the last that got one.
  Waiter last = waiter(1, key(1, 2), 500, one);
  last.pool_gained_ms = kNow - 20;
  EXPECT_TRUE(judge_in_turn(me, std::vector{last}, kNow).verdict.granted());
  // There is one for each of them.
  EXPECT_TRUE(judge_in_turn(waiter(0, key(1, 1), 0, limits(kNoLimit, 2)), std::vector{waiter(1, key(1, 2), 100, one)}, kNow).verdict.granted());
  // A limit that refuses me is the answer, not my turn.
  EXPECT_EQ(judge_in_turn(waiter(0, key(1, 1), 0, one, {0, 1, 0, 1}), std::vector{waiter(1, key(1, 2), 100, one, {0, 1, 0, 1})}, kNow).verdict.refused_by,
            Limit::Database);
}

TEST(lease_rules, one_who_needs_two_limits_gets_a_turn) {
  // The other needs a slot of the database and one of its user; the user's are taken.
  const Waiter me = waiter(0, key(1, 1), 0, limits(kNoLimit, 1));
  const auto other = [&](std::int64_t waited) { return std::vector{waiter(1, key(1, 2), waited, limits(kNoLimit, 1, 1), {0, 0, 1, 1})}; };
  EXPECT_TRUE(judge_in_turn(me, other(900), kNow).verdict.granted());
  EXPECT_EQ(judge_in_turn(me, other(1000), kNow).verdict.refused_by, Limit::Turn);
  EXPECT_EQ(judge_in_turn(me, other(1249), kNow).verdict.refused_by, Limit::Turn);
  EXPECT_TRUE(judge_in_turn(me, other(1250), kNow).verdict.granted()) << "but the slot is not kept for good";
  EXPECT_EQ(judge_in_turn(me, other(2100), kNow).verdict.refused_by, Limit::Turn);
}

TEST(lease_rules, who_comes_next) {
  const Limits one = limits(1);
  const Counts full{1, 1, 1, 1};
  EXPECT_EQ(next_in_line({}, kNow), std::nullopt);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 2), 5, one), waiter(2, key(1, 1), 9, one)}, kNow), 1U);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one), waiter(2, key(1, 2), 9, one, full)}, kNow), 0U);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one, full)}, kNow), std::nullopt);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one), waiter(2, key(1, 2), 9, one, {}, 101)}, kNow), 0U);
}

TEST(lease_rules, what_comes_free_is_for_who_has_least) {
  const auto party = [](int child, PoolKey pool, std::int64_t waited_ms, std::int32_t pool_has, std::int64_t pool_gained_ago, Demand demand = {}) {
    Waiter one = waiter(child, pool, waited_ms, limits(kNoLimit, 9), {pool_has, 3, 3, 3});
    one.pool_gained_ms = kNow - pool_gained_ago;
    one.demand = demand;
    return one;
  };
  struct {
    const char* what;
    Waiter a, b;
    bool a_first, b_first;
  } const cases[] = {
      {"the pool that has fewer, though it has waited less", party(0, key(1, 1), 1, 0, 5), party(1, key(1, 2), 500, 1, 900), true, false},
      {"of equals, the one that got its last one longer ago", party(0, key(1, 1), 1, 1, 900), party(1, key(1, 2), 500, 1, 5), true, false},
      {"at last anything that is the same for all who look", party(0, key(1, 1), 500, 1, 5), party(1, key(1, 2), 900, 1, 5), true, false},
      {"of one pool: the child with fewer", party(0, key(1, 1), 1, 9, 5, {1, 5, 0}), party(1, key(1, 1), 500, 9, 5, {2, 5, 0}), true, false},
      {"or with more clients for what it has", party(0, key(1, 1), 1, 9, 5, {4, 20, 0}), party(1, key(1, 1), 500, 9, 5, {4, 5, 0}), true, false},
      {"of equal ones that whose gain is older", party(0, key(1, 1), 1, 9, 5, {4, 10, 7}), party(1, key(1, 1), 500, 9, 5, {4, 10, 9}), true, false},
      {"of those who have none too", party(0, key(1, 1), 1, 9, 5, {0, 1, 7}), party(1, key(1, 1), 500, 9, 5, {0, 10, 9}), true, false},
      {"who has none before who has little", party(0, key(1, 1), 1, 9, 5, {0, 1, 7}), party(1, key(1, 1), 500, 9, 5, {1, 10, 9}), true, false},
      {"then the one that has waited longer", party(0, key(1, 1), 500, 9, 5, {0, 1, 7}), party(1, key(1, 1), 400, 9, 5, {0, 1, 7}), true, false},
      {"counts of a child that went wrong", party(0, key(1, 1), 1, 9, 5, {0, -5, 0}), party(1, key(1, 1), 500, 9, 5, {3, 0, 0}), true, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(precedes(c.a, c.b), c.a_first) << c.what;
    EXPECT_EQ(precedes(c.b, c.a), c.b_first) << c.what;
  }
}

Held idle_for(std::int64_t idle_ms, int child, PoolKey pool, std::int64_t gained_ago = 10'000) {
  return {child, pool, true, false, kNow - idle_ms, kNow - gained_ago, kNow - gained_ago};
}
Held in_use(std::int64_t used_ms, int child, PoolKey pool, std::int64_t gained_ago = 10'000) {
  return {child, pool, false, false, kNow - used_ms, kNow - gained_ago, kNow - gained_ago};
}
Held asked_for(Held held) {
  held.called = true;
  return held;
}

struct VictimCase {
  const char* what;
  Limit limit;
  std::vector<Held> held;
  int victim;              // -1: nothing
  std::int64_t again = 0;  // ms from now; 0: not by time alone
};

void expect_victims(Waiter me, std::span<const VictimCase> cases, std::span<const Waiter> others = {}) {
  const std::int32_t under_way = me.counts.pool;
  for (const VictimCase& c : cases) {
    me.counts.pool = under_way + static_cast<std::int32_t>(std::count_if(c.held.begin(), c.held.end(), [&](const Held& one) { return one.pool == me.pool && !one.called; }));
    const Victim victim = choose_victim(me, c.limit, c.held, others, kNow);
    EXPECT_EQ(victim.lease ? static_cast<int>(*victim.lease) : -1, c.victim) << c.what;
    const std::int64_t again = victim.ask_again_ms == 0 || victim.lease ? 0 : victim.ask_again_ms - kNow;
    EXPECT_EQ(again, c.again) << c.what;
  }
}

TEST(lease_rules, what_is_not_in_use_goes_first) {
  const Waiter me = waiter(0, key(1, 1), 100, limits(kNoLimit, 3));
  const VictimCase cases[] = {
      {"nothing is held", Limit::Database, {}, -1},
      {"the longest idle", Limit::Database, {idle_for(50, 1, key(1, 2)), idle_for(60, 2, key(1, 3)), in_use(1, 3, key(1, 4))}, 1},
      {"though its pool has least", Limit::Database, {in_use(1, 1, key(1, 2)), in_use(2, 1, key(1, 2)), idle_for(20, 2, key(1, 3))}, 2},
      {"mine too", Limit::Database, {idle_for(50, 0, key(1, 2))}, 0},
      {"not what counts elsewhere", Limit::Database, {idle_for(50, 1, key(2, 1)), idle_for(50, 1, key(1, 1, 1))}, -1},
      {"for the user's limit", Limit::User, {idle_for(50, 1, key(1, 2)), idle_for(40, 1, key(2, 1))}, 1},
      {"for the node's limit", Limit::Node, {idle_for(50, 1, key(7, 8)), idle_for(60, 1, key(9, 9, 1))}, 0},
      {"what was asked for is not asked for again", Limit::Database, {asked_for(idle_for(60, 1, key(1, 2))), idle_for(50, 1, key(1, 3))}, 1},
  };
  expect_victims(me, cases);
}

TEST(lease_rules, pools_come_to_equal_shares) {
  Waiter me = waiter(0, key(1, 1), 100, limits(kNoLimit, 3));
  me.pool_gained_ms = kNow - 100;
  const VictimCase cases[] = {
      {"of the pool that has most", Limit::Database, {in_use(9, 1, key(1, 2)), in_use(2, 1, key(1, 3)), in_use(3, 2, key(1, 3))}, 2},
      {"two more: at once", Limit::Database, {in_use(9, 1, key(1, 2), 0), in_use(8, 1, key(1, 2), 0)}, 0},
      {"an instant's idleness is a matter of course", Limit::Database, {in_use(9, 1, key(1, 2), 0), idle_for(1, 1, key(1, 2), 0)}, 1},
      {"its only one, after a slice", Limit::Database, {in_use(9, 1, key(1, 2), 50)}, 0},
      {"not before", Limit::Database, {in_use(9, 1, key(1, 2), 40)}, -1, 10},
      {"idle for an instant: not before either", Limit::Database, {idle_for(0, 1, key(1, 2), 40)}, -1, 10},
      {"its second, against my one: later still", Limit::Database, {in_use(1, 0, key(1, 1)), in_use(9, 1, key(1, 2), 260), in_use(9, 1, key(1, 2), 245)}, -1, 150},
      {"not if I have as much", Limit::Database, {in_use(1, 0, key(1, 1)), in_use(2, 1, key(1, 2))}, -1},
      {"mine in another child counts as mine", Limit::Database, {in_use(1, 1, key(1, 1), 0), in_use(2, 1, key(1, 2))}, -1, 10},
  };
  expect_victims(me, cases);
  me.pool_gained_ms = kNow - 250;
  const VictimCase later[] = {{"both have had theirs for long", Limit::Database, {in_use(1, 0, key(1, 1)), in_use(9, 1, key(1, 2), 260), in_use(9, 1, key(1, 2), 250)}, 1}};
  expect_victims(me, later);
}

TEST(lease_rules, children_of_one_pool_come_to_equal_shares) {
  const PoolKey pool = key(1, 1);
  Waiter me = waiter(0, pool, 100, limits(4));
  me.demand.clients = 6;
  const std::vector<Waiter> other{[&] {
    Waiter one = waiter(1, pool, 100, limits(4));
    one.demand.clients = 6;
    return one;
  }()};
  const VictimCase equal_load[] = {
      {"two more: at once", Limit::Pool, {in_use(1, 1, pool, 0), in_use(2, 1, pool, 0)}, 1},
      {"one more, and I have some", Limit::Pool, {in_use(1, 0, pool), in_use(1, 1, pool), in_use(2, 1, pool)}, -1},
      {"as many", Limit::Pool, {in_use(1, 0, pool), idle_for(0, 1, pool)}, -1, 20},
      {"its only one, after a slice", Limit::Pool, {in_use(1, 1, pool, 10)}, 0},
      {"not before", Limit::Pool, {in_use(1, 1, pool, 7)}, -1, 3},
      {"whatever limit it is that binds", Limit::Database, {in_use(1, 1, pool, 10)}, 0},
  };
  expect_victims(me, equal_load, other);
  // 6 clients here; there as many as are served.
  const VictimCase more_here[] = {
      {"more for those who have more clients to serve", Limit::Pool, {in_use(1, 0, pool), in_use(1, 0, pool), in_use(2, 1, pool), in_use(3, 1, pool)}, 3},
      {"but not the last that they need", Limit::Pool, {in_use(1, 0, pool), in_use(1, 0, pool), in_use(1, 0, pool), in_use(2, 1, pool)}, -1},
      {"two clients are served there", Limit::Pool, {in_use(1, 0, pool), in_use(3, 1, pool), in_use(2, 1, pool), in_use(1, 1, pool)}, 1},
      {"a short slice for one client", Limit::Pool, {in_use(1, 1, pool, 3)}, 0},
      {"but one that has a length", Limit::Pool, {in_use(1, 1, pool, 1)}, -1, 1},
  };
  expect_victims(me, more_here);
  Waiter stranger = waiter(2, key(1, 2), 100, limits(4));
  stranger.pool_gained_ms = kNow - 500;
  const std::vector<Waiter> strangers{stranger};
  const VictimCase beside[] = {{"another pool is about to get it", Limit::Database, {in_use(1, 1, pool, 60)}, -1, 10},
                               {"not yet", Limit::Database, {in_use(1, 1, pool, 40)}, 0}};
  expect_victims(me, beside, strangers);
  const VictimCase soon[] = {
      {"one after the other", Limit::Pool, {in_use(1, 0, pool, 5), in_use(3, 1, pool), in_use(2, 1, pool), in_use(1, 1, pool)}, -1, 15},
      {"from there too", Limit::Pool, {in_use(1, 0, pool), in_use(3, 1, pool, 8), in_use(2, 1, pool), in_use(1, 1, pool)}, -1, 12},
  };
  expect_victims(me, soon);
  me.counts.pool = 1;
  const VictimCase under_way[] = {
      {"it is being closed, or on its way", Limit::Pool, {}, -1, 10},
      {"it was asked for", Limit::Pool, {asked_for(in_use(1, 1, pool))}, -1, 10},
  };
  expect_victims(me, under_way);
}

TEST(lease_rules, what_is_too_much) {
  const std::vector<Held> held{{0, key(1, 1), false, false, 10, 0, 0}, {1, key(1, 1), true, false, 50, 0, 0}, {1, key(1, 1), true, false, 40, 0, 0},
                               {0, key(1, 2), false, false, 5, 0, 0},  {2, key(2, 1), false, false, 1, 0, 0}};
  const auto with = [&](Limits l) { return surplus(held, std::vector<Limits>(held.size(), l)); };
  using Indexes = std::vector<std::size_t>;
  EXPECT_EQ(with(limits(kNoLimit)), Indexes{});
  EXPECT_EQ(with(limits(3)), Indexes{});
  EXPECT_EQ(with(limits(2)), Indexes{2}) << "the longest idle";
  EXPECT_EQ(with(limits(1)), (Indexes{2, 1}));
  EXPECT_EQ(with(limits(0)), (Indexes{2, 1, 4, 3, 0})) << "idle ones, then those longest in use";
  EXPECT_EQ(with(limits(kNoLimit, 1)), (Indexes{2, 1, 3}));
  EXPECT_EQ(with(limits(kNoLimit, kNoLimit, 1)), (Indexes{2, 1, 4}));
  EXPECT_EQ(with(limits(kNoLimit, kNoLimit, kNoLimit, 4)), Indexes{2});
  EXPECT_EQ(with(limits(2, 3)), Indexes{2}) << "one that goes for one limit counts for the other";
  EXPECT_EQ(with(with_reserve(1, 1, 1000)), Indexes{2}) << "the reserve is allowed";
  EXPECT_EQ(with(with_reserve(0, 9, 1000)).size(), 5U) << "but not of what is blocked";
  auto gone = held;
  gone[2].called = true;
  EXPECT_EQ(surplus(gone, std::vector<Limits>(held.size(), limits(2))), Indexes{});
  EXPECT_EQ(surplus(held, {}), Indexes{});
}

RC_GTEST_PROP(lease_rules_property, what_is_left_is_within_every_limit_and_nothing_goes_for_nothing, ()) {
  const auto size = *rc::gen::inRange(0, 40);
  std::vector<Held> held;
  for (int i = 0; i < size; ++i) {
    held.push_back({*rc::gen::inRange(0, 4), key(*rc::gen::inRange(0, 3), *rc::gen::inRange(0, 3), *rc::gen::inRange(0, 2)), *rc::gen::arbitrary<bool>(),
                    false, *rc::gen::inRange<std::int64_t>(1, 100), 0, 0});
  }
  const Limits same = limits(*rc::gen::inRange(0, 6), *rc::gen::inRange(0, 10), *rc::gen::inRange(0, 10), *rc::gen::inRange(0, 20));
  const auto go = surplus(held, std::vector<Limits>(held.size(), same));
  std::vector<bool> gone(held.size(), false);
  for (const std::size_t i : go) {
    RC_ASSERT(!gone[i]);
    gone[i] = true;
  }
  const auto count = [&](Limit limit, PoolKey pool) {
    std::int32_t n = 0;
    for (std::size_t i = 0; i < held.size(); ++i) n += !gone[i] && share(limit, held[i].pool, pool) ? 1 : 0;
    return n;
  };
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (gone[i]) continue;
    RC_ASSERT(count(Limit::Pool, held[i].pool) <= same.pool_size && count(Limit::Database, held[i].pool) <= same.database);
    RC_ASSERT(count(Limit::User, held[i].pool) <= same.user && count(Limit::Node, held[i].pool) <= same.node);
  }
  const bool fits = held.empty() || go.empty();
  if (!fits) {
    // Something was over: the first that goes belongs to a scope that had too many.
    std::fill(gone.begin(), gone.end(), false);
    const PoolKey pool = held[go.front()].pool;
    RC_ASSERT(count(Limit::Pool, pool) > same.pool_size || count(Limit::Database, pool) > same.database || count(Limit::User, pool) > same.user ||
              count(Limit::Node, pool) > same.node);
  }
}

}  // namespace
}  // namespace weir::ledger
