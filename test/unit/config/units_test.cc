#include "common/config/units.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <optional>
#include <string>
#include <vector>

namespace weir::config {
namespace {

struct BoolCase {
  const char* text;
  std::optional<bool> value;
};

TEST(units, booleans) {
  const BoolCase cases[] = {
      {"on", true},  {"ON", true},   {"true", true}, {"t", true},   {"tr", true},     {"yes", true}, {"y", true},
      {"1", true},   {" on ", true}, {"off", false}, {"of", false}, {"false", false}, {"f", false},  {"no", false},
      {"n", false},  {"0", false},   {"OFF", false}, {"o", {}},     {"", {}},         {"2", {}},     {"onn", {}},
      {"truex", {}}, {"10", {}},     {"yes no", {}}, {"00", {}},
  };
  for (const BoolCase& c : cases) EXPECT_EQ(parse_bool(c.text), c.value) << c.text;
}

struct IntegerCase {
  const char* text;
  const char* base;
  std::optional<std::int64_t> value;
};

TEST(units, integers) {
  const IntegerCase cases[] = {
      {"0", "", 0},
      {"42", "", 42},
      {"-1", "", -1},
      {"+7", "", 7},
      {"0x1F", "", 31},
      {"0XfF", "s", 255},
      {"5min", "s", 300},
      {"5 min", "s", 300},
      {"1d", "min", 1440},
      {"2h", "ms", 7200000},
      {"1500ms", "s", 2},
      {"1400ms", "s", 1},
      {"100ms", "s", 1},  // never 0
      {"-100ms", "s", -1},
      {"0ms", "s", 0},
      {"1us", "ms", 1},
      {"10MB", "kB", 10240},
      {"64MB", "B", 67108864},
      {"1TB", "kB", 1073741824},
      {"9223372036854775807", "", 9223372036854775807LL},
      {"9223372036854775808", "", {}},
      {"99999999999999999999999", "", {}},
      {"9223372036854775807d", "us", {}},
      {"5min", "", {}},  // no unit there
      {"5MB", "s", {}},
      {"5min", "kB", {}},
      {"5 MIN", "s", {}},
      {"5mb", "kB", {}},
      {"0x5min", "s", {}},
      {"1.5", "s", {}},
      {"--5", "", {}},
      {"+-5", "", {}},
      {"", "", {}},
      {"-", "", {}},
      {"0x", "", {}},
      {"min", "s", {}},
      {"5 min 3", "s", {}},
  };
  for (const IntegerCase& c : cases) EXPECT_EQ(parse_integer(c.text, c.base), c.value) << c.text << " as " << c.base;
}

TEST(units, reals) {
  EXPECT_EQ(parse_real("1"), 1.0);
  EXPECT_EQ(parse_real(" 0.5 "), 0.5);
  EXPECT_EQ(parse_real("1e3"), 1000.0);
  EXPECT_EQ(parse_real("-2"), -2.0);
  for (const char* bad : {"", "nan", "inf", "-inf", "1e999", "1x", "1 2", ".", "0x"})
    EXPECT_FALSE(parse_real(bad)) << bad;
}

TEST(units, octals) {
  EXPECT_EQ(parse_octal("0777"), 0777);
  EXPECT_EQ(parse_octal("700"), 0700);
  EXPECT_EQ(parse_octal("0"), 0);
  for (const char* bad : {"", "8", "0o7", "-1", "07x", "7777777777777777777777777"})
    EXPECT_FALSE(parse_octal(bad)) << bad;
}

TEST(units, lists) {
  using List = std::vector<std::string>;
  EXPECT_EQ(split_list("", ','), List{});
  EXPECT_EQ(split_list(" , ,", ','), List{});
  EXPECT_EQ(split_list("a, b ,c", ','), (List{"a", "b", "c"}));
  EXPECT_EQ(split_list("ABORT; DISCARD ALL", ';'), (List{"ABORT", "DISCARD ALL"}));
  EXPECT_EQ(split_list("a\\,b,c", ','), (List{"a,b", "c"}));
  EXPECT_EQ(split_list("a\\;b;c\\'d", ';'), (List{"a;b", "c'd"}));
  EXPECT_EQ(split_list("\\d+,x\\", ','), (List{"\\d+", "x\\"}));
}

TEST(units, any_integer_is_read_back) {
  EXPECT_TRUE(rc::check([](std::int64_t value) {
    if (value == INT64_MIN) return;
    RC_ASSERT(parse_integer(std::to_string(value), "s") == std::optional(value));
  }));
}

TEST(units, any_text_is_survived) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    static_cast<void>(parse_bool(text));
    static_cast<void>(parse_integer(text, "ms"));
    static_cast<void>(parse_real(text));
    static_cast<void>(parse_octal(text));
    for (const std::string& item : split_list(text, ',')) RC_ASSERT(!item.empty());
  }));
}

}  // namespace
}  // namespace weir::config
