#include "common/ledger/ledger.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/unit/ledger/support.h"

namespace weir::ledger {
namespace {

using Children = std::vector<int>;

const PoolName pool_of_ask{"d", "u", 0};

LedgerPlan plan(int children = 4, int leases = 16) { return {children, leases}; }

std::vector<CallIn> call_ins(Ledger& ledger, int slot, std::int64_t now) {
  std::vector<CallIn> calls;
  EXPECT_TRUE(ledger.call_ins(slot, now, calls));
  return calls;
}

std::vector<LeaseId> evicted(Ledger& ledger, int slot) {
  std::vector<Eviction> all;
  ledger.evictions(slot, all);
  std::vector<LeaseId> leases;
  for (const Eviction& one : all) leases.push_back(one.lease);
  return leases;
}

TEST(Ledger, counts_over_all_children) {
  SharedLedger ledger(plan());
  const Ask ask{.limits = limits(2, 3, kNoLimit, 4)};
  const auto first = ask.of(*ledger, 0);
  ASSERT_EQ(first.outcome, Outcome::Done);
  EXPECT_EQ(ask.of(*ledger, 1).outcome, Outcome::Done);
  auto refused = ask.of(*ledger, 2);
  EXPECT_EQ(refused.outcome, Outcome::Refused);
  EXPECT_EQ(refused.refused_by, Limit::Pool);
  EXPECT_GE(refused.wait, 0);
  Ask other = ask;
  other.user = "v";
  EXPECT_EQ(other.of(*ledger, 2).outcome, Outcome::Done);
  EXPECT_EQ(other.of(*ledger, 3).refused_by, Limit::Database);
  other.database = "e";
  EXPECT_EQ(other.of(*ledger, 3).outcome, Outcome::Done);
  EXPECT_EQ(other.of(*ledger, 3).refused_by, Limit::Node);
  other.node = 1;
  EXPECT_EQ(other.of(*ledger, 3).outcome, Outcome::Done) << "each node by itself";
  EXPECT_EQ(ledger->leased_on(0), 4);
  EXPECT_EQ(ledger->leased_on(1), 1);
  ledger->begin_closing(0, first.lease, 5);
  EXPECT_EQ(ask.of(*ledger, 3).outcome, Outcome::Refused) << "it counts until it is gone";
  const Wakes wakes = ledger->give_back(0, first.lease, 6);
  EXPECT_EQ(woken(wakes).front(), 2) << "who waits for that is told";
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, a_try_leaves_nothing_behind) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(1)};
  ask.of(*ledger, 0);
  ask.may_wait = false;
  const auto refused = ask.of(*ledger, 1);
  EXPECT_EQ(refused.outcome, Outcome::Refused);
  EXPECT_EQ(refused.wait, -1);
  EXPECT_EQ(refused.wakes.count, 0);
  EXPECT_TRUE(call_ins(*ledger, 0, 1).empty());
}

TEST(Ledger, an_idle_lease_is_called_in) {
  SharedLedger ledger(plan());
  const Ask ask{.limits = limits(1)};
  const auto held = ask.of(*ledger, 0);
  ledger->mark_idle(0, held.lease, 1);
  const auto calls_before = ledger->calls(0);
  Ask late = ask;
  late.since = 100;
  const auto waits = late.of(*ledger, 1);
  EXPECT_EQ(woken(waits.wakes), Children{0});
  EXPECT_NE(ledger->calls(0), calls_before);
  const auto calls = call_ins(*ledger, 0, 100);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].lease, held.lease);
  EXPECT_TRUE(calls[0].same_pool);
  EXPECT_EQ(calls[0].waiter_child, 1);
  EXPECT_EQ(calls[0].waiter_wait, waits.wait);
  EXPECT_EQ(calls[0].since_ms, 100);
  EXPECT_TRUE(call_ins(*ledger, 2, 100).empty());
  // Asking again while it is on its way wakes nobody; nor is a second one called.
  late.wait = waits.wait;
  EXPECT_EQ(late.of(*ledger, 1, 110).wakes.count, 0);
  ledger->begin_closing(0, held.lease, 111);
  EXPECT_TRUE(call_ins(*ledger, 0, 112).empty()) << "it was given";
  EXPECT_EQ(late.of(*ledger, 1, 113).outcome, Outcome::Refused);
  EXPECT_EQ(woken(ledger->give_back(0, held.lease, 114)), Children{1});
  const auto granted = late.of(*ledger, 1, 115);
  EXPECT_EQ(granted.outcome, Outcome::Done);
  EXPECT_EQ(granted.wait, -1);
  EXPECT_EQ(ledger->pools().at(0).waiting, 0);
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, who_does_not_answer_is_left_and_another_called) {
  SharedLedger ledger(plan());
  const Ask ask{.limits = limits(2)};
  ledger->mark_idle(0, ask.of(*ledger, 0).lease, 1);
  ledger->mark_idle(1, ask.of(*ledger, 1).lease, 2);
  Ask waits = ask;
  waits.since = 100;
  auto result = waits.of(*ledger, 2);
  EXPECT_EQ(woken(result.wakes), Children{0});
  waits.wait = result.wait;
  EXPECT_EQ(waits.of(*ledger, 2, 100 + kCallPatienceMs).wakes.count, 0);
  EXPECT_EQ(woken(waits.of(*ledger, 2, 101 + kCallPatienceMs).wakes), Children{1});
  EXPECT_TRUE(call_ins(*ledger, 0, 101 + kCallPatienceMs).empty());
}

TEST(Ledger, two_who_wait_call_two) {
  SharedLedger ledger(plan());
  const Ask ask{.limits = limits(kNoLimit, 2)};
  Ask other = ask;
  for (int child : {0, 1}) ledger->mark_idle(child, ask.of(*ledger, child).lease, child + 1);
  other.user = "v";
  other.since = 100;
  EXPECT_EQ(woken(other.of(*ledger, 2).wakes), Children{0});
  other.user = "w";
  EXPECT_EQ(woken(other.of(*ledger, 3).wakes), Children{1});
  const auto calls = call_ins(*ledger, 1, 100);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_FALSE(calls[0].same_pool);
}

TEST(Ledger, the_longest_waiting_is_served_first) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(1)};
  const auto held = ask.of(*ledger, 0);
  ask.since = 100;
  const auto older = ask.of(*ledger, 1);
  ask.since = 200;
  const auto younger = ask.of(*ledger, 2);
  EXPECT_EQ(woken(ledger->give_back(0, held.lease, 300)), Children{1});
  ask.wait = younger.wait;
  const auto turn = ask.of(*ledger, 2, 301);
  EXPECT_EQ(turn.refused_by, Limit::Turn);
  EXPECT_EQ(woken(turn.wakes), Children{1});
  // The older one is stopped and does not come.
  EXPECT_EQ(ask.of(*ledger, 2, 301 + kOfferPatienceMs).outcome, Outcome::Done);
  // It is no worse off when it comes back.
  ask.since = 100;
  ask.wait = older.wait;
  EXPECT_EQ(ask.of(*ledger, 1, 500).refused_by, Limit::Pool);
}

TEST(Ledger, who_stops_waiting_is_in_nobodys_way) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(1)};
  const auto held = ask.of(*ledger, 0);
  ledger->mark_idle(0, held.lease, 2);
  ask.since = 100;
  const auto gone = ask.of(*ledger, 1);
  ledger->stop_waiting(1, gone.wait);
  ledger->stop_waiting(1, gone.wait);
  ledger->stop_waiting(1, -1);
  EXPECT_TRUE(call_ins(*ledger, 0, 101).empty()) << "what was called in for it is not asked for any more";
  ledger->give_back(0, held.lease, 110);
  ask.since = 200;
  EXPECT_EQ(ask.of(*ledger, 2).outcome, Outcome::Done);
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, waiting_rows_are_many_but_not_endless) {
  SharedLedger ledger(plan(2, 16));
  Ask ask{.limits = limits(kNoLimit, kNoLimit, kNoLimit, 1)};
  ask.of(*ledger, 0);
  for (int i = 0; i < Ledger::kWaitsPerChild; ++i) {
    ask.user = "w" + std::to_string(i);
    ASSERT_GE(ask.of(*ledger, 1).wait, 0);
  }
  ask.user = "x";
  const auto refused = ask.of(*ledger, 1);
  EXPECT_EQ(refused.outcome, Outcome::Refused);
  EXPECT_EQ(refused.wait, -1) << "without a place in the line";
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, a_row_that_is_not_the_callers_is_not_believed) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(1)};
  ask.of(*ledger, 0);
  for (const WaitId wait : {WaitId{7}, WaitId{-5}, WaitId{100'000}}) {
    ask.wait = wait;
    const auto refused = ask.of(*ledger, 1);
    EXPECT_EQ(refused.outcome, Outcome::Refused);
    EXPECT_GE(refused.wait, 0);
    ledger->stop_waiting(1, refused.wait);
  }
  EXPECT_DEATH(ledger->mark_idle(0, 16, 1), "");
  EXPECT_DEATH(ledger->mark_idle(4, 0, 1), "");
}

TEST(Ledger, a_connection_changes_hands) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(1)};
  const auto held = ask.of(*ledger, 0);
  ledger->set_backend_pid(0, held.lease, 4711);
  ledger->mark_idle(0, held.lease, 2);
  ask.since = 100;
  const auto waits = ask.of(*ledger, 1);
  EXPECT_EQ(ledger->adopt(1, 0, held.lease, pool_of_ask, waits.wait, 100).outcome, Outcome::Refused) << "it was not given";
  ledger->hand_over(0, held.lease, 101);
  EXPECT_FALSE(ledger->adopted(0, held.lease));
  EXPECT_EQ(ledger->leased_on(0), 1);
  const auto taken = ledger->adopt(1, 0, held.lease, pool_of_ask, waits.wait, 102);
  ASSERT_EQ(taken.outcome, Outcome::Done);
  EXPECT_EQ(taken.wait, -1);
  EXPECT_EQ(ledger->leased_on(0), 1);
  EXPECT_EQ(ledger->pools().at(0).waiting, 0);
  EXPECT_EQ(ledger->audit(), "");
  EXPECT_TRUE(ledger->adopted(0, held.lease));
  EXPECT_FALSE(ledger->adopted(0, held.lease)) << "said once";
  EXPECT_EQ(ledger->adopt(2, 0, held.lease, pool_of_ask, -1, 103).outcome, Outcome::Refused) << "nor can it be taken twice";
  Wakes wakes;
  EXPECT_EQ(ledger->reclaim(1, 110, wakes), Outcome::Done);
  EXPECT_EQ(ledger->orphans().at(0).backend_pid, 4711) << "its backend's pid goes along";
}

TEST(Ledger, what_nobody_adopts_is_the_givers_again) {
  SharedLedger ledger(plan());
  const Ask ask{.limits = limits(1)};
  const auto held = ask.of(*ledger, 0);
  ledger->hand_over(0, held.lease, 2);
  ledger->begin_closing(0, held.lease, 3);
  EXPECT_EQ(ledger->adopt(1, 0, held.lease, pool_of_ask, -1, 4).outcome, Outcome::Refused);
  EXPECT_EQ(ledger->adopt(1, 9, held.lease, pool_of_ask, -1, 4).outcome, Outcome::Refused);
  EXPECT_EQ(ledger->adopt(1, 0, 99, pool_of_ask, -1, 4).outcome, Outcome::Refused);
  ledger->give_back(0, held.lease, 5);
  EXPECT_EQ(ledger->leased_on(0), 0);
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, rows_run_out_with_a_clear_answer) {
  SharedLedger ledger(plan(2, 3));
  const Ask ask{.limits = limits(kNoLimit)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask.of(*ledger, 0).outcome, Outcome::Done);
  EXPECT_EQ(ask.of(*ledger, 0).outcome, Outcome::Full);
  EXPECT_EQ(ask.of(*ledger, 1).outcome, Outcome::Done);
  Ask nowhere = ask;
  for (const int node : {-1, 128, 1 << 30}) {
    nowhere.node = node;
    EXPECT_EQ(nowhere.of(*ledger, 1).outcome, Outcome::Full);
  }
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, names_are_bounded_and_those_unused_make_room) {
  SharedLedger ledger(plan(1, Ledger::kMaxUsers + 10));
  Ask ask{.limits = limits(kNoLimit)};
  // Many who come and go, as somebody does who tries names.
  for (int i = 0; i < 3 * Ledger::kMaxUsers; ++i) {
    ask.user = "guess" + std::to_string(i);
    ask.database = "base" + std::to_string(i);
    const auto lease = ask.of(*ledger, 0);
    ASSERT_EQ(lease.outcome, Outcome::Done) << i;
    ledger->give_back(0, lease.lease, 1);
  }
  ask.database = "d";
  std::vector<LeaseId> leases;
  for (int i = 0; i < Ledger::kMaxUsers; ++i) {
    ask.user = "user" + std::to_string(i);
    const auto lease = ask.of(*ledger, 0);
    ASSERT_EQ(lease.outcome, Outcome::Done) << i;
    leases.push_back(lease.lease);
  }
  ask.user = "one more";
  EXPECT_EQ(ask.of(*ledger, 0).outcome, Outcome::Full);
  ask.user = "user5";
  EXPECT_EQ(ask.of(*ledger, 0).outcome, Outcome::Done) << "those that are known go on";
  ask.user = "one more";
  ledger->give_back(0, leases[7], 2);
  EXPECT_EQ(ask.of(*ledger, 0).outcome, Outcome::Done);
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, long_names_are_cut_as_servers_do) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(1)};
  ask.user = std::string(63, 'x') + "one";
  EXPECT_EQ(ask.of(*ledger, 0).outcome, Outcome::Done);
  ask.user = std::string(63, 'x') + "two";
  EXPECT_EQ(ask.of(*ledger, 1).refused_by, Limit::Pool);
  ask.user = std::string(62, 'x');
  EXPECT_EQ(ask.of(*ledger, 1).outcome, Outcome::Done);
}

TEST(Ledger, limits_set_at_run_time) {
  SharedLedger ledger(plan());
  Override user{OverrideKind::User, "ignored", "u", {}};
  user.limits.max_connections = 0;
  const std::uint64_t before = ledger->overrides_epoch();
  ASSERT_EQ(ledger->set_override(user), Outcome::Done);
  EXPECT_NE(ledger->overrides_epoch(), before);
  AcquireRequest request{.pool = {"d", "u", 0}, .limits = limits(1), .overrides_epoch = before, .since_ms = 1, .demand = {}};
  EXPECT_EQ(ledger->acquire(0, request, 1).outcome, Outcome::Stale) << "a limit that was just set cannot be missed";
  std::vector<Override> all;
  std::uint64_t epoch = 0;
  ASSERT_TRUE(ledger->read_overrides(all, epoch));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].kind, OverrideKind::User);
  EXPECT_EQ(all[0].database, "");
  EXPECT_EQ(all[0].user, "u");
  EXPECT_EQ(all[0].limits.max_connections, 0);
  request.overrides_epoch = epoch;
  EXPECT_EQ(ledger->acquire(0, request, 1).outcome, Outcome::Done);
  user.limits.max_connections = 5;
  EXPECT_EQ(ledger->set_override(user), Outcome::Done);
  ASSERT_TRUE(ledger->read_overrides(all, epoch));
  ASSERT_EQ(all.size(), 1U) << "in the place of the earlier";
  EXPECT_EQ(all[0].limits.max_connections, 5);
  user.limits = {};
  EXPECT_EQ(ledger->set_override(user), Outcome::Done);
  ASSERT_TRUE(ledger->read_overrides(all, epoch));
  EXPECT_TRUE(all.empty());
  EXPECT_EQ(ledger->set_override(user), Outcome::Done) << "nothing to take away";
  user.limits.pool_size = 1;
  for (int i = 0; i < Ledger::kMaxOverrides; ++i) {
    user.user = std::to_string(i);
    ASSERT_EQ(ledger->set_override(user), Outcome::Done);
  }
  user.user = "more";
  EXPECT_EQ(ledger->set_override(user), Outcome::Full);
  user.user = "3";
  EXPECT_EQ(ledger->set_override(user), Outcome::Done);
  EXPECT_EQ(ledger->set_override({OverrideKind::Database, "more", "", {}}), Outcome::Done) << "taking away needs no room";
}

TEST(Ledger, a_lowered_limit_marks_what_is_over_it) {
  SharedLedger ledger(plan());
  const Ask ask{.limits = limits(kNoLimit)};
  const auto a = ask.of(*ledger, 0);
  const auto b = ask.of(*ledger, 1);
  const auto c = ask.of(*ledger, 1);
  ledger->mark_idle(1, c.lease, 9);
  const auto mark = [&](std::int32_t size, std::int64_t now) {
    return ledger->mark_surplus(
        [&](const PoolName& pool) {
          EXPECT_EQ(pool.database, "d");
          EXPECT_EQ(pool.user, "u");
          EXPECT_EQ(pool.node, 0);
          return limits(size);
        },
        now);
  };
  EXPECT_TRUE(mark(3, 20).wake.empty());
  const auto calls = ledger->calls(1);
  EXPECT_EQ(mark(2, 21).wake, Children{1});
  EXPECT_NE(ledger->calls(1), calls);
  EXPECT_EQ(evicted(*ledger, 1), std::vector<LeaseId>{c.lease}) << "the idle one";
  EXPECT_TRUE(evicted(*ledger, 0).empty());
  mark(2, 30);
  std::vector<Eviction> all;
  ledger->evictions(1, all);
  EXPECT_EQ(all.at(0).since_ms, 21) << "since when it should be gone stays";
  mark(0, 40);
  EXPECT_EQ(evicted(*ledger, 0), std::vector<LeaseId>{a.lease});
  EXPECT_EQ(evicted(*ledger, 1), (std::vector<LeaseId>{b.lease, c.lease}));
  mark(kNoLimit, 50);
  EXPECT_TRUE(evicted(*ledger, 0).empty() && evicted(*ledger, 1).empty()) << "raised again";
}

TEST(Ledger, a_dead_childs_leases_count_until_their_backends_are_gone) {
  SharedLedger ledger(plan());
  Ask ask{.limits = limits(2)};
  const auto a = ask.of(*ledger, 1);
  const auto b = ask.of(*ledger, 1);
  ledger->set_backend_pid(1, a.lease, 100);
  ledger->begin_closing(1, b.lease, 5);
  ask.since = 10;
  ask.user = "v";
  ask.limits = limits(kNoLimit, 2);
  const auto waiting = ask.of(*ledger, 0);
  EXPECT_EQ(waiting.outcome, Outcome::Refused);
  ask.of(*ledger, 1);
  Wakes wakes;
  ASSERT_EQ(ledger->reclaim(1, 20, wakes), Outcome::Done);
  const auto orphans = ledger->orphans();
  ASSERT_EQ(orphans.size(), 2U);
  EXPECT_EQ(orphans[0].slot, 1);
  EXPECT_EQ(orphans[0].node, 0);
  EXPECT_EQ(orphans[0].backend_pid, 100);
  EXPECT_EQ(orphans[0].since_ms, 20);
  EXPECT_EQ(orphans[1].backend_pid, 0);
  EXPECT_EQ(ledger->leased_on(0), 2);
  EXPECT_EQ(ledger->pools().at(1).waiting, 1) << "only its own waiting has ended";
  ask.wait = waiting.wait;
  EXPECT_EQ(ask.of(*ledger, 0, 30).outcome, Outcome::Refused);
  // The next child of that slot uses other rows.
  Ask next{.limits = limits(kNoLimit)};
  next.database = "e";
  const auto fresh = next.of(*ledger, 1);
  EXPECT_NE(fresh.lease, a.lease);
  EXPECT_EQ(woken(ledger->free_orphan(1, a.lease, 40)), Children{0});
  ledger->free_orphan(1, a.lease, 40);
  ledger->free_orphan(1, fresh.lease, 40);  // is none
  EXPECT_EQ(ledger->orphans().size(), 1U);
  EXPECT_EQ(ask.of(*ledger, 0, 41).outcome, Outcome::Done);
  EXPECT_EQ(ledger->audit(), "");
}

TEST(Ledger, an_unused_ledger_costs_next_to_nothing) {
  SharedLedger ledger(plan(500, 4096));
  EXPECT_GT(ledger.bytes(), 50U << 20U);
  std::vector<unsigned char> resident((ledger.bytes() + 4095) / 4096);
  const auto pages = [&] {
    EXPECT_EQ(mincore(ledger.memory(), ledger.bytes(), resident.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : resident) count += page & 1U;
    return count;
  };
  EXPECT_LE(pages(), 2U);
  const auto lease = Ask{.limits = limits(1)}.of(*ledger, 3);
  Ask{.limits = limits(1), .since = 50}.of(*ledger, 4);
  ledger->give_back(3, lease.lease, 60);
  EXPECT_LE(pages(), 40U) << "rows of children that do nothing are not touched";
}

}  // namespace
}  // namespace weir::ledger
