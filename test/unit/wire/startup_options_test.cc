#include "common/wire/startup_options.h"

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

struct Good {
  std::string_view text;
  Options options;
};

TEST(StartupOptions, AsPostgresReadsThem) {
  const Good rows[] = {
      {"", {}},
      {" \t\n\v\f\r ", {}},
      {"-c geqo=off", {{"geqo", "off"}}},
      {"-cgeqo=off", {{"geqo", "off"}}},
      {"--geqo=off", {{"geqo", "off"}}},
      {"  -c   geqo=off  --work-mem=4MB", {{"geqo", "off"}, {"work_mem", "4MB"}}},
      {"--a-b-c=d-e-f", {{"a_b_c", "d-e-f"}}},
      {"-c search_path=a\\ b,c", {{"search_path", "a b,c"}}},
      {"-c search_path=a\\\\b", {{"search_path", "a\\b"}}},
      {"-c a=\\b\\\tc", {{"a", "b\tc"}}},
      {"-c a=b\\", {{"a", "b"}}},
      {"-c a=", {{"a", ""}}},
      {"-c a==b=c", {{"a", "=b=c"}}},
      {"-c a=1 -c a=2", {{"a", "1"}, {"a", "2"}}},
      {"-c\ta=1", {{"a", "1"}}},
      {"-c -c=x", {{"_c", "x"}}},
      {"-c\\ a=1", {{" a", "1"}}},
      {"--my.setting=\xc3\xa4", {{"my.setting", "\xc3\xa4"}}},
  };
  for (const Good& row : rows) {
    const auto options = parse_options(row.text);
    ASSERT_TRUE(options) << row.text << ": " << options.error().one_line();
    EXPECT_EQ(*options, row.options) << row.text;
  }
}

struct Bad {
  std::string_view text;
  std::string_view sqlstate;
  std::string_view message;
};

TEST(StartupOptions, WhatIsRefused) {
  const Bad rows[] = {
      {"-c", "42601", "invalid command-line argument for server process: -c"},
      {"-c geqo", "42601", "-c geqo requires a value"},
      {"-cgeqo", "42601", "-c geqo requires a value"},
      {"--geqo", "42601", "--geqo requires a value"},
      {"-c =x", "42601", "-c =x requires a value"},
      {"--=x", "42601", "--=x requires a value"},
      {"--", "42601", "invalid command-line argument for server process: --"},
      {"geqo=off", "42601", "invalid command-line argument for server process: geqo=off"},
      {"-", "42601", "invalid command-line argument for server process: -"},
      {"\\ ", "42601", "invalid command-line argument for server process:  "},
      {"-S 4096", "0A000", "unsupported switch in startup parameter \"options\": -S"},
      {"-c a=1 -fs", "0A000", "unsupported switch in startup parameter \"options\": -fs"},
      {"-c a=1 b=2", "42601", "invalid command-line argument for server process: b=2"},
  };
  for (const Bad& row : rows) {
    const auto options = parse_options(row.text);
    ASSERT_FALSE(options) << row.text;
    EXPECT_EQ(options.error().sqlstate, row.sqlstate) << row.text;
    EXPECT_EQ(options.error().message, row.message) << row.text;
    EXPECT_EQ(options.error().severity, Severity::Fatal);
  }
}

}  // namespace
}  // namespace weir::wire
