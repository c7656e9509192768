// Which nodes may take new reads.
#pragma once

#include <bitset>

#include "common/shmem/node_view.h"

namespace weir::lb {

using NodeSet = std::bitset<shmem::kMaxNodes>;

// Readable: the primary and the standbys. Standbys: without the primary.
enum class Candidates { Readable, Standbys };

// True if node ID of VIEW may take a new read: up, ready (a draining or detached node takes none) and known to be the
// primary or a standby. A second writable server, or one whose role is not known, is never read.
bool eligible_node(const shmem::NodeView& view, int id, Candidates candidates = Candidates::Readable);

// All nodes that may take a new read, whatever their weight.
NodeSet eligible(const shmem::NodeView& view, Candidates candidates);

}  // namespace weir::lb
