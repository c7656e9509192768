#include "health/others.h"

#include <gtest/gtest.h>

namespace weir::health {
namespace {

TEST(others, the_least_of_a_few_looks) {
  Others others;
  EXPECT_EQ(others.count(), 0);
  others.saw(30, 10);
  others.saw(30, 10);
  EXPECT_EQ(others.count(), 0) << "not enough was seen";
  others.saw(31, 10);
  EXPECT_EQ(others.count(), 20);
  others.saw(50, 10);
  EXPECT_EQ(others.count(), 20) << "ten of its own may just have gone from the books";
  others.saw(50, 10);
  others.saw(50, 10);
  EXPECT_EQ(others.count(), 40) << "but not three times";
  others.saw(12, 10);
  EXPECT_EQ(others.count(), 2) << "what is free again is at once";
}

TEST(others, what_is_not_told_or_cannot_be) {
  Others others;
  for (int i = 0; i < 5; ++i) others.saw(-1, 3);
  EXPECT_EQ(others.count(), 0);
  for (int i = 0; i < 3; ++i) others.saw(5, 9);
  EXPECT_EQ(others.count(), 0) << "leases whose connections are not open yet";
}

}  // namespace
}  // namespace weir::health
