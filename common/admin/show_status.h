// SHOW POOL_STATUS. Pure: values in, rows out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/admin/rowset.h"
#include "common/config/config.h"
#include "common/shmem/node_view.h"
#include "common/shmem/replication_delay.h"

namespace weir::admin {

struct StatusItem {
  std::string item;
  std::string value;
  std::string_view description;  // of static storage
};

// The items of the configuration in effect, in Pgpool-II's order: its parameters, those of each node, then pgweir's
// own. Values are raw: booleans 0 and 1, choices as numbers where Pgpool-II has such. Secrets are left out. DELAYS by node
// id.
std::vector<StatusItem> status_items(const config::Config& config, const shmem::NodeView& nodes,
                                     std::span<const shmem::ReplicationDelay> delays = {});

std::vector<Column> status_columns();
Rowset show_status(std::vector<StatusItem> items);
inline Rowset show_status(const config::Config& config, const shmem::NodeView& nodes,
                          std::span<const shmem::ReplicationDelay> delays) {
  return show_status(status_items(config, nodes, delays));
}

}  // namespace weir::admin
