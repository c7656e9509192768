#include "common/admin/show_nodes.h"

#include <algorithm>
#include <string>

#include "common/admin/show_text.h"

namespace weir::admin {
namespace {

// Whether its last answer came from a server that is there for clients.
bool answers(shmem::Answer answer) {
  switch (answer) {
    case shmem::Answer::Ok:
    case shmem::Answer::Saturated:
    case shmem::Answer::WrongRole:
    case shmem::Answer::BadCredentials: return true;
    default: return false;
  }
}

std::string_view pg_status_text(const shmem::Observation& seen) {
  if (seen.answer == shmem::Answer::None) return "unknown";
  return answers(seen.answer) ? "up" : "down";
}

std::string_view pg_role_text(const shmem::Observation& seen) {
  if (!answers(seen.answer) || seen.in_recovery < 0) return "unknown";
  return seen.in_recovery == 1 ? "standby" : "primary";
}

// Nobody is behind but a standby.
std::string delay_of(const NodeFacts& facts, bool primary, DelayUnit unit) {
  const bool standby = !primary && facts.observation.in_recovery == 1;
  return standby ? delay_text(facts.delay, unit) : delay_text({0, 0, 1}, unit);
}

}  // namespace

std::vector<Column> nodes_columns() {
  return {{"node_id", kInt4},
          {"hostname"},
          {"port", kInt4},
          {"status"},
          {"pg_status"},
          {"lb_weight"},
          {"role"},
          {"pg_role"},
          {"select_cnt", kInt8},
          {"load_balance_node"},
          {"replication_delay"},
          {"replication_state"},
          {"replication_sync_state"},
          {"last_status_change"},
          {"reason"}};
}

Rowset show_nodes(const shmem::NodeView& nodes, std::span<const NodeFacts> facts, int load_balance_node,
                  bool streaming, DelayUnit unit) {
  Rowset out{nodes_columns(), {}};
  const int count = std::clamp<int>(nodes.count, 0, shmem::kMaxNodes);
  const auto facts_of = [&](int id) {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < facts.size() ? facts[index] : NodeFacts{};
  };
  double total = 0;
  for (int id = 0; id < count; ++id) total += nodes.nodes[static_cast<std::size_t>(id)].weight;
  for (int id = 0; id < count; ++id) {
    const shmem::Node& node = nodes.nodes[static_cast<std::size_t>(id)];
    const NodeFacts known = facts_of(id);
    const shmem::Observation& seen = known.observation;
    const std::string_view reason = node.reason.view();
    out.rows.push_back(Row{std::to_string(id),
                           std::string(node.hostname.view()),
                           std::to_string(node.port),
                           std::string(status_text(node)),
                           std::string(pg_status_text(seen)),
                           weight_text(node.weight, total),
                           std::string(role_text(nodes, id, streaming)),
                           std::string(pg_role_text(seen)),
                           std::to_string(known.selects),
                           id == load_balance_node ? "true" : "false",
                           delay_of(known, id == nodes.primary, unit),
                           std::string(seen.replication_state.view()),
                           std::string(seen.sync_state.view()),
                           time_text(node.changed_at),
                           std::string(reason.empty() ? known.hindrance : reason)});
  }
  return out;
}

}  // namespace weir::admin
