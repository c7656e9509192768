#include "lb/eligible.h"

namespace weir::lb {

bool eligible_node(const shmem::NodeView& view, int id, Candidates candidates) {
  if (id < 0 || id >= view.count || id >= shmem::kMaxNodes) return false;
  const shmem::Node& node = view.nodes[static_cast<std::size_t>(id)];
  if (node.port == 0 || !node.usable()) return false;
  if (id == view.primary) return candidates == Candidates::Readable;
  return node.role == shmem::NodeRole::Standby;
}

NodeSet eligible(const shmem::NodeView& view, Candidates candidates) {
  NodeSet set;
  for (int id = 0; id < view.count && id < shmem::kMaxNodes; ++id) {
    if (eligible_node(view, id, candidates)) set.set(static_cast<std::size_t>(id));
  }
  return set;
}

}  // namespace weir::lb
