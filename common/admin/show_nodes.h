// SHOW POOL_NODES. Pure: values in, rows out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/admin/rowset.h"
#include "common/admin/show_text.h"
#include "common/shmem/node_view.h"
#include "common/shmem/observations.h"

namespace weir::admin {

// What is known of a node beside the node table.
struct NodeFacts {
  shmem::Observation observation;
  std::uint64_t selects = 0;  // SELECTs sent there since pgweir started
  shmem::ReplicationDelay delay;
  std::string_view hindrance;  // why it gets no reads although it is usable, of static storage; empty if it does
};

// Pgpool-II's columns, then `reason`: why a node is not usable, or gets no reads; empty if it is.
// lb_weight and replication_delay are text, for the forms that Pgpool-II's users parse ("0.500000", "1 second").
std::vector<Column> nodes_columns();

// One row for each node id in use, and for each that is left out between them ("unused"). FACTS by node id; a node
// without facts has not been asked. LOAD_BALANCE_NODE: of the session that asks, -1 none. STREAMING: the clustering
// mode, which decides between primary/standby and main/replica. UNIT: of replication_delay.
Rowset show_nodes(const shmem::NodeView& nodes, std::span<const NodeFacts> facts, int load_balance_node,
                  bool streaming, DelayUnit unit = DelayUnit::Bytes);

}  // namespace weir::admin
