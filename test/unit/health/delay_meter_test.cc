#include "health/delay_meter.h"

#include <gtest/gtest.h>

#include <optional>

#include "health/replication.h"

namespace weir::health {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

DelayMeter::ReplayLag told(std::int64_t lag) {
  return [lag](int) { return lag; };
}

// A primary that is asked every second and answers a millisecond later.
class Meter : public ::testing::Test {
 protected:
  void primary(std::uint64_t lsn) {
    now_ += kSecond;
    EXPECT_TRUE(meter_.primary_answered(lsn, now_, now_ + 1000, told(-1)).empty());
  }
  // The standby answers now, and the primary, asked then, a little later.
  shmem::ReplicationDelay measure(std::uint64_t replayed, std::uint64_t lsn, std::int64_t commit_age = -1,
                                  std::int64_t replay_lag = -1) {
    meter_.standby_answered(1, {replayed, now_ + 2000, now_ + 3000, commit_age});
    const auto measured = meter_.primary_answered(lsn, now_ + 4000, now_ + 5000, told(replay_lag));
    EXPECT_EQ(measured.size(), 1U);
    EXPECT_FALSE(meter_.waiting());
    return measured.empty() ? shmem::ReplicationDelay{} : measured[0].delay;
  }

  DelayMeter meter_;
  std::int64_t now_ = 1000 * kSecond;
};

TEST_F(Meter, AnIdlePrimaryNeverLooksLagging) {
  for (int i = 0; i < 1000; ++i) primary(500);
  // Its last commit was long ago, and the primary still says what the last lag was.
  const auto delay = measure(500, 500, 3600 * kSecond, 5 * kSecond);
  EXPECT_EQ(delay.bytes, 0);
  EXPECT_EQ(delay.microseconds, 0);
  EXPECT_EQ(delay.measured_at, (now_ + 3000) / 1000);
}

TEST_F(Meter, TheFirstWriteAfterALongSilenceIsNoLongDelay) {
  for (int i = 0; i < 1000; ++i) primary(500);
  const auto delay = measure(500, 700, 3600 * kSecond);
  EXPECT_EQ(delay.bytes, 200);
  EXPECT_EQ(delay.microseconds, 3000);  // since the last answer that showed nothing new was asked for
}

TEST_F(Meter, AStandbyThatStandsStillFallsBehindWhateverIsToldOfIt) {
  primary(500);
  for (int i = 1; i <= 60; ++i) primary(500 + static_cast<std::uint64_t>(i));
  // pg_stat_replication's lag stands still while nothing is replayed.
  const auto delay = measure(500, 560, -1, 1000);
  EXPECT_EQ(delay.bytes, 60);
  EXPECT_GE(delay.microseconds, 59 * kSecond);
  EXPECT_LE(delay.microseconds, 61 * kSecond);
  EXPECT_LE(measure(500, 560, 600 * kSecond).microseconds, 61 * kSecond);
  EXPECT_GE(measure(500, 560, 0).microseconds, 59 * kSecond);  // a clock that is behind the primary's
}

TEST_F(Meter, ThePrimarysOwnMeasureIsTheFinest) {
  primary(500);
  primary(600);
  EXPECT_EQ(measure(550, 620, 900'000, 12'345).microseconds, 12'345);
  EXPECT_EQ(measure(550, 620, 900'000).microseconds, 900'000);
}

TEST_F(Meter, WhatCannotBeToldIsUnknown) {
  // Behind everything that is remembered, and nobody tells since when.
  const auto early = measure(10, 620);
  EXPECT_EQ(early.bytes, 610);
  EXPECT_EQ(early.microseconds, -1);
  // It has replayed what the primary never wrote: it follows another.
  const auto foreign = measure(700, 620);
  EXPECT_EQ(foreign.bytes, -1);
  EXPECT_EQ(foreign.microseconds, -1);
}

TEST_F(Meter, ASampleWaitsForAnAnswerThatWasAskedForLater) {
  meter_.standby_answered(1, {100, 10, 30, -1});
  meter_.standby_answered(2, {100, 10, 50, -1});
  EXPECT_TRUE(meter_.primary_answered(150, 20, 60, told(-1)).empty());
  const auto first = meter_.primary_answered(150, 30, 60, told(-1));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].node, 1);
  EXPECT_TRUE(meter_.waiting());
  EXPECT_EQ(meter_.primary_answered(150, 61, 70, told(-1)).size(), 1U);
  EXPECT_FALSE(meter_.waiting());
  meter_.standby_answered(1, {100, 80, 90, -1});
  meter_.clear();
  EXPECT_FALSE(meter_.waiting());
}

TEST(PositionHistory, ANewerServerBeginsANewHistory) {
  PositionHistory history;
  history.add(100, 10, 11);
  history.add(200, 20, 21);
  EXPECT_EQ(history.lag(150, 30, 31).most, 21);
  history.add(120, 40, 41);
  EXPECT_EQ(history.size(), 1U);
  EXPECT_EQ(history.lag(110, 50, 51).most, -1);
  EXPECT_EQ(history.lag(110, 50, 51).least, 9);
}

TEST(PositionHistory, BoundsStayTrueWhenItIsThinnedOut) {
  PositionHistory history;
  constexpr int kCount = 5000;
  for (int i = 0; i < kCount; ++i) history.add(static_cast<std::uint64_t>(i), i * 1000, i * 1000 + 10);
  EXPECT_LE(history.size(), 256U);
  const std::int64_t now = kCount * 1000;
  for (int i = 0; i < kCount; i += 7) {
    // What comes after position i was written at (i + 1) * 1000.
    const auto bounds = history.lag(static_cast<std::uint64_t>(i), now, now + 10);
    const std::int64_t truth = now - (i + 1) * 1000;
    EXPECT_LE(bounds.least, truth) << i;
    EXPECT_TRUE(bounds.most == -1 || bounds.most >= truth) << i;
  }
  EXPECT_EQ(history.lag(kCount - 2, now, now + 10).least, 990);
}

TEST(DelayMessage, Table) {
  struct Case {
    const char* when;
    std::int64_t bytes_limit;
    std::int64_t time_limit;
    shmem::ReplicationDelay delay;
    const char* message;
  };
  const Case cases[] = {
      {"none", 10, 0, {11, 0, 1}, ""},
      {"if_over_threshold", 10, 0, {10, 0, 1}, ""},
      {"if_over_threshold", 10, 0, {11, 0, 1}, "Replication of node: 2 is behind 11 bytes from the primary server (node: 0)"},
      {"if_over_threshold", 0, 0, {11, 0, 1}, ""},
      {"always", 0, 0, {11, 0, 1}, "Replication of node: 2 is behind 11 bytes from the primary server (node: 0)"},
      {"always", 0, 0, {0, 0, 1}, ""},
      {"always", 10, 0, {-1, -1, 1}, ""},
      {"if_over_threshold", 10, 1000, {99, 1'000'000, 1}, ""},
      {"if_over_threshold", 10, 1000, {0, 1'000'001, 1}, "Replication of node: 2 is behind 1.000001 second from the primary server (node: 0)"},
      {"always", 0, 1000, {0, 2'500'000, 1}, "Replication of node: 2 is behind 2.500000 seconds from the primary server (node: 0)"},
  };
  for (const Case& one : cases) {
    config::Config config;
    config.log_standby_delay = one.when;
    config.delay_threshold = one.bytes_limit;
    config.delay_threshold_by_time = one.time_limit;
    EXPECT_EQ(delay_message(config, 2, 0, one.delay), one.message) << one.when << " " << one.delay.bytes;
  }
}

}  // namespace
}  // namespace weir::health
