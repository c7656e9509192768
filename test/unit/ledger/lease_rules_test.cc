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
  return {child, pool, kNow - waited_ms, offered_ago < 0 ? 0 : kNow - offered_ago, l, counts};
}

TEST(lease_rules, the_longest_waiting_comes_first) {
  const Limits one = limits(kNoLimit, 1);
  const Waiter me = waiter(0, key(1, 1), 0, one);
  struct {
    const char* what;
    std::vector<Waiter> others;
    Limit refused_by;
    int first;
  } const cases[] = {
      {"nobody else", {}, Limit::None, -1},
      {"another who waited longer, for the same database", {waiter(1, key(1, 2), 100, one)}, Limit::Turn, 0},
      {"about as long", {waiter(1, key(1, 2), 20, one)}, Limit::None, -1},
      {"just longer than that", {waiter(1, key(1, 2), 21, one)}, Limit::Turn, 0},
      {"for another database", {waiter(1, key(2, 2), 100, limits(1))}, Limit::None, -1},
      {"on another node", {waiter(1, key(1, 2, 1), 100, one)}, Limit::None, -1},
      {"the same pool in another child", {waiter(1, key(1, 1), 100, one)}, Limit::Turn, 0},
      {"two of them: the longest is first", {waiter(1, key(1, 2), 100, one), waiter(2, key(1, 3), 200, one)}, Limit::Turn, 1},
      {"it could not have one anyway", {waiter(1, key(1, 2), 100, limits(1, 1), {1, 0, 1, 1})}, Limit::None, -1},
      {"it was offered one and did not come", {waiter(1, key(1, 2), 500, one, {}, 101)}, Limit::None, -1},
      {"it was offered one just now", {waiter(1, key(1, 2), 500, one, {}, 100)}, Limit::Turn, 0},
  };
  for (const auto& c : cases) {
    const TurnVerdict turn = judge_in_turn(me, c.others, kNow);
    EXPECT_EQ(turn.verdict.refused_by, c.refused_by) << c.what;
    EXPECT_EQ(turn.first ? static_cast<int>(*turn.first) : -1, c.first) << c.what;
  }
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
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one), waiter(2, key(1, 2), 9, one)}, kNow), 1U);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one), waiter(2, key(1, 2), 9, one, full)}, kNow), 0U);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one, full)}, kNow), std::nullopt);
  EXPECT_EQ(next_in_line(std::vector{waiter(1, key(1, 1), 5, one), waiter(2, key(1, 2), 9, one, {}, 101)}, kNow), 0U);
}

TEST(lease_rules, who_gives_one_up) {
  const Waiter me = waiter(0, key(1, 1), 100, limits(kNoLimit, 3));
  const auto idle = [](int child, PoolKey pool, std::int64_t since, bool called = false) { return Held{child, pool, true, called, since}; };
  const auto busy = [](int child, PoolKey pool, std::int64_t since, bool called = false) { return Held{child, pool, false, called, since}; };
  struct {
    const char* what;
    Limit limit;
    std::vector<Held> held;
    int victim;
  } const cases[] = {
      {"nothing is held", Limit::Database, {}, -1},
      {"the longest idle", Limit::Database, {idle(1, key(1, 2), 50), idle(2, key(1, 3), 40), busy(3, key(1, 4), 1)}, 1},
      {"an idle one, though its pool has least", Limit::Database, {busy(1, key(1, 2), 1), busy(1, key(1, 2), 2), idle(2, key(1, 3), 90)}, 2},
      {"mine too, if it is idle", Limit::Database, {idle(0, key(1, 2), 50)}, 0},
      {"not what counts elsewhere", Limit::Database, {idle(1, key(2, 1), 50), idle(1, key(1, 1, 1), 40)}, -1},
      {"for the user's limit", Limit::User, {idle(1, key(1, 2), 40), idle(1, key(2, 1), 50)}, 1},
      {"for the node's limit", Limit::Node, {idle(1, key(7, 8), 40), idle(1, key(9, 9, 1), 30)}, 0},
      {"what was asked for is not asked for again", Limit::Database, {idle(1, key(1, 2), 40, true), idle(1, key(1, 3), 50)}, 1},
      {"in use: of the pool that has most", Limit::Database, {busy(1, key(1, 2), 1), busy(1, key(1, 3), 9), busy(2, key(1, 3), 8)}, 2},
      {"of equals, that in use longest", Limit::Database, {busy(1, key(1, 2), 9), busy(1, key(1, 3), 8)}, 1},
      {"not if I have as much", Limit::Database, {busy(0, key(1, 1), 1), busy(1, key(1, 2), 2)}, -1},
      {"if it has more than I", Limit::Database, {busy(0, key(1, 1), 1), busy(1, key(1, 2), 2), busy(1, key(1, 2), 3)}, 1},
      {"my own pool: of the child that has more", Limit::Pool, {busy(0, key(1, 1), 1), busy(1, key(1, 1), 2), busy(1, key(1, 1), 3)}, 1},
      {"my own pool: not of one with as much", Limit::Pool, {busy(0, key(1, 1), 1), busy(1, key(1, 1), 2)}, -1},
  };
  for (const auto& c : cases) {
    const auto victim = choose_victim(me, c.limit, c.held);
    EXPECT_EQ(victim ? static_cast<int>(*victim) : -1, c.victim) << c.what;
  }
}

TEST(lease_rules, own_waiters_first_but_for_those_much_older) {
  EXPECT_TRUE(gives_up(0, 1000)) << "nobody of its own waits";
  EXPECT_FALSE(gives_up(1000, 1000));
  EXPECT_FALSE(gives_up(1000, 980));
  EXPECT_TRUE(gives_up(1000, 979));
  EXPECT_FALSE(gives_up(1000, 5000));
}

TEST(lease_rules, what_is_too_much) {
  const std::vector<Held> held{{0, key(1, 1), false, false, 10}, {1, key(1, 1), true, false, 50}, {1, key(1, 1), true, false, 40},
                               {0, key(1, 2), false, false, 5},  {2, key(2, 1), false, false, 1}};
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
                    false, *rc::gen::inRange<std::int64_t>(1, 100)});
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
