// Simulated children under a simulated clock, with the real ledger between them: nobody starves, shares come out equal, and
// no limit is ever exceeded, whatever the demand.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "test/unit/ledger/support.h"

namespace weir::ledger {
namespace {

constexpr std::int64_t kStart = 1000;
constexpr std::int64_t kClosing = 2;  // ms until a server has ended a backend
constexpr std::int64_t kHanding = 1;
constexpr std::int64_t kRetry = 50;

struct Name {
  int database = 0;
  int user = 0;
  auto operator<=>(const Name&) const = default;
};

// What the test itself counts, apart from the ledger.
struct Truth {
  std::map<Name, int> pools;
  std::map<int, int> databases, users;
  int all = 0;
  Limits limits;
  std::int64_t opening = 3;  // ms that a login takes
  std::map<Name, int> served;
  std::map<std::pair<Name, int>, int> served_by;  // and child
  std::int64_t longest_wait = 0;
  int opened = 0;
  int handed = 0;

  void add(Name name, int change) {
    for (int* count : {&pools[name], &databases[name.database], &users[name.user], &all}) *count += change;
  }
  bool within() const {
    const auto over = [](const auto& counts, std::int32_t limit) { return std::any_of(counts.begin(), counts.end(), [&](const auto& c) { return c.second > limit; }); };
    return !over(pools, limits.pool_size) && !over(databases, limits.database) && !over(users, limits.user) && all <= limits.node;
  }
};

// A child as it uses the ledger: a cache of backends for each pool and a queue of those who wait.
class SimulatedChild {
 public:
  SimulatedChild(Ledger& ledger, int slot, Truth& truth) : ledger_(ledger), slot_(slot), truth_(truth) {}

  void arrive(Name name, std::int64_t now, std::int64_t work) { groups_[name].waiting.push_back({now, work, -1}); }
  // One that asks again and again: THINKS ms after each answer, for WORK ms.
  void add_loop(Name name, std::int64_t thinks, std::int64_t work) { loops_.push_back({name, thinks, work, kStart}); }
  void wake() { woken_ = true; }
  // A sibling has sent a connection.
  struct Parcel {
    int to = -1;
    int giver = -1;
    LeaseId lease = -1;
    Name name;
    std::int64_t arrives = 0;
  };
  void deliver(const Parcel& parcel) { inbox_.push_back(parcel); }
  std::vector<Parcel> take_outbox() { return std::exchange(outbox_, {}); }

  // Returns whom to wake.
  std::set<int> turn(std::int64_t now) {
    wakes_.clear();
    const bool woken = std::exchange(woken_, false);
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      Loop& loop = loops_[i];
      if (loop.asks_at < 0 || loop.asks_at > now) continue;
      loop.asks_at = -1;
      groups_[loop.name].waiting.push_back({now, loop.work, static_cast<int>(i)});
    }
    for (auto& [name, group] : groups_) finish(name, group, now);
    take_in(now);
    answer_calls(now);
    for (auto& [name, group] : groups_) serve(name, group, now, woken);
    return wakes_;
  }

 private:
  enum class State { Idle, Busy, Closing, Handed };
  struct Backend {
    LeaseId lease;
    State state;
    std::int64_t until;
    std::int64_t login_until = 0;
    int loop = -1;
  };
  struct Client {
    std::int64_t since;
    std::int64_t work;
    int loop;
  };
  struct Loop {
    Name name;
    std::int64_t thinks;
    std::int64_t work;
    std::int64_t asks_at;  // -1: waits or is served
  };
  struct Group {
    std::vector<Backend> backends;
    std::deque<Client> waiting;
    WaitId wait = -1;
    std::int64_t retry = 0;
    std::int64_t gained = 0;
    Demand demand() const {
      const auto held = std::count_if(backends.begin(), backends.end(), [](const Backend& b) { return b.state == State::Idle || b.state == State::Busy; });
      const auto busy = std::count_if(backends.begin(), backends.end(), [](const Backend& b) { return b.state == State::Busy; });
      return {static_cast<std::int32_t>(held), static_cast<std::int32_t>(busy) + static_cast<std::int32_t>(waiting.size()), gained};
    }
  };

  void note(const Wakes& wakes) { wakes_.insert(wakes.children, wakes.children + wakes.count); }

  void finish(Name name, Group& group, std::int64_t now) {
    for (Backend& backend : group.backends) {
      if (backend.login_until != 0 && backend.login_until <= now) {
        backend.login_until = 0;
        ledger_.mark_ready(slot_, backend.lease, now);
      }
      if (backend.state == State::Busy && backend.until <= now) {
        if (backend.loop >= 0) loops_[static_cast<std::size_t>(backend.loop)].asks_at = now + loops_[static_cast<std::size_t>(backend.loop)].thinks;
        backend.loop = -1;
        backend.state = State::Idle;
        ledger_.mark_idle(slot_, backend.lease, now);
      }
    }
    std::erase_if(group.backends, [&](const Backend& backend) { return backend.state == State::Handed && ledger_.adopted(slot_, backend.lease); });
    std::erase_if(group.backends, [&](const Backend& backend) {
      if (backend.state != State::Closing || backend.until > now) return false;
      truth_.add(name, -1);
      note(ledger_.give_back(slot_, backend.lease, now));
      return true;
    });
  }

  void take_in(std::int64_t now) {
    for (auto it = inbox_.begin(); it != inbox_.end();) {
      if (it->arrives > now) {
        ++it;
        continue;
      }
      Group& group = groups_[it->name];
      const auto result = ledger_.adopt(slot_, it->giver, it->lease, {std::to_string(it->name.database), std::to_string(it->name.user), 0}, group.wait, now);
      EXPECT_EQ(result.outcome, Outcome::Done);
      group.wait = result.wait;
      group.gained = now;
      ++truth_.handed;
      note(result.wakes);
      ledger_.mark_idle(slot_, result.lease, now);
      group.backends.push_back({result.lease, State::Idle, 0});
      it = inbox_.erase(it);
    }
  }

  void answer_calls(std::int64_t now) {
    std::vector<CallIn> calls;
    if (!ledger_.call_ins(slot_, now, calls)) return;
    std::erase_if(fulfilled_, [&](const CallIn& done) { return now - done.called_ms > kCallPatienceMs; });
    for (const CallIn& call : calls) {
      for (auto& [name, group] : groups_) {
        const bool mine = std::any_of(group.backends.begin(), group.backends.end(), [&](const Backend& b) { return b.lease == call.lease; });
        if (!mine || std::any_of(fulfilled_.begin(), fulfilled_.end(), [&](const CallIn& done) { return done.is_same(call); })) continue;
        const auto idle = std::find_if(group.backends.begin(), group.backends.end(), [](const Backend& b) { return b.state == State::Idle; });
        if (idle == group.backends.end()) continue;
        fulfilled_.push_back(call);
        if (call.same_pool) {
          idle->state = State::Handed;
          ledger_.hand_over(slot_, idle->lease, now);
          outbox_.push_back({call.waiter_child, slot_, idle->lease, name, now + kHanding});
          continue;
        }
        idle->state = State::Closing;
        idle->until = now + kClosing;
        ledger_.begin_closing(slot_, idle->lease, now);
      }
    }
  }

  void give(Name name, Group& group, Backend& backend, std::int64_t now, std::int64_t from) {
    const Client client = group.waiting.front();
    group.waiting.pop_front();
    backend.state = State::Busy;
    backend.until = from + client.work;
    backend.loop = client.loop;
    ++truth_.served_by[{name, slot_}];
    ledger_.mark_in_use(slot_, backend.lease, now);
    ++truth_.served[name];
    truth_.longest_wait = std::max(truth_.longest_wait, now - client.since);
    if (group.waiting.empty()) {
      ledger_.stop_waiting(slot_, std::exchange(group.wait, -1));
    } else {
      ledger_.set_waiting_since(slot_, group.wait, group.waiting.front().since, group.demand());
    }
  }

  void serve(Name name, Group& group, std::int64_t now, bool woken) {
    for (Backend& backend : group.backends) {
      if (backend.state == State::Idle && !group.waiting.empty()) give(name, group, backend, now, now);
    }
    while (!group.waiting.empty() && (woken || group.wait < 0 || now >= group.retry)) {
      group.retry = now + kRetry;
      Ask ask{.database = std::to_string(name.database), .user = std::to_string(name.user), .limits = truth_.limits, .since = group.waiting.front().since, .wait = group.wait, .demand = group.demand()};
      const auto result = ask.of(ledger_, slot_, now);
      group.wait = result.wait;
      note(result.wakes);
      if (result.ask_again_ms != 0) group.retry = std::clamp(result.ask_again_ms, now + 1, group.retry);
      if (result.outcome != Outcome::Done) return;
      group.gained = now;
      ++truth_.opened;
      truth_.add(name, 1);
      group.backends.push_back({result.lease, State::Busy, 0, now + truth_.opening});
      give(name, group, group.backends.back(), now, now + truth_.opening);
    }
  }

  Ledger& ledger_;
  int slot_;
  Truth& truth_;
  std::map<Name, Group> groups_;
  std::vector<Loop> loops_;
  std::vector<Parcel> inbox_;
  std::vector<Parcel> outbox_;
  std::vector<CallIn> fulfilled_;
  std::set<int> wakes_;
  bool woken_ = false;
};

class Simulation {
 public:
  Simulation(int children, Limits limits, std::uint64_t seed) : ledger_({children, 200}), random_(seed) {
    truth.limits = limits;
    for (int slot = 0; slot < children; ++slot) children_.emplace_back(*ledger_, slot, truth);
  }

  // CLIENTS of NAME in each child, which ask again some ms after they were served: so many per second come from each.
  void demand(Name name, int clients, int pause) { demands_.push_back({name, clients, pause}); }

  // CLIENTS of NAME in the child of SLOT that ask as soon as they have an answer, but for THINKS ms.
  void loops(Name name, int slot, int clients, std::int64_t thinks, std::int64_t work) {
    for (int i = 0; i < clients; ++i) children_[static_cast<std::size_t>(slot)].add_loop(name, thinks, work);
  }

  void run(std::int64_t milliseconds, bool& always_within) {
    always_within = true;
    for (const std::int64_t end = now_ + milliseconds; now_ < end; ++now_) {
      const std::int64_t now = now_;
      for (std::size_t slot = 0; slot < children_.size(); ++slot) {
        for (const Demand& demand : demands_) {
          for (int i = 0; i < demand.clients; ++i) {
            if (random_.next() % static_cast<std::uint64_t>(demand.pause) == 0) {
              children_[slot].arrive(demand.name, now, 1 + static_cast<std::int64_t>(random_.next() % 4));
            }
          }
        }
        for (const int child : children_[slot].turn(now)) children_[static_cast<std::size_t>(child)].wake();
        for (const SimulatedChild::Parcel& parcel : children_[slot].take_outbox()) children_[static_cast<std::size_t>(parcel.to)].deliver(parcel);
        always_within = always_within && truth.within();
      }
    }
    EXPECT_EQ(ledger_->audit(), "");
  }

  Truth truth;

 private:
  struct Demand {
    Name name;
    int clients;
    int pause;
  };
  SharedLedger ledger_;
  Random random_;
  std::int64_t now_ = kStart;
  std::vector<SimulatedChild> children_;
  std::vector<Demand> demands_;
};

void expect_within_of_each_other(const std::vector<int>& served, int percent) {
  const auto [least, most] = std::minmax_element(served.begin(), served.end());
  EXPECT_GE(*least * 100, *most * percent) << *least << " ... " << *most;
}

// Three users, one limit, the same load: as much for each, be the load above or below what there is.
void expect_equal_shares(Limits limits, int children, int users, bool by_database) {
  Simulation simulation(children, limits, 7);
  for (int i = 0; i < users; ++i) simulation.demand(by_database ? Name{i, 1} : Name{1, i}, 1, 2);
  bool within = false;
  simulation.run(8'000, within);
  EXPECT_TRUE(within);
  int least = 1 << 30;
  int most = 0;
  int all = 0;
  for (const auto& [name, served] : simulation.truth.served) {
    least = std::min(least, served);
    most = std::max(most, served);
    all += served;
  }
  EXPECT_EQ(simulation.truth.served.size(), static_cast<std::size_t>(users));
  EXPECT_GE(least * 100, most * 60) << least << " ... " << most;
  // A connection is opened now and then, not for every client.
  EXPECT_LE(simulation.truth.opened * 3, all) << simulation.truth.opened << " opened for " << all;
}

TEST(ledger_simulation, three_users_at_one_limit_get_equal_shares) {
  for (const std::int32_t limit : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(limit);
    expect_equal_shares(limits(kNoLimit, limit), 2, 3, false);
  }
}

TEST(ledger_simulation, three_databases_of_one_user_get_equal_shares) { expect_equal_shares(limits(kNoLimit, kNoLimit, 2), 3, 3, true); }

TEST(ledger_simulation, five_users_at_the_ceiling_of_a_node_get_equal_shares) {
  expect_equal_shares(limits(kNoLimit, kNoLimit, kNoLimit, 4), 4, 5, false);
}

TEST(ledger_simulation, one_pool_over_several_children) {
  for (const std::int32_t limit : {1, 2, 4}) expect_equal_shares(limits(limit), 4, 1, false);
}

TEST(ledger_simulation, one_who_asks_little_is_served_beside_those_who_ask_much) {
  Simulation simulation(2, limits(kNoLimit, 2), 3);
  simulation.demand({1, 1}, 4, 2);
  simulation.demand({1, 2}, 4, 2);
  simulation.demand({1, 3}, 1, 500);
  bool within = false;
  simulation.run(5'000, within);
  EXPECT_TRUE(within);
  // The two ask for far more than there is; first come, first served, is then a matter of what was asked.
  EXPECT_GT(simulation.truth.served[(Name{1, 3})], 0);
}

// Clients that ask again at once: a connection is idle for an instant, or not even that, and a login costs as much as ten exchanges.
TEST(ledger_simulation, equal_shares_where_nothing_is_ever_idle_for_long) {
  for (const std::int32_t limit : {1, 2, 3, 4, 5, 7}) {
    for (const int clients : {1, 3}) {
      for (const std::int64_t thinks : {0, 1, 2}) {
        SCOPED_TRACE(testing::Message() << "limit " << limit << ", clients " << clients << ", pause " << thinks);
        Simulation simulation(2, limits(kNoLimit, limit), 5);
        simulation.truth.opening = 25;
        for (int user = 0; user < 3; ++user) {
          for (int slot = 0; slot < 2; ++slot) simulation.loops({1, user}, slot, clients, thinks, 3);
        }
        bool within = false;
        simulation.run(8'000, within);
        EXPECT_TRUE(within);
        std::vector<int> by_user;
        for (const auto& [name, served] : simulation.truth.served) by_user.push_back(served);
        ASSERT_EQ(by_user.size(), 3U);
        expect_within_of_each_other(by_user, 75);
        std::vector<int> by_child;
        for (const auto& [key, served] : simulation.truth.served_by) by_child.push_back(served);
        ASSERT_EQ(by_child.size(), 6U);
        expect_within_of_each_other(by_child, 40);
        // Each connection changes hands once a slice (50 ms and a login) at most.
        EXPECT_LE(simulation.truth.opened, std::max(limit, 2) * (8'000 / 75) + 20);
        EXPECT_LT(simulation.truth.longest_wait, 600);
      }
    }
  }
}

// One user alone has much: who shares the limit with it gets as much as it asks for.
TEST(ledger_simulation, one_with_a_few_clients_beside_one_with_many) {
  Simulation simulation(2, limits(kNoLimit, 4), 5);
  simulation.truth.opening = 25;
  for (int slot = 0; slot < 2; ++slot) {
    simulation.loops({1, 1}, slot, 30, 0, 3);
    simulation.loops({1, 2}, slot, 2, 0, 3);
  }
  bool within = false;
  simulation.run(8'000, within);
  EXPECT_TRUE(within);
  expect_within_of_each_other({simulation.truth.served[(Name{1, 1})], simulation.truth.served[(Name{1, 2})]}, 80);
}

// Once everybody has its share, nothing moves.
TEST(ledger_simulation, children_with_the_same_load_leave_each_other_alone) {
  for (const std::int32_t size : {2, 3, 8, 20}) {
    for (const std::int64_t thinks : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", pause " << thinks);
      Simulation simulation(2, limits(size), 5);
      simulation.truth.opening = 25;
      for (int slot = 0; slot < 2; ++slot) simulation.loops({1, 1}, slot, 32, thinks, 2);
      bool within = false;
      simulation.run(2'000, within);
      EXPECT_TRUE(within);
      const int opened = simulation.truth.opened;
      const int handed = simulation.truth.handed;
      simulation.truth.served_by.clear();
      simulation.run(4'000, within);
      EXPECT_TRUE(within);
      EXPECT_EQ(simulation.truth.opened, opened);
      EXPECT_LE(simulation.truth.handed - handed, size == 3 ? 400 : 4);
      expect_within_of_each_other({simulation.truth.served_by[{{1, 1}, 0}], simulation.truth.served_by[{{1, 1}, 1}]}, size == 3 ? 45 : 80);
    }
  }
}

TEST(ledger_simulation, one_connection_goes_from_child_to_child_without_a_login) {
  Simulation simulation(2, limits(1), 5);
  simulation.truth.opening = 25;
  for (int slot = 0; slot < 2; ++slot) simulation.loops({1, 1}, slot, 1, 1, 2);
  bool within = false;
  simulation.run(4'000, within);
  EXPECT_TRUE(within);
  EXPECT_EQ(simulation.truth.opened, 1);
  expect_within_of_each_other({simulation.truth.served_by[{{1, 1}, 0}], simulation.truth.served_by[{{1, 1}, 1}]}, 80);
  EXPECT_LT(simulation.truth.longest_wait, 100);
}

// Demand below capacity: everybody is served soon.
RC_GTEST_PROP(ledger_simulation_property, never_over_a_limit_and_nobody_starves, ()) {
  const int children = *rc::gen::inRange(1, 5);
  const Limits l = limits(*rc::gen::inRange(1, 5), *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 8));
  Simulation simulation(children, l, *rc::gen::arbitrary<std::uint64_t>());
  const int pools = *rc::gen::inRange(1, 6);
  std::set<Name> names;
  for (int i = 0; i < pools; ++i) names.insert({*rc::gen::inRange(0, 3), *rc::gen::inRange(0, 3)});
  // Some 3 ms of work and 5 ms of a change of hands each: one lease serves 100 a second.
  const int pause = static_cast<int>(names.size()) * children * 12;
  for (const Name& name : names) simulation.demand(name, 1, pause);
  bool within = false;
  simulation.run(2'000, within);
  RC_ASSERT(within);
  RC_ASSERT(simulation.truth.served.size() == names.size());
  RC_ASSERT(simulation.truth.longest_wait < 1'500);
}

}  // namespace
}  // namespace weir::ledger
