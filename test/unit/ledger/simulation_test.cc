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
constexpr std::int64_t kOpening = 3;
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
  std::map<Name, int> served;
  std::int64_t longest_wait = 0;
  int opened = 0;

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

  void arrive(Name name, std::int64_t now, std::int64_t work) { groups_[name].waiting.push_back({now, work}); }
  void wake() { woken_ = true; }

  // Returns whom to wake.
  std::set<int> turn(std::int64_t now) {
    wakes_.clear();
    const bool woken = std::exchange(woken_, false);
    for (auto& [name, group] : groups_) finish(name, group, now);
    answer_calls(now);
    for (auto& [name, group] : groups_) serve(name, group, now, woken);
    return wakes_;
  }

 private:
  enum class State { Idle, Busy, Closing };
  struct Backend {
    LeaseId lease;
    State state;
    std::int64_t until;
  };
  struct Client {
    std::int64_t since;
    std::int64_t work;
  };
  struct Group {
    std::vector<Backend> backends;
    std::deque<Client> waiting;
    WaitId wait = -1;
    std::int64_t retry = 0;
  };

  void note(const Wakes& wakes) { wakes_.insert(wakes.children, wakes.children + wakes.count); }

  void finish(Name name, Group& group, std::int64_t now) {
    for (Backend& backend : group.backends) {
      if (backend.state == State::Busy && backend.until <= now) {
        backend.state = State::Idle;
        ledger_.mark_idle(slot_, backend.lease, now);
      }
    }
    std::erase_if(group.backends, [&](const Backend& backend) {
      if (backend.state != State::Closing || backend.until > now) return false;
      truth_.add(name, -1);
      note(ledger_.give_back(slot_, backend.lease, now));
      return true;
    });
  }

  void answer_calls(std::int64_t now) {
    std::vector<CallIn> calls;
    if (!ledger_.call_ins(slot_, now, calls)) return;
    for (const CallIn& call : calls) {
      for (auto& [name, group] : groups_) {
        const bool mine = std::any_of(group.backends.begin(), group.backends.end(), [&](const Backend& b) { return b.lease == call.lease; });
        const std::int64_t own = group.waiting.empty() ? 0 : group.waiting.front().since;
        if (!mine || !gives_up(own, call.since_ms)) continue;
        const auto idle = std::find_if(group.backends.begin(), group.backends.end(), [](const Backend& b) { return b.state == State::Idle; });
        if (idle == group.backends.end()) continue;
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
    ledger_.mark_in_use(slot_, backend.lease, now);
    ++truth_.served[name];
    truth_.longest_wait = std::max(truth_.longest_wait, now - client.since);
    if (group.waiting.empty()) {
      ledger_.stop_waiting(slot_, std::exchange(group.wait, -1));
    } else {
      ledger_.set_waiting_since(slot_, group.wait, group.waiting.front().since);
    }
  }

  void serve(Name name, Group& group, std::int64_t now, bool woken) {
    for (Backend& backend : group.backends) {
      if (backend.state == State::Idle && !group.waiting.empty()) give(name, group, backend, now, now);
    }
    while (!group.waiting.empty() && (woken || group.wait < 0 || now >= group.retry)) {
      group.retry = now + kRetry;
      Ask ask{.database = std::to_string(name.database), .user = std::to_string(name.user), .limits = truth_.limits, .since = group.waiting.front().since, .wait = group.wait};
      const auto result = ask.of(ledger_, slot_, now);
      group.wait = result.wait;
      note(result.wakes);
      if (result.outcome != Outcome::Done) return;
      ++truth_.opened;
      truth_.add(name, 1);
      group.backends.push_back({result.lease, State::Busy, 0});
      give(name, group, group.backends.back(), now, now + kOpening);
    }
  }

  Ledger& ledger_;
  int slot_;
  Truth& truth_;
  std::map<Name, Group> groups_;
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

  void run(std::int64_t milliseconds, bool& always_within) {
    always_within = true;
    std::map<std::pair<std::size_t, int>, int> asked;  // by demand and child
    for (std::int64_t now = kStart; now < kStart + milliseconds; ++now) {
      for (std::size_t slot = 0; slot < children_.size(); ++slot) {
        for (const Demand& demand : demands_) {
          for (int i = 0; i < demand.clients; ++i) {
            if (random_.next() % static_cast<std::uint64_t>(demand.pause) == 0) {
              children_[slot].arrive(demand.name, now, 1 + static_cast<std::int64_t>(random_.next() % 4));
            }
          }
        }
        for (const int child : children_[slot].turn(now)) children_[static_cast<std::size_t>(child)].wake();
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
  std::vector<SimulatedChild> children_;
  std::vector<Demand> demands_;
};

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
  EXPECT_GE(least * 100, most * 85) << least << " ... " << most;
  // A connection changes hands now and then, not for every client.
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
