#include "common/admin/command.h"

#include <gtest/gtest.h>

#include <string>

#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

TEST(ShowCommand, names) {
  EXPECT_EQ(show_command("pool_nodes"), ShowCommand::Nodes);
  EXPECT_EQ(show_command("pool_processes"), ShowCommand::Processes);
  EXPECT_EQ(show_command("pool_pools"), ShowCommand::Pools);
  EXPECT_EQ(show_command("pool_status"), ShowCommand::Status);
  EXPECT_EQ(show_command("pool_version"), ShowCommand::Version);
  for (const char* later : {"pool_cache", "pool_health_check_stats", "pool_backend_stats"}) {
    EXPECT_EQ(show_command(later), ShowCommand::NotYet) << later;
  }
  for (const char* other : {"", "pool_", "pool_node", "pool_nodess", "POOL_NODES", "search_path"}) {
    EXPECT_EQ(show_command(other), std::nullopt) << other;
  }
}

TEST(ParseCommand, show_in_any_case_and_with_any_blanks) {
  for (const char* text : {"SHOW POOL_NODES", "show pool_nodes", "  Show\t\n Pool_Nodes ; ", "SHOW pool_nodes;;",
                           "\fSHOW\vPOOL_NODES\r\n"}) {
    const auto command = parse_command(text);
    ASSERT_TRUE(command) << text;
    EXPECT_EQ(command->kind, CommandKind::PoolShow) << text;
    EXPECT_EQ(command->show, ShowCommand::Nodes) << text;
    EXPECT_EQ(command->argument.size(), 10U) << text;
  }
  EXPECT_EQ(parse_command("SHOW POOL_CACHE")->show, ShowCommand::NotYet);
}

TEST(ParseCommand, pgpool_commands) {
  struct Case {
    const char* text;
    CommandKind kind;
    const char* argument;
  };
  for (const Case& c : {Case{"PGPOOL SHOW ALL", CommandKind::PgpoolShow, "ALL"},
                        Case{" pgpool  show\tport ;", CommandKind::PgpoolShow, "port"},
                        Case{"PGPOOL SET client_idle_limit TO 5", CommandKind::PgpoolSet, "client_idle_limit TO 5"},
                        Case{"PGPOOL SET CACHE DELETE 'a; '", CommandKind::PgpoolSet, "CACHE DELETE 'a; '"},
                        Case{"PGPOOL SET a = ''';'", CommandKind::PgpoolSet, "a = ''';'"},
                        Case{"pgpool reset all;", CommandKind::PgpoolReset, "all"}}) {
    const auto command = parse_command(c.text);
    ASSERT_TRUE(command) << c.text;
    EXPECT_EQ(command->kind, c.kind) << c.text;
    EXPECT_EQ(command->argument, c.argument) << c.text;
  }
}

TEST(ParseCommand, all_else_is_the_servers) {
  for (const char* text :
       {"", " ", ";", "SHOW", "SHOW ", "SHOW ALL", "SHOW search_path", "SHOW pool_nonsense", "SHOWPOOL_NODES",
        "SHOW POOL_NODES; SELECT 1", "SHOW POOL_NODES POOL_NODES", "SELECT 1", "/* x */ SHOW POOL_NODES", "PGPOOL",
        "PGPOOL SHOW", "PGPOOL SHOW ;", "PGPOOL DROP x", "PGPOOLSHOW x", "PGPOOL SHOWx y",
        "PGPOOL SHOW a; DROP TABLE b", "PGPOOL SET a = 'x'; SELECT 1", "EXPLAIN SHOW POOL_NODES"}) {
    EXPECT_FALSE(parse_command(text)) << text;
  }
  EXPECT_FALSE(parse_command(std::string("SHOW POOL_NODES\0", 16)));
  EXPECT_FALSE(parse_command(std::string("PGPOOL SHOW a\0b", 15)));
}

TEST(ParseCommand, long_texts) {
  const std::string blanks(100'000, ' ');
  EXPECT_TRUE(parse_command(blanks + "SHOW" + blanks + "POOL_NODES" + blanks));
  EXPECT_FALSE(parse_command(std::string(1'000'000, 'S')));
  EXPECT_FALSE(parse_command("SHOW " + std::string(1'000'000, 'x')));
}

TEST(NotAvailable, says_which_command) {
  Error error = not_available(*parse_command("SHOW Pool_Cache"));
  EXPECT_EQ(error.sqlstate, sqlstate::kFeatureNotSupported);
  EXPECT_EQ(error.severity, Severity::Error);
  EXPECT_EQ(error.message, "SHOW Pool_Cache is not available yet");
  EXPECT_EQ(not_available(*parse_command("PGPOOL SHOW port")).message, "PGPOOL SHOW is not available yet");
  EXPECT_EQ(not_available(*parse_command("PGPOOL SET a = 1")).message, "PGPOOL SET is not available yet");
  EXPECT_EQ(not_available(*parse_command("PGPOOL RESET ALL")).message, "PGPOOL RESET is not available yet");
}

}  // namespace
}  // namespace weir::admin
