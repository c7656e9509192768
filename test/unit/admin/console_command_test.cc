#include "common/admin/console_command.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

using Kind = ConsoleCommand::Kind;
using config::Section;

TEST(ParseConsole, shows) {
  struct Case {
    const char* text;
    ConsoleShow show;
  };
  for (const Case& c : {
           Case{"SHOW POOLS", ConsoleShow::Pools},
           Case{"show pools;", ConsoleShow::Pools},
           Case{" \t\nShow\n\"Pools\" \r\n; \n", ConsoleShow::Pools},
           Case{"select pools", ConsoleShow::Pools},
           Case{"SHOW DATABASES", ConsoleShow::Databases},
           Case{"SHOW USERS", ConsoleShow::Users},
           Case{"SHOW CLIENTS", ConsoleShow::Clients},
           Case{"SHOW SERVERS", ConsoleShow::Servers},
           Case{"SHOW LISTS", ConsoleShow::Lists},
           Case{"SHOW STATS", ConsoleShow::Stats},
           Case{"SHOW STATS_TOTALS", ConsoleShow::StatsTotals},
           Case{"SHOW STATS_AVERAGES", ConsoleShow::StatsAverages},
           Case{"SHOW TOTALS", ConsoleShow::Totals},
           Case{"SHOW CONFIG", ConsoleShow::Config},
           Case{"SHOW VERSION", ConsoleShow::Version},
           Case{"SHOW HELP", ConsoleShow::Help},
           Case{"SHOW LEASES", ConsoleShow::Leases},
           Case{"SHOW LIMITS", ConsoleShow::Limits},
       }) {
    const auto command = parse_console(c.text);
    ASSERT_TRUE(command) << c.text << ": " << command.error().message;
    EXPECT_EQ(command->kind, Kind::Show) << c.text;
    EXPECT_EQ(command->show, c.show) << c.text;
    EXPECT_FALSE(command->needs_admin()) << c.text;
  }
}

TEST(ParseConsole, every_show_has_its_name_and_help) {
  const std::string help = console_help();
  for (int i = 0; i <= static_cast<int>(ConsoleShow::Help); ++i) {
    const auto show = static_cast<ConsoleShow>(i);
    const auto command = parse_console("SHOW " + std::string(show_name(show)));
    ASSERT_TRUE(command) << show_name(show);
    EXPECT_EQ(command->show, show);
  }
  for (const char* line : {"\tSHOW POOLS: ", "\tSHOW STATS_TOTALS: ", "\tSET POOL user.database = "}) EXPECT_NE(help.find(line), std::string::npos) << line;
}

TEST(ParseConsole, limits) {
  struct Case {
    const char* text;
    Section section;
    const char* user;
    const char* database;
    const char* limits;
  };
  for (const Case& c : {
           Case{"SET USER app = 'max_user_connections=40'", Section::Users, "app", "", "max_user_connections=40"},
           Case{"set user app 'max_user_connections=0'", Section::Users, "app", "", "max_user_connections=0"},
           Case{"SET USER app TO 'max_user_connections=-1';", Section::Users, "app", "", "max_user_connections=-1"},
           Case{"SET USER App='pool_size=2147483647'", Section::Users, "App", "", "pool_size=2147483647"},
           Case{"SET USER \"a \"\"b\"\".c\" = 'pool_size=1'", Section::Users, "a \"b\".c", "", "pool_size=1"},
           Case{"SET USER user = 'pool_size=1'", Section::Users, "user", "", "pool_size=1"},
           Case{"SET USER a-b@c = ' pool_size=1  reserve_pool_size=2 '", Section::Users, "a-b@c", "", " pool_size=1  reserve_pool_size=2 "},
           Case{"SET DATABASE shop = 'max_db_connections=7 pool_size=3'", Section::Databases, "", "shop", "max_db_connections=7 pool_size=3"},
           Case{"SET POOL app.shop = 'pool_size=30'", Section::Pools, "app", "shop", "pool_size=30"},
           Case{"SET POOL app . shop='pool_size=30'", Section::Pools, "app", "shop", "pool_size=30"},
           Case{"SET POOL \"a.b\".\"c.d\" = 'pool_size=30'", Section::Pools, "a.b", "c.d", "pool_size=30"},
           Case{"SET POOL \"a.b\".shop = 'pool_size=1 pool_size=2'", Section::Pools, "a.b", "shop", "pool_size=1 pool_size=2"},
           Case{"SET USER \xc3\xa4pfel = 'pool_size=1'", Section::Users, "\xc3\xa4pfel", "", "pool_size=1"},
       }) {
    const auto command = parse_console(c.text);
    ASSERT_TRUE(command) << c.text << ": " << command.error().message;
    EXPECT_EQ(command->kind, Kind::SetLimits) << c.text;
    EXPECT_EQ(command->section, c.section) << c.text;
    EXPECT_EQ(command->user, c.user) << c.text;
    EXPECT_EQ(command->database, c.database) << c.text;
    EXPECT_EQ(command->limits, c.limits) << c.text;
    EXPECT_TRUE(command->needs_admin()) << c.text;
  }
}

TEST(ParseConsole, what_clients_say_by_themselves) {
  EXPECT_EQ(parse_console("")->kind, Kind::Empty);
  EXPECT_EQ(parse_console(" ; ")->kind, Kind::Empty);
  EXPECT_EQ(parse_console("SHOW client_encoding")->value, "UTF8");
  EXPECT_EQ(parse_console("SHOW TRANSACTION ISOLATION LEVEL")->value, "read committed");
  EXPECT_EQ(parse_console("SHOW standard_conforming_strings")->kind, Kind::ShowParameter);
  for (const char* text : {"SET extra_float_digits = 3", "SET client_encoding TO 'UTF8'", "set DateStyle = ISO", "SET SESSION application_name = 'x'", "SET TIME ZONE 'UTC'"}) {
    const auto command = parse_console(text);
    ASSERT_TRUE(command) << text << ": " << command.error().message;
    EXPECT_EQ(command->kind, Kind::Ignored) << text;
  }
  EXPECT_EQ(parse_console("BEGIN")->name, "BEGIN");
  EXPECT_EQ(parse_console("start transaction;")->name, "BEGIN");
  EXPECT_EQ(parse_console("COMMIT")->name, "COMMIT");
  EXPECT_EQ(parse_console("ROLLBACK WORK")->name, "ROLLBACK");
}

TEST(ParseConsole, errors) {
  struct Case {
    const char* text;
    std::string_view sqlstate;
  };
  const std::string long_name(64, 'x');
  const std::string of_long_name = "SET USER " + long_name + " = 'pool_size=1'";
  for (const Case& c : {
           Case{";;", sqlstate::kSyntaxError},
           Case{"SHOW", sqlstate::kSyntaxError},
           Case{"SHOW ;", sqlstate::kSyntaxError},
           Case{"SHOW POOL", sqlstate::kSyntaxError},
           Case{"SHOW POOLS x", sqlstate::kSyntaxError},
           Case{"SHOW POOLS; SHOW POOLS", sqlstate::kSyntaxError},
           Case{"SHOW 'pools'", sqlstate::kSyntaxError},
           Case{"SHOW \"pools", sqlstate::kSyntaxError},
           Case{"/* x */ SHOW POOLS", sqlstate::kSyntaxError},
           Case{"SELECT 1", sqlstate::kSyntaxError},
           Case{"SELECT client_encoding", sqlstate::kSyntaxError},
           Case{"DROP TABLE t", sqlstate::kSyntaxError},
           Case{"SET", sqlstate::kSyntaxError},
           Case{"SET USER", sqlstate::kSyntaxError},
           Case{"SET USER app", sqlstate::kSyntaxError},
           Case{"SET USER app =", sqlstate::kSyntaxError},
           Case{"SET USER app = pool_size=1", sqlstate::kSyntaxError},
           Case{"SET USER app = 'pool_size=1", sqlstate::kSyntaxError},
           Case{"SET USER app = 'pool_size=1' x", sqlstate::kSyntaxError},
           Case{"SET USER app.db = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"SET USER \"\" = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"SET USER \"app = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"SET POOL app = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"SET POOL app. = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"SET POOL .db = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"SET POOL a.b.c = 'pool_size=1'", sqlstate::kSyntaxError},
           Case{"BEGIN x", sqlstate::kSyntaxError},
           Case{"SET USER app = ''", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = '  '", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'pool_size'", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'pool_size='", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'pool_size=-2'", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'pool_size=2147483648'", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'pool_size=99999999999999999999'", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'pool_size=1,5'", sqlstate::kInvalidParameterValue},
           Case{"SET USER app = 'max_db_connections=1'", sqlstate::kInvalidParameterValue},
           Case{"SET POOL app.db = 'max_user_connections=1'", sqlstate::kInvalidParameterValue},
           Case{"SET DATABASE db = 'nonsense=1'", sqlstate::kInvalidParameterValue},
           Case{of_long_name.c_str(), sqlstate::kNameTooLong},
           Case{"PAUSE", sqlstate::kFeatureNotSupported},
           Case{"RELOAD;", sqlstate::kFeatureNotSupported},
           Case{"KILL app", sqlstate::kFeatureNotSupported},
           Case{"SHUTDOWN WAIT_FOR_CLIENTS", sqlstate::kFeatureNotSupported},
           Case{"SHOW SOCKETS", sqlstate::kFeatureNotSupported},
           Case{"SHOW MEM", sqlstate::kFeatureNotSupported},
           Case{"SET default_pool_size = 5", sqlstate::kFeatureNotSupported},
           Case{"SET user = 'x'", sqlstate::kFeatureNotSupported},
       }) {
    const auto command = parse_console(c.text);
    ASSERT_FALSE(command) << c.text;
    EXPECT_EQ(command.error().sqlstate, c.sqlstate) << c.text << ": " << command.error().message;
    EXPECT_EQ(command.error().severity, Severity::Error) << c.text;
  }
}

TEST(ParseConsole, an_error_shows_a_part_of_the_text) {
  std::string text(62, 'a');
  for (int i = 0; i < 10; ++i) text += "\xe2\x82\xac";
  const auto command = parse_console(text);
  ASSERT_FALSE(command);
  EXPECT_EQ(command.error().message, "invalid command '" + std::string(62, 'a') + "', use SHOW HELP;");
  EXPECT_EQ(parse_console("FOO").error().message, "invalid command 'FOO', use SHOW HELP;");
}

}  // namespace
}  // namespace weir::admin
