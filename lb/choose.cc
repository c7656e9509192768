#include "lb/choose.h"

#include <cmath>
#include <cstddef>

namespace weir::lb {
namespace {

// A weight that is not a positive finite number counts as 0.
double weight_of(const shmem::NodeView& view, std::size_t id) {
  const double weight = view.nodes[id].weight;
  return std::isfinite(weight) && weight > 0 ? weight : 0;
}

}  // namespace

int choose(const shmem::NodeView& view, const NodeSet& allowed, double random_unit) {
  double total = 0;
  for (std::size_t id = 0; id < allowed.size(); ++id) {
    if (allowed.test(id)) total += weight_of(view, id);
  }
  if (!(total > 0)) return -1;
  double mark = random_unit * total;
  int last = -1;  // rounding may carry the mark past the end: then the last one with weight
  for (std::size_t id = 0; id < allowed.size(); ++id) {
    if (!allowed.test(id)) continue;
    const double weight = weight_of(view, id);
    if (weight == 0) continue;
    last = static_cast<int>(id);
    if (mark < weight) return last;
    mark -= weight;
  }
  return last;
}

}  // namespace weir::lb
