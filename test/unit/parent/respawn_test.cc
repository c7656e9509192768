#include "parent/respawn.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::parent {
namespace {

using std::chrono::milliseconds;

TEST(Respawn, OneDeathIsMadeGoodAtOnce) {
  RespawnHistory history;
  EXPECT_EQ(respawn_delay(history, milliseconds(0)).count(), 0);
  RespawnHistory old;
  EXPECT_EQ(respawn_delay(old, std::chrono::hours(24)).count(), 0);
}

TEST(Respawn, DeathsInARowAreGivenTime) {
  RespawnHistory history;
  std::vector<long> delays;
  for (int i = 0; i < 12; ++i) delays.push_back(respawn_delay(history, milliseconds(10)).count());
  EXPECT_EQ(delays, (std::vector<long>{0, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000, 10000}));
}

TEST(Respawn, TenSecondsAtMostForEver) {
  RespawnHistory history;
  for (int i = 0; i < 10000; ++i) EXPECT_LE(respawn_delay(history, milliseconds(999)).count(), 10000);
  EXPECT_EQ(respawn_delay(history, milliseconds(999)).count(), 10000);
}

TEST(Respawn, ALifeOfASecondBeginsAnew) {
  RespawnHistory history;
  for (int i = 0; i < 5; ++i) respawn_delay(history, milliseconds(999));
  EXPECT_EQ(respawn_delay(history, milliseconds(1000)).count(), 0);
  EXPECT_EQ(history.quick_deaths, 0);
  EXPECT_EQ(respawn_delay(history, milliseconds(10)).count(), 0);
  EXPECT_EQ(respawn_delay(history, milliseconds(10)).count(), 100);
}

}  // namespace
}  // namespace weir::parent
