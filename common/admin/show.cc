#include "common/admin/show.h"

namespace weir::admin {

std::vector<Column> show_columns(ShowCommand command) {
  switch (command) {
    case ShowCommand::Nodes: return nodes_columns();
    case ShowCommand::Processes: return processes_columns();
    case ShowCommand::Pools: return pools_columns();
    case ShowCommand::Status: return status_columns();
    case ShowCommand::BackendStats: return backend_stats_columns();
    case ShowCommand::RouteStats: return route_stats_columns();
    case ShowCommand::Version: return version_columns();
    case ShowCommand::NotYet: break;
  }
  return {};
}

}  // namespace weir::admin
