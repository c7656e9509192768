#include "common/shmem/database_counts.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace weir::shmem {
namespace {

TEST(DatabaseTable, rows_are_found_again) {
  const auto table = std::make_unique<DatabaseTable>();
  DatabaseCounts* shop = table->row_of("shop");
  ASSERT_NE(shop, nullptr);
  EXPECT_EQ(table->row_of("shop"), shop);
  EXPECT_NE(table->row_of("shoP"), shop);
  EXPECT_EQ(table->used(), 2U);
  const std::string longer(80, 'x');
  EXPECT_EQ(table->row_of(longer), table->row_of(longer.substr(0, 63)));
}

TEST(DatabaseTable, is_full_at_some_time) {
  const auto table = std::make_unique<DatabaseTable>();
  for (std::uint32_t i = 0; i < DatabaseTable::kMaxDatabases; ++i) ASSERT_NE(table->row_of(std::to_string(i)), nullptr);
  EXPECT_EQ(table->row_of("one more"), nullptr);
  EXPECT_NE(table->row_of("7"), nullptr);
}

TEST(DatabaseTable, recent_is_since_the_last_full_period_began) {
  const auto table = std::make_unique<DatabaseTable>();
  DatabaseCounts& row = *table->row_of("shop");
  const auto recent = [&] {
    TrafficSums sums{};
    row.add_recent_to(sums);
    return sums[static_cast<std::size_t>(Traffic::Queries)];
  };
  EXPECT_EQ(table->recent_since_ms(), 0);
  table->turn(1000, 60'000);
  EXPECT_EQ(table->recent_since_ms(), 1000);
  row.add(Traffic::Queries, 5);
  table->turn(60'999, 60'000);
  EXPECT_EQ(recent(), 5U);
  table->turn(61'000, 60'000);  // the first period is over: it is the last full one
  EXPECT_EQ(table->recent_since_ms(), 1000);
  row.add(Traffic::Queries, 7);
  EXPECT_EQ(recent(), 12U);
  table->turn(121'000, 60'000);
  EXPECT_EQ(table->recent_since_ms(), 61'000);
  EXPECT_EQ(recent(), 7U);
  EXPECT_EQ(row.of(Traffic::Queries), 12U);
}

}  // namespace
}  // namespace weir::shmem
