// The SHOW POOL_* commands of Pgpool-II: its columns, names and order, then ours after them. Pure: values in, rows out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/admin/rowset.h"
#include "common/config/config.h"
#include "common/shmem/node_view.h"
#include "common/shmem/observations.h"
#include "common/shmem/session_rows.h"

namespace weir::admin {

enum class ShowCommand { Nodes, Processes, Pools, Status, Version, NotYet };
// "pool_nodes" etc. -> command; nothing for another name.
std::optional<ShowCommand> show_command(std::string_view name);
// The columns alone, for Describe.
std::vector<Column> show_columns(ShowCommand command);

struct NodeFacts {
  shmem::Observation observation;
  std::uint64_t selects = 0;
};
struct ProcessFacts {
  std::int32_t pid = 0;
  std::int64_t started_at = 0;
  std::uint64_t served = 0;
  std::uint32_t clients = 0;
  std::uint32_t waiting = 0;
  bool draining = false;
  std::vector<shmem::SessionRow> sessions;
  std::vector<shmem::BackendRow> backends;
};

Rowset show_nodes(const shmem::NodeView& nodes, std::span<const NodeFacts> facts, int load_balance_node, bool streaming);
Rowset show_processes(std::span<const ProcessFacts> processes);
Rowset show_pools(std::span<const ProcessFacts> processes);
Rowset show_status(const config::Config& config, const shmem::NodeView& nodes);
Rowset show_version();

// "2026-11-30 04:20:00", local time; empty for 0.
std::string time_text(std::int64_t epoch_seconds);

}  // namespace weir::admin
