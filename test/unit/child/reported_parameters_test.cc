#include "child/reported_parameters.h"

#include <gtest/gtest.h>

namespace weir::child {
namespace {

TEST(reported_parameters, the_last_value_counts) {
  ReportedParameters parameters;
  EXPECT_TRUE(parameters.note("TimeZone", "UTC"));
  EXPECT_TRUE(parameters.note("TimeZone", "Europe/Berlin"));
  EXPECT_EQ(parameters.size(), 1u);
  ASSERT_NE(parameters.find("TimeZone"), parameters.end());
  EXPECT_EQ(parameters.find("TimeZone")->second, "Europe/Berlin");
  EXPECT_EQ(parameters.find("timezone"), parameters.end());
}

TEST(reported_parameters, names_are_bounded) {
  ReportedParameters parameters;
  for (std::size_t i = 0; i < ReportedParameters::kMaxNames; ++i) ASSERT_TRUE(parameters.note("p" + std::to_string(i), "v"));
  EXPECT_FALSE(parameters.note("one more", "v"));
  EXPECT_TRUE(parameters.note("p7", "new")) << "a known one may still change";
  EXPECT_EQ(parameters.find("p7")->second, "new");
  EXPECT_EQ(parameters.size(), ReportedParameters::kMaxNames);
}

TEST(reported_parameters, bytes_are_bounded) {
  ReportedParameters parameters;
  const std::string large(ReportedParameters::kMaxBytes - 1, 'x');
  EXPECT_FALSE(parameters.note("ab", large));
  EXPECT_TRUE(parameters.note("a", large));
  EXPECT_FALSE(parameters.note("b", ""));
  EXPECT_TRUE(parameters.note("a", "")) << "the room of the old value is free again";
  EXPECT_TRUE(parameters.note("b", large.substr(1)));
  EXPECT_FALSE(parameters.note("a", "1"));
}

}  // namespace
}  // namespace weir::child
