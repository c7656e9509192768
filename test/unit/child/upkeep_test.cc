// Lifetimes, checks before use, and pauses of servers that cannot be reached.
#include "child/upkeep.h"

#include <gtest/gtest.h>

#include <string>

#include "common/config/loader.h"

namespace weir::child {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Answer = LoginGate::Answer;

constexpr Monotonic kStart = Monotonic{} + seconds(100000);

std::shared_ptr<const config::Config> load(const std::string& text) {
  return config::load_with({"/c/main.conf", {}, {}}, [&](const std::string&) -> Result<std::string> { return text; }).config;
}

ConnectionTimes times_of(const std::string& text, const char* database = "d") { return connection_times(*load(text), database, "u"); }

TEST(Upkeep, times_of_the_configuration) {
  EXPECT_EQ(times_of("server_lifetime = 60\ndefault_pool_size = 6\n"), (ConnectionTimes{seconds(60), seconds(10), ""}));
  EXPECT_EQ(times_of("server_lifetime = 60\n").gap, seconds(3)) << "no limit: as if there were 20";
  EXPECT_EQ(times_of("server_lifetime = 0\n").lifetime, seconds(0));
  const std::string sections = "server_lifetime = 60\n[databases]\nd = server_lifetime=30 connect_query='SELECT 1'\ne = server_lifetime=0\n";
  EXPECT_EQ(times_of(sections).lifetime, seconds(30));
  EXPECT_EQ(times_of(sections).connect_query, "SELECT 1");
  EXPECT_EQ(times_of(sections, "e"), (ConnectionTimes{seconds(60), seconds(3), ""}));
}

struct Age {
  const char* what;
  int lifetime;
  int gap;
  int age;
  int last;  // seconds ago; -1: none was closed yet
  bool over;
};
constexpr Age kAges[] = {
    {"no limit", 0, 0, 1000000, -1, false},
    {"young", 60, 10, 59, -1, false},
    {"old", 60, 10, 60, -1, true},
    {"old, but another has just gone", 60, 10, 65, 9, false},
    {"a gap later", 60, 10, 70, 10, true},
    {"young, and none has gone for long", 60, 10, 10, 1000, false},
    {"less than a second for each", 60, 0, 60, 0, true},
};

TEST(Upkeep, lifetimes_are_spread) {
  for (const Age& row : kAges) {
    const ConnectionTimes times{seconds(row.lifetime), seconds(row.gap), ""};
    const Monotonic last = row.last < 0 ? Monotonic{} : kStart - seconds(row.last);
    EXPECT_EQ(lifetime_is_over(times, kStart - seconds(row.age), last, kStart), row.over) << row.what;
  }
}

TEST(Upkeep, checks) {
  const auto usual = load("");
  EXPECT_FALSE(check_is_due(*usual, kStart, kStart + seconds(29)));
  EXPECT_TRUE(check_is_due(*usual, kStart, kStart + seconds(30)));
  EXPECT_EQ(check_query(*usual), "") << "an empty query";
  EXPECT_FALSE(check_is_due(*load("server_check_query = ''\n"), kStart, kStart + seconds(3000))) << "no check";
  EXPECT_TRUE(check_is_due(*load("server_check_delay = 0\n"), kStart, kStart)) << "always";
  EXPECT_EQ(check_query(*load("server_check_query = 'SELECT 1'\n")), "SELECT 1");
}

Error error(const char* message) { return make_error("08006", message); }

TEST(LoginGate, one_at_a_time_with_pauses_that_grow) {
  LoginGate gate;
  const seconds retry(15);
  Monotonic now = kStart;
  EXPECT_EQ(gate.ask(now, retry), Answer::Open);
  milliseconds last(0);
  for (int i = 0; i < 12; ++i) {
    gate.begun(now);
    if (i > 0) {
      EXPECT_EQ(gate.ask(now, retry), Answer::Hold) << "somebody tries";
    }
    gate.failed(error("refused"), false, now, retry, 0.5);
    milliseconds pause(0);
    while (gate.ask(now + pause, retry) != Answer::Open) pause += milliseconds(1);
    EXPECT_GE(pause, last);
    EXPECT_LE(pause, retry);
    last = pause;
    now += pause;
  }
  EXPECT_GT(last, seconds(7));
}

TEST(LoginGate, who_waits_is_told_after_server_login_retry) {
  LoginGate gate;
  const seconds retry(4);
  gate.begun(kStart);
  gate.failed(error("first"), false, kStart, retry, 0);
  EXPECT_EQ(gate.ask(kStart + milliseconds(1), retry), Answer::Hold) << "a short outage is waited out";
  EXPECT_FALSE(gate.gives_up(kStart + milliseconds(3999), retry));
  EXPECT_TRUE(gate.gives_up(kStart + retry, retry));
  gate.failed(error("last"), false, kStart + retry, retry, 0);
  EXPECT_EQ(gate.ask(kStart + retry + milliseconds(1), retry), Answer::Fail);
  EXPECT_EQ(gate.last_error().message, "last");
  gate.succeeded();
  EXPECT_EQ(gate.ask(kStart + retry + milliseconds(1), retry), Answer::Open);
  EXPECT_FALSE(gate.gives_up(kStart + seconds(100), retry));
}

TEST(LoginGate, those_that_fail_together_count_once) {
  LoginGate one;
  LoginGate many;
  const seconds retry(15);
  one.failed(error("x"), false, kStart, retry, 0);
  for (int i = 0; i < 50; ++i) many.failed(error("x"), false, kStart, retry, 0);
  const Monotonic later = kStart + milliseconds(125);
  EXPECT_EQ(one.ask(later, retry), Answer::Open);
  EXPECT_EQ(many.ask(later, retry), Answer::Open);
}

TEST(LoginGate, luck_spreads_them) {
  const seconds retry(15);
  LoginGate lucky;
  LoginGate unlucky;
  lucky.failed(error("x"), false, kStart, retry, 0);
  unlucky.failed(error("x"), false, kStart, retry, 0.999);
  const Monotonic between = kStart + milliseconds(180);
  EXPECT_EQ(lucky.ask(between, retry), Answer::Open);
  EXPECT_EQ(unlucky.ask(between, retry), Answer::Hold);
}

TEST(LoginGate, a_server_that_starts_makes_nobody_give_up) {
  LoginGate gate;
  const seconds retry(1);
  gate.failed(error("starting up"), true, kStart, retry, 0);
  EXPECT_FALSE(gate.gives_up(kStart + seconds(60), retry));
  gate.failed(error("refused"), false, kStart + seconds(60), retry, 0);
  EXPECT_TRUE(gate.gives_up(kStart + seconds(60), retry));
}

TEST(LoginGate, without_a_pause_the_first_failure_is_told) {
  LoginGate gate;
  gate.failed(error("refused"), false, kStart, seconds(0), 0.9);
  EXPECT_TRUE(gate.gives_up(kStart, seconds(0)));
  EXPECT_EQ(gate.ask(kStart, seconds(0)), Answer::Open);
}

TEST(LoginGate, an_attempt_without_an_end_does_not_bar_the_way_for_ever) {
  LoginGate gate;
  gate.failed(error("refused"), false, kStart, seconds(1), 0);
  gate.begun(kStart + seconds(2));
  EXPECT_EQ(gate.ask(kStart + seconds(3), seconds(1)), Answer::Hold);
  EXPECT_EQ(gate.ask(kStart + seconds(3600), seconds(1)), Answer::Open);
}

TEST(LoginGate, the_error_tells_the_last_one) {
  const Error told = login_has_been_failing(error("could not connect to node 0: Connection refused"));
  EXPECT_EQ(told.sqlstate, "57P03");
  EXPECT_EQ(told.message, "server login has been failing, cached error: could not connect to node 0: Connection refused (server_login_retry)");
}

}  // namespace
}  // namespace weir::child
