#include "common/admin/show_backend_stats.h"

#include <algorithm>
#include <string>

#include "common/admin/show_text.h"

namespace weir::admin {
namespace {

using shmem::ErrorClass;
using shmem::StatementClass;

std::size_t node_count(const shmem::NodeView& nodes) {
  return static_cast<std::size_t>(std::clamp<int>(nodes.count, 0, shmem::kMaxNodes));
}

shmem::NodeTotals totals_of(std::span<const shmem::NodeTotals> totals, std::size_t id) {
  return id < totals.size() ? totals[id] : shmem::NodeTotals{};
}

}  // namespace

std::vector<Column> backend_stats_columns() {
  return {{"node_id", kInt4},    {"hostname"},          {"port", kInt4},       {"status"},          {"role"},
          {"select_cnt", kInt8}, {"insert_cnt", kInt8}, {"update_cnt", kInt8}, {"delete_cnt", kInt8}, {"ddl_cnt", kInt8},
          {"other_cnt", kInt8},  {"panic_cnt", kInt8},  {"fatal_cnt", kInt8},  {"error_cnt", kInt8}};
}

Rowset show_backend_stats(const shmem::NodeView& nodes, std::span<const shmem::NodeTotals> totals, bool streaming) {
  Rowset out{backend_stats_columns(), {}};
  for (std::size_t id = 0; id < node_count(nodes); ++id) {
    const shmem::Node& node = nodes.nodes[id];
    const shmem::NodeTotals total = totals_of(totals, id);
    Row row{std::to_string(id), std::string(node.hostname.view()), std::to_string(node.port),
            std::string(status_text(node)), std::string(role_text(nodes, static_cast<int>(id), streaming))};
    for (const StatementClass kind : {StatementClass::Select, StatementClass::Insert, StatementClass::Update,
                                      StatementClass::Delete, StatementClass::Ddl, StatementClass::Other}) {
      row.emplace_back(std::to_string(total.of(kind)));
    }
    for (const ErrorClass kind : {ErrorClass::Panic, ErrorClass::Fatal, ErrorClass::Error}) {
      row.emplace_back(std::to_string(total.of(kind)));
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::vector<Column> route_stats_columns() {
  return {{"node_id", kInt4}, {"hostname"},         {"port", kInt4},     {"role"},
          {"reason"},         {"decisions", kInt8}, {"dry_runs", kInt8}, {"explanation"}};
}

Rowset show_route_stats(const shmem::NodeView& nodes, std::span<const shmem::NodeTotals> totals,
                        std::span<const ReasonText> reasons, bool streaming) {
  Rowset out{route_stats_columns(), {}};
  for (std::size_t id = 0; id < node_count(nodes); ++id) {
    const shmem::Node& node = nodes.nodes[id];
    const shmem::NodeTotals total = totals_of(totals, id);
    for (std::size_t i = 0; i < std::min(reasons.size(), shmem::kMaxReasons); ++i) {
      if (total.decisions[i] == 0 && total.dry_runs[i] == 0) continue;
      out.rows.push_back(Row{std::to_string(id), std::string(node.hostname.view()), std::to_string(node.port),
                             std::string(role_text(nodes, static_cast<int>(id), streaming)),
                             std::string(reasons[i].name), std::to_string(total.decisions[i]),
                             std::to_string(total.dry_runs[i]), std::string(reasons[i].text)});
    }
  }
  return out;
}

}  // namespace weir::admin
