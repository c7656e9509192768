// Node tables for the tests of choosing a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/shmem/node_view.h"

namespace weir::lb {

// Node 0 is the primary, the others are standbys, all up.
inline shmem::NodeView cluster(const std::vector<double>& weights) {
  shmem::NodeView view;
  view.count = static_cast<std::int32_t>(weights.size());
  view.primary = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    shmem::Node& node = view.nodes[i];
    node.port = 5432;
    node.weight = weights[i];
    node.status = shmem::NodeStatus::Up;
    node.role = i == 0 ? shmem::NodeRole::Primary : shmem::NodeRole::Standby;
  }
  return view;
}

}  // namespace weir::lb
