#include "parser/own_command.h"

#include <gtest/gtest.h>

#include <string>

#include "parser/classify.h"

namespace weir::parser {
namespace {

TEST(OwnCommand, whole_texts_only) {
  EXPECT_EQ(read_own_command("SHOW ROUTE 'a'")->argument, "a");
  EXPECT_EQ(read_own_command("SHOW POOL_NODES")->identifier, "pool_nodes");
  for (const char* text : {"", " ", ";", "SHOW", "SHOW all", "SHOW POOL_NODES 'a'", "SHOW ROUTE", "SELECT 1",
                           "SHOW ROUTE 'a' SHOW ROUTE 'a'", "PGPOOL", "PGPOOL SHOW -- port", "PGPOOL \"SHOW\" port"}) {
    EXPECT_FALSE(read_own_command(text)) << text;
  }
}

// A session whose texts may not be parsed still gets its answers, unless the server might read them otherwise.
TEST(OwnCommand, plain_only) {
  EXPECT_TRUE(read_own_command("SHOW ROUTE 'SELECT ''a'''", true));
  EXPECT_TRUE(read_own_command("PGPOOL SHOW ALL", true));
  EXPECT_TRUE(read_own_command("SHOW POOL_NODES", true));
  EXPECT_FALSE(read_own_command("SHOW ROUTE 'a\\b'", true));
  EXPECT_FALSE(read_own_command("SHOW ROUTE 'a\xc3\xa4'", true));
  EXPECT_TRUE(read_own_command("SHOW ROUTE 'a\xc3\xa4'"));
}

TEST(OwnCommand, cut_anywhere) {
  const std::string texts[] = {"/* x */ SHOW ROUTE E'\\x41\\'' ; -- y", "SHOW ROUTE $a$b$a$", "PGPOOL SET a = 'b'"};
  for (const std::string& text : texts) {
    for (std::size_t from = 0; from <= text.size(); ++from) {
      for (std::size_t length = 0; from + length <= text.size(); ++length) {
        const auto own = read_own_command(text.substr(from, length));
        EXPECT_LE(own ? own->argument.size() : 0, length);
      }
    }
  }
}

TEST(OwnCommand, long_texts_cost_nothing_more) {
  EXPECT_EQ(read_own_command("SHOW ROUTE '" + std::string(1'000'000, 'x') + "'")->argument.size(), 1'000'000U);
  EXPECT_FALSE(read_own_command("PGPOOL" + std::string(1'000'000, 'x')));
}

}  // namespace
}  // namespace weir::parser
