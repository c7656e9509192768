#include "common/shmem/mapping.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/sqlstate.h"
#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {
namespace {

std::unique_ptr<Mapping> map(MappingPlan plan) {
  auto made = Mapping::create(plan);
  if (!made) std::abort();
  return std::move(*made);
}

MappingPlan small_plan() {
  MappingPlan plan;
  plan.children = 3;
  plan.sessions_per_child = 50;
  plan.backends_per_child = 40;
  plan.catalog_bytes = 1U << 20U;
  plan.ledger_bytes = 10'000;
  return plan;
}

// Pages of the range that cost memory.
std::size_t pages_in_use(const void* begin, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin) & ~std::uintptr_t{4095};
  const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes + 4095) & ~std::uintptr_t{4095};
  std::vector<unsigned char> resident((last - first) / 4096);
  if (mincore(reinterpret_cast<void*>(first), last - first, resident.data()) != 0) std::abort();
  std::size_t count = 0;
  for (const unsigned char page : resident) count += page & 1U;
  return count;
}

SessionRow client(const std::string& user) {
  SessionRow row;
  row.in_use = true;
  row.user.assign(user);
  row.database.assign("app");
  return row;
}

BackendRow backend(int node) {
  BackendRow row;
  row.in_use = true;
  row.node = node;
  return row;
}

TEST(Mapping, refuses_a_plan_that_makes_no_sense) {
  for (const auto change : {+[](MappingPlan& plan) { plan.children = 0; },
                            +[](MappingPlan& plan) { plan.children = -1; },
                            +[](MappingPlan& plan) { plan.children = 1 << 30; },
                            +[](MappingPlan& plan) { plan.sessions_per_child = 0; },
                            +[](MappingPlan& plan) { plan.backends_per_child = 2'000'000'000; },
                            +[](MappingPlan& plan) { plan.catalog_bytes = SIZE_MAX; },
                            +[](MappingPlan& plan) { plan.ledger_bytes = SIZE_MAX; }}) {
    MappingPlan plan = small_plan();
    change(plan);
    const auto made = Mapping::create(plan);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().sqlstate, sqlstate::kInvalidParameterValue);
  }
}

TEST(Mapping, says_so_when_there_is_no_room) {
  Fork process([] {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_AS, &none);
    const auto made = Mapping::create(small_plan());
    if (made) _exit(1);
    const Error& error = made.error();
    if (error.sqlstate != sqlstate::kOutOfMemory || error.severity != Severity::Fatal || error.hint.empty()) _exit(2);
  });
  EXPECT_TRUE(process.ended_well());
}

TEST(Mapping, parts_do_not_overlap) {
  const auto mapping = map(small_plan());
  std::vector<std::pair<std::uintptr_t, std::size_t>> parts;
  const auto add_bytes = [&](const void* at, std::size_t size) {
    parts.emplace_back(reinterpret_cast<std::uintptr_t>(at), size);
  };
  const auto add = [&](const auto& part) { add_bytes(&part, sizeof(part)); };
  const auto add_span = [&](auto span) { add_bytes(span.data(), span.size_bytes()); };
  add(mapping->status());
  add(mapping->node_table());
  add(mapping->observations());
  add(mapping->suspicions());
  add(mapping->health_requests());
  for (int slot = 0; slot < 3; ++slot) {
    add(mapping->child_row(slot));
    add(mapping->cancel_mailbox(slot));
    add(mapping->requests(slot));
    add_span(mapping->session_rows(slot));
    add_span(mapping->backend_rows(slot));
    EXPECT_EQ(mapping->session_rows(slot).size(), 50U);
    EXPECT_EQ(mapping->backend_rows(slot).size(), 40U);
    EXPECT_EQ(&mapping->session_row(slot, 49), &mapping->session_rows(slot)[49]);
    EXPECT_EQ(&mapping->backend_row(slot, 39), &mapping->backend_rows(slot)[39]);
  }
  add_span(mapping->catalog_region());
  add_span(mapping->ledger_region());
  EXPECT_EQ(mapping->ledger_region().size(), 10'000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping->ledger_region().data()) % 4096, 0U);
  std::sort(parts.begin(), parts.end());
  const auto base = reinterpret_cast<std::uintptr_t>(&mapping->status());
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) EXPECT_LE(parts[i].first + parts[i].second, parts[i + 1].first);
  EXPECT_EQ(parts.front().first, base);
  EXPECT_LE(parts.back().first + parts.back().second, base + mapping->bytes());
  EXPECT_EQ(mapping->catalog_region().size(), 1U << 20U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping->catalog_region().data()) % 4096, 0U);
}

TEST(Mapping, rows_that_nobody_used_cost_nothing) {
  MappingPlan plan = small_plan();
  plan.sessions_per_child = 20'000;
  plan.backends_per_child = 4096;
  const auto mapping = map(plan);
  const auto sessions = mapping->session_rows(1);
  const auto backends = mapping->backend_rows(1);
  EXPECT_EQ(pages_in_use(sessions.data(), sessions.size_bytes()), 0U);
  EXPECT_EQ(pages_in_use(backends.data(), backends.size_bytes()), 0U);
  EXPECT_EQ(pages_in_use(&mapping->observations(), sizeof(Observations)), 0U);
  // What an idle client costs: its row and nothing else.
  for (std::size_t i = 0; i < 1000; ++i) sessions[i].publish(client("u"));
  mapping->child_row(1).session_slots = 1000;
  EXPECT_LE(pages_in_use(sessions.data(), sessions.size_bytes()), 1000U * 512 / 4096);
  // Nor does looking for the rows in use touch the others.
  std::size_t found = 0;
  for (const auto& slot : mapping->used_session_rows(1)) {
    SessionRow row;
    if (slot.read(row) && row.in_use) ++found;
  }
  EXPECT_EQ(found, 1000U);
  EXPECT_TRUE(mapping->used_backend_rows(1).empty());
  mapping->reset_child(1);
  EXPECT_LE(pages_in_use(sessions.data(), sessions.size_bytes()), 1000U * 512 / 4096);
  EXPECT_EQ(pages_in_use(backends.data(), backends.size_bytes()), 0U);
}

TEST(Mapping, is_shared_with_what_is_forked) {
  const auto mapping = map(small_plan());
  mapping->status().started_at = 12345;
  Fork child([&] {
    if (mapping->status().started_at != 12345) _exit(1);
    mapping->child_row(2).pid = getpid();
    mapping->session_row(2, 7).publish(client("alice"));
    mapping->requests(2).push({Request::Kind::NodeSeen, 5});
    mapping->suspicions().add(3);
    for (int i = 0; i < 10; ++i) mapping->counts(2, 1).count(StatementClass::Select);
    mapping->counts(2, 1).count(ErrorClass::Fatal);
    mapping->counts(2, 1).count_decision(7);
    mapping->counts(2, 1).count_dry_run(kMaxReasons - 1);
    mapping->counts(2, 1).count_decision(kMaxReasons);  // there is none such
  });
  const pid_t pid = child.pid();
  ASSERT_TRUE(child.ended_well());
  EXPECT_EQ(mapping->child_row(2).pid, pid);
  SessionRow row;
  ASSERT_TRUE(mapping->session_row(2, 7).read(row));
  EXPECT_EQ(row.user.view(), "alice");
  EXPECT_EQ(mapping->suspicions().count(3), 1U);
  EXPECT_EQ(mapping->suspicions().count(2), 0U);
  mapping->counts(0, 1).count(StatementClass::Select);
  EXPECT_EQ(mapping->selects(1), 11U);
  const NodeTotals totals = mapping->totals(1);
  EXPECT_EQ(totals.of(StatementClass::Select), 11U);
  EXPECT_EQ(totals.of(StatementClass::Other), 0U);
  EXPECT_EQ(totals.of(ErrorClass::Fatal), 1U);
  EXPECT_EQ(totals.decisions[7], 1U);
  EXPECT_EQ(totals.dry_runs[kMaxReasons - 1], 1U);
  EXPECT_EQ(mapping->totals(2).of(StatementClass::Select), 0U);
  EXPECT_EQ(mapping->requests(2).pop()->node, 5);
}

TEST(Mapping, a_dead_child_leaves_an_empty_slot) {
  const auto mapping = map(small_plan());
  Fork child([&] {
    ChildRow& row = mapping->child_row(1);
    row.pid = getpid();
    row.state = ChildState::Running;
    row.clients = 3;
    row.served = 9;
    row.waiting = 1;
    row.session_slots = 3;
    row.backend_slots = 2;
    for (int i = 0; i < 3; ++i) mapping->session_row(1, i).publish(client("bob"));
    mapping->backend_row(1, 0).publish(backend(0));
    mapping->backend_row(1, 1).publish(backend(1));
    mapping->requests(1).push({Request::Kind::NodeSeen, 4});
    mapping->session_row(1, 2).publish(client("carol"), die);
  });
  mapping->cancel_mailbox(1).post({1, 2});
  mapping->cancel_mailbox(0).post({3, 4});
  ASSERT_TRUE(child.was_killed());
  mapping->session_row(0, 0).publish(client("other"));
  mapping->reset_child(1);
  const ChildRow& row = mapping->child_row(1);
  EXPECT_EQ(row.pid, 0);
  EXPECT_EQ(row.state, ChildState::Empty);
  EXPECT_EQ(row.clients, 0U);
  EXPECT_EQ(row.waiting, 0U);
  EXPECT_EQ(row.restarts, 1U);
  EXPECT_EQ(mapping->used_session_rows(1).size(), 3U);
  for (const auto& slot : mapping->used_session_rows(1)) {
    SessionRow session;
    ASSERT_TRUE(slot.read(session));
    EXPECT_FALSE(session.in_use);
    EXPECT_EQ(session.user.view(), "");
  }
  for (const auto& slot : mapping->used_backend_rows(1)) {
    BackendRow server;
    ASSERT_TRUE(slot.read(server));
    EXPECT_FALSE(server.in_use);
  }
  EXPECT_TRUE(mapping->cancel_mailbox(1).drain().empty());
  EXPECT_EQ(mapping->cancel_mailbox(0).drain().size(), 1U) << "other children keep theirs";
  SessionRow other;
  ASSERT_TRUE(mapping->session_row(0, 0).read(other));
  EXPECT_TRUE(other.in_use);
  EXPECT_EQ(mapping->requests(1).pop()->node, 4) << "what it asked for is still asked for";
  // The next child goes on in the same slot.
  mapping->session_row(1, 2).publish(client("dave"));
  SessionRow session;
  ASSERT_TRUE(mapping->session_row(1, 2).read(session));
  EXPECT_EQ(session.user.view(), "dave");
}

TEST(Mapping, counts_of_a_child_that_went_wrong_are_not_believed) {
  const auto mapping = map(small_plan());
  mapping->child_row(0).session_slots = 4'000'000'000;
  mapping->child_row(0).backend_slots = 4'000'000'000;
  EXPECT_EQ(mapping->used_session_rows(0).size(), 50U);
  EXPECT_EQ(mapping->used_backend_rows(0).size(), 40U);
  mapping->reset_child(0);
}

TEST(Mapping, a_slot_out_of_range_ends_the_process) {
  const auto mapping = map(small_plan());
  EXPECT_DEATH(mapping->child_row(3), "");
  EXPECT_DEATH(mapping->child_row(-1), "");
  EXPECT_DEATH(mapping->session_row(0, 50), "");
  EXPECT_DEATH(mapping->backend_row(0, -1), "");
}

TEST(Mapping, requests_of_all_processes_are_drained_a_turn_at_a_time) {
  const auto mapping = map(small_plan());
  mapping->health_requests().push({Request::Kind::Promote, 100});
  for (int slot = 0; slot < 3; ++slot) mapping->requests(slot).push({Request::Kind::NodeSeen, slot});
  std::multiset<int> nodes;
  mapping->drain_requests([&](const Request& request) { nodes.insert(request.node); });
  EXPECT_EQ(nodes, (std::multiset<int>{0, 1, 2, 100}));
  // A producer that never stops does not keep the parent.
  mapping->requests(0).push({Request::Kind::NodeSeen, 0});
  std::size_t taken = 0;
  mapping->drain_requests([&](const Request& request) {
    ++taken;
    mapping->requests(0).push(request);
  });
  EXPECT_EQ(taken, RequestRing::kCapacity);
}

TEST(Mapping, siblings_are_the_other_running_children) {
  const auto mapping = map(small_plan());
  Siblings siblings = mapping->siblings(0);
  EXPECT_EQ(siblings.running, 0);
  EXPECT_EQ(siblings.mean_clients, 0.0);
  EXPECT_FALSE(siblings.one_has_room);
  for (int slot = 0; slot < 3; ++slot) mapping->child_row(slot).state = ChildState::Running;
  mapping->child_row(0).clients = 100;
  mapping->child_row(1).clients = 4;
  mapping->child_row(2).clients = 7;
  mapping->child_row(1).waiting = 1;
  mapping->child_row(2).waiting = 2;
  siblings = mapping->siblings(0);
  EXPECT_EQ(siblings.running, 2);
  EXPECT_DOUBLE_EQ(siblings.mean_clients, 5.5);
  EXPECT_FALSE(siblings.one_has_room);
  mapping->child_row(2).waiting = 0;
  EXPECT_TRUE(mapping->siblings(0).one_has_room);
  mapping->child_row(2).state = ChildState::Draining;
  siblings = mapping->siblings(0);
  EXPECT_EQ(siblings.running, 1);
  EXPECT_DOUBLE_EQ(siblings.mean_clients, 4.0);
  EXPECT_FALSE(siblings.one_has_room);
  EXPECT_EQ(mapping->total_clients(), 111U);
}

TEST(Mapping, health_that_died_leaves_what_it_saw_last) {
  const auto mapping = map(small_plan());
  Observation seen;
  seen.answer = Answer::Ok;
  seen.lsn = 77;
  Fork health([&] {
    mapping->observations().publish(1, seen);
    mapping->observations().publish(1, seen);
  });
  ASSERT_TRUE(health.ended_well());
  EXPECT_EQ(mapping->observations().changes(), 2U);
  mapping->reset_health();
  Observation now;
  ASSERT_TRUE(mapping->observations().read(1, now));
  EXPECT_EQ(now.lsn, 77U);
  ASSERT_TRUE(mapping->observations().read(0, now));
  EXPECT_EQ(now.answer, Answer::None);
  EXPECT_THROW(mapping->observations().publish(kMaxNodes, seen), std::out_of_range);
  EXPECT_THROW(mapping->suspicions().add(-1), std::out_of_range);
}

}  // namespace
}  // namespace weir::shmem
