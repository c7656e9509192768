#include "common/admin/command.h"

#include <gtest/gtest.h>

#include "common/admin/show.h"

namespace weir::admin {
namespace {

TEST(ShowCommand, names) {
  EXPECT_EQ(show_command("pool_nodes"), ShowCommand::Nodes);
  EXPECT_EQ(show_command("pool_processes"), ShowCommand::Processes);
  EXPECT_EQ(show_command("pool_pools"), ShowCommand::Pools);
  EXPECT_EQ(show_command("pool_status"), ShowCommand::Status);
  EXPECT_EQ(show_command("pool_backend_stats"), ShowCommand::BackendStats);
  EXPECT_EQ(show_command("pool_route_stats"), ShowCommand::RouteStats);
  EXPECT_EQ(show_command("pool_version"), ShowCommand::Version);
  for (const char* later : {"pool_cache", "pool_health_check_stats"}) {
    EXPECT_EQ(show_command(later), ShowCommand::NotYet) << later;
    EXPECT_TRUE(show_columns(*show_command(later)).empty()) << later;
  }
  for (const char* other : {"", "pool_", "pool_node", "pool_nodess", "POOL_NODES", "search_path"}) {
    EXPECT_EQ(show_command(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace weir::admin
