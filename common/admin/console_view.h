// What the console's SHOW commands are made of: everything at one moment, gathered by the caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/admin/census.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/ledger/ledger.h"
#include "common/shmem/database_counts.h"
#include "common/shmem/node_view.h"

namespace weir::admin {

// The names of the console's own database.
inline constexpr std::string_view kConsoleNames[] = {"pgweir", "pgbouncer"};
bool is_console(std::string_view database);

// Of one database, over all children.
struct DatabaseTraffic {
  std::string database;
  shmem::TrafficSums totals{};
  shmem::TrafficSums recent{};                         // since the last full period began
  std::array<double, shmem::kTrafficKinds> rates{};    // the same, per second
};
// Adds what TABLE, of one child's slot, has counted up to NOW_MS; sorted by database.
void add_traffic(std::vector<DatabaseTraffic>& into, const shmem::DatabaseTable& table, std::int64_t now_ms);

struct ConsoleView {
  const config::Config* config = nullptr;
  const shmem::NodeView* nodes = nullptr;
  std::int32_t children = 0;  // processes that run
  Census census;              // pools merged
  std::vector<ledger::PoolRow> leases;
  std::vector<ledger::Override> overrides;
  std::vector<DatabaseTraffic> traffic;

  // Limits set at run time that bear on USER in DATABASE.
  config::RuntimeOverrides overrides_for(std::string_view database, std::string_view user) const;
};

// The limits that OVERRIDES have for USER in DATABASE.
config::RuntimeOverrides select_overrides(const std::vector<ledger::Override>& overrides, std::string_view database, std::string_view user);

}  // namespace weir::admin
