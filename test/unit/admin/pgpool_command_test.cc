#include "common/admin/pgpool_command.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

using Kind = PgpoolCommand::Kind;

TEST(ParsePgpool, what_is_asked_for) {
  struct Case {
    const char* words;
    Kind kind;
    const char* name;
    const char* value;
  };
  for (const Case& c : {
           Case{"show port", Kind::Show, "port", ""},
           Case{" SHOW\tPort ", Kind::Show, "port", ""},
           Case{"show ALL", Kind::Show, "all", ""},
           Case{"show \"Odd \"\"name\"", Kind::Show, "Odd \"name", ""},
           Case{"show backend_weight1", Kind::Show, "backend_weight1", ""},
           Case{"set log_statement TO on", Kind::Set, "log_statement", "on"},
           Case{"set log_statement to'on'", Kind::Set, "log_statement", "on"},
           Case{"set log_statement=on", Kind::Set, "log_statement", "on"},
           Case{"set log_statement = 'on'", Kind::Set, "log_statement", "on"},
           Case{"set client_idle_limit = '5 min'", Kind::Set, "client_idle_limit", "5 min"},
           Case{"set client_idle_limit = 5min", Kind::Set, "client_idle_limit", "5min"},
           Case{"set client_idle_limit_in_recovery = -1", Kind::Set, "client_idle_limit_in_recovery", "-1"},
           Case{"set a = 'it''s', b , c", Kind::Set, "a", "it's,b,c"},
           Case{"set a = ''", Kind::Set, "a", ""},
           Case{"set a TO DEFAULT", Kind::SetDefault, "a", ""},
           Case{"set a = 'default'", Kind::Set, "a", "default"},
           Case{"set a = default, b", Kind::Set, "a", "default,b"},
           Case{"reset a", Kind::Reset, "a", ""},
           Case{"reset all", Kind::ResetAll, "all", ""},
           Case{" RESET ALL ", Kind::ResetAll, "all", ""},
           Case{"reset \"all\"", Kind::Reset, "all", ""},
       }) {
    const auto command = parse_pgpool(c.words);
    ASSERT_TRUE(command) << c.words << ": " << command.error().message;
    EXPECT_EQ(command->kind, c.kind) << c.words;
    EXPECT_EQ(command->name, c.name) << c.words;
    EXPECT_EQ(command->value, c.value) << c.words;
  }
}

TEST(ParsePgpool, all_else_is_a_syntax_error) {
  for (const char* words : {"", " ", "drop a", "show", "show ,", "show a b", "show 'a'", "show \"a", "show \"\"", "set",
                            "set a", "set a b", "set a =", "set a = ,", "set a = 'x", "set a = 'x' y", "set a = b c",
                            "set a TO", "set = b", "set a = b,", "reset", "reset a b", "reset all all"}) {
    const auto command = parse_pgpool(words);
    ASSERT_FALSE(command) << words;
    EXPECT_EQ(command.error().sqlstate, sqlstate::kSyntaxError) << words;
    EXPECT_FALSE(command.error().hint.empty()) << words;
  }
  EXPECT_LT(parse_pgpool("show " + std::string(100'000, ',')).error().message.size(), 200U);
  EXPECT_LT(parse_pgpool(std::string(100'000, 'x')).error().message.size(), 200U);
}

TEST(ParsePgpool, the_query_cache_is_not_there_yet) {
  EXPECT_EQ(parse_pgpool("set CACHE DELETE 'SELECT 1'").error().sqlstate, sqlstate::kFeatureNotSupported);
}

}  // namespace
}  // namespace weir::admin
