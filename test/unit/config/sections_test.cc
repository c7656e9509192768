#include "common/config/sections.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weir::config {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Added {
  std::map<std::string, SectionEntries> sections;
  std::string message;
};

Added add(const std::string& section, const std::string& value) {
  Added added;
  const bool good = add_section_entry(added.sections, {section, "name", value, value, 1}, added.message);
  EXPECT_EQ(good, added.message.empty());
  EXPECT_EQ(good, !added.sections.empty()) << "an error leaves nothing behind";
  return added;
}

TEST(sections, settings) {
  struct {
    const char* value;
    Pairs pairs;
  } const cases[] = {
      {"", {}},
      {"host=h", {{"host", "h"}}},
      {"host = h\tport=5\t", {{"host", "h"}, {"port", "5"}}},
      {"password='a b''c' user=u", {{"password", "a b'c"}, {"user", "u"}}},
      {"connect_query='SELECT ''x=1'''", {{"connect_query", "SELECT 'x=1'"}}},
      {"password=''", {{"password", ""}}},
      {"options=a=b", {{"options", "a=b"}}},
  };
  for (const auto& c : cases) EXPECT_EQ(add("databases", c.value).sections["databases"]["name"], c.pairs) << c.value;
}

TEST(sections, errors) {
  for (const char* bad : {"word", "host= ", "=x", "a b=c", "host='open", "host=x word", "'host'=x"}) {
    EXPECT_NE(add("users", bad).message.find("key=value"), std::string::npos) << bad;
  }
  EXPECT_NE(add("pgbouncer", "9999").message.find("come later"), std::string::npos);
  EXPECT_NE(add("Databases", "a=b").message.find("unknown section [Databases]"), std::string::npos);
}

TEST(sections, a_later_line_replaces_an_earlier) {
  std::map<std::string, SectionEntries> sections;
  std::string message;
  ASSERT_TRUE(add_section_entry(sections, {"pools", "p", "a=1 b=2", "", 1}, message));
  ASSERT_TRUE(add_section_entry(sections, {"pools", "p", "a=3", "", 2}, message));
  EXPECT_EQ(sections["pools"]["p"], (Pairs{{"a", "3"}}));
}

}  // namespace
}  // namespace weir::config
