// The draw of a node for a balanced exchange or session. Pure: loads and random numbers are handed in.
#pragma once

#include <array>
#include <cstdint>

#include "common/shmem/node_view.h"
#include "lb/algorithm.h"
#include "lb/eligible.h"

namespace weir::lb {

// How busy each node is, by node id, as pgweir sees it.
struct NodeLoads {
  std::array<std::uint32_t, shmem::kMaxNodes> connections{};  // in use by clients, or being opened
  std::array<std::uint32_t, shmem::kMaxNodes> latency{};      // microseconds, smoothed; 0: not measured
};

// A node drawn by weight among ALLOWED, which must all be nodes of VIEW. RANDOM_UNIT is uniform in [0, 1). A node of
// weight 0 is never drawn. -1: none has weight; the caller takes the primary.
int choose(const shmem::NodeView& view, const NodeSet& allowed, double random_unit);

// The same by ALGORITHM. Weight 0 is never drawn by any.
//   Weighted          as above
//   LeastConnections  the fewest connections for its weight; among equals by weight
//   LeastLatency      by weight among those within a quarter (and 100 us) of the quickest; one that was not measured yet
//                     goes first, and one draw in 16 is by weight among all, so that a node that was slow once is
//                     measured again
int choose_by(Algorithm algorithm, const shmem::NodeView& view, const NodeSet& allowed, const NodeLoads& loads,
              double random_unit);

// The next smoothed latency after SAMPLE (microseconds): an eighth of the way. The first sample counts whole. Never 0.
std::uint32_t smoothed_latency(std::uint32_t smoothed, std::int64_t sample);

}  // namespace weir::lb
