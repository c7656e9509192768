#include "lb/choose.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weir::lb {
namespace {

// A weight that is not a positive finite number counts as 0.
double weight_of(const shmem::NodeView& view, std::size_t id) {
  const double weight = view.nodes[id].weight;
  return std::isfinite(weight) && weight > 0 ? weight : 0;
}

constexpr double kExplore = 1.0 / 16;
constexpr std::uint32_t kMostLatency = 1U << 30U;

NodeSet with_weight(const shmem::NodeView& view, const NodeSet& allowed) {
  NodeSet nodes;
  for (std::size_t id = 0; id < allowed.size(); ++id) nodes[id] = allowed.test(id) && weight_of(view, id) > 0;
  return nodes;
}

// Those of NODES for which SCORE is not above the least score by more than SLACK allows.
template <typename Score, typename Slack>
NodeSet least(const NodeSet& nodes, Score score, Slack slack) {
  double best = -1;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (nodes.test(id) && (best < 0 || score(id) < best)) best = score(id);
  }
  NodeSet chosen;
  for (std::size_t id = 0; id < nodes.size(); ++id) chosen[id] = nodes.test(id) && score(id) <= slack(best);
  return chosen;
}

NodeSet least_connections(const shmem::NodeView& view, const NodeSet& nodes, const NodeLoads& loads) {
  return least(nodes, [&](std::size_t id) { return loads.connections[id] / weight_of(view, id); },
               [](double best) { return best * (1 + 1e-9); });
}

NodeSet least_latency(const NodeSet& nodes, const NodeLoads& loads) {
  NodeSet unmeasured;
  for (std::size_t id = 0; id < nodes.size(); ++id) unmeasured[id] = nodes.test(id) && loads.latency[id] == 0;
  if (unmeasured.any()) return unmeasured;
  return least(nodes, [&](std::size_t id) { return static_cast<double>(loads.latency[id]); },
               [](double best) { return best * 1.25 + 100; });
}

}  // namespace

int choose_by(Algorithm algorithm, const shmem::NodeView& view, const NodeSet& allowed, const NodeLoads& loads,
              double random_unit) {
  const NodeSet nodes = with_weight(view, allowed);
  switch (algorithm) {
    case Algorithm::Weighted: break;
    case Algorithm::LeastConnections: return choose(view, least_connections(view, nodes, loads), random_unit);
    case Algorithm::LeastLatency:
      if (random_unit < kExplore) return choose(view, nodes, random_unit / kExplore);
      return choose(view, least_latency(nodes, loads), (random_unit - kExplore) / (1 - kExplore));
  }
  return choose(view, nodes, random_unit);
}

std::uint32_t smoothed_latency(std::uint32_t smoothed, std::int64_t sample) {
  const auto bounded = static_cast<std::uint32_t>(std::clamp<std::int64_t>(sample, 1, kMostLatency));
  if (smoothed == 0) return bounded;
  const std::int64_t next = std::int64_t{smoothed} + (std::int64_t{bounded} - std::int64_t{smoothed}) / 8;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(next, 1));
}

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
