// SHOW STATS, STATS_TOTALS, STATS_AVERAGES and TOTALS.
#include <array>
#include <string_view>

#include "common/admin/console_tables.h"

namespace weir::admin {
namespace {

using shmem::Traffic;

// PgBouncer has several names for one thing.
struct Names {
  std::string_view stats_total;
  std::string_view stats_average;
  std::string_view total;
  std::string_view average;
  std::string_view overall;
};
constexpr Names kNames[] = {
    {"total_server_assignment_count", "avg_server_assignment_count", "server_assignment_count", "server_assignment_count", "server_assignment_count"},
    {"total_xact_count", "avg_xact_count", "xact_count", "xact_count", "xact_count"},
    {"total_query_count", "avg_query_count", "query_count", "query_count", "query_count"},
    {"total_received", "avg_recv", "bytes_received", "bytes_received", "client_bytes"},
    {"total_sent", "avg_sent", "bytes_sent", "bytes_sent", "server_bytes"},
    {"total_xact_time", "avg_xact_time", "xact_time", "xact_time", "xact_time"},
    {"total_query_time", "avg_query_time", "query_time", "query_time", "query_time"},
    {"total_wait_time", "avg_wait_time", "wait_time", "wait_time", "wait_time"},
    {"total_client_parse_count", "avg_client_parse_count", "client_parse_count", "avg_client_parse_count", "ps_client_parse_count"},
    {"total_server_parse_count", "avg_server_parse_count", "server_parse_count", "avg_server_parse_count", "ps_server_parse_count"},
    {"total_bind_count", "avg_bind_count", "bind_count", "avg_bind_count", "ps_bind_count"},
    {"total_client_login_count", "avg_client_login_count", "client_login_count", "avg_client_login_count", "client_login_count"},
};
static_assert(std::size(kNames) == shmem::kTrafficKinds);

std::uint64_t of(const shmem::TrafficSums& sums, Traffic kind) { return sums[static_cast<std::size_t>(kind)]; }

// Counts and bytes a second; times for each of what they are the times of.
std::uint64_t average(const DatabaseTraffic& traffic, std::size_t kind) {
  const auto each = [&](Traffic of_what) {
    const std::uint64_t count = of(traffic.recent, of_what);
    return count > 0 ? traffic.recent[kind] / count : 0;
  };
  switch (static_cast<Traffic>(kind)) {
    case Traffic::TransactionTime: return each(Traffic::Transactions);
    case Traffic::QueryTime: return each(Traffic::Queries);
    case Traffic::WaitTime: return each(Traffic::Assignments);
    default: return static_cast<std::uint64_t>(traffic.rates[kind]);
  }
}

}  // namespace

std::vector<Column> stats_columns(StatsPart part) {
  std::vector<Column> columns{{"database"}};
  const auto add = [&](std::string_view Names::*field) {
    for (const Names& names : kNames) columns.push_back({std::string(names.*field), kNumeric});
  };
  if (part == StatsPart::Both) add(&Names::stats_total);
  if (part == StatsPart::Both) add(&Names::stats_average);
  if (part == StatsPart::Totals) add(&Names::total);
  if (part == StatsPart::Averages) add(&Names::average);
  return columns;
}

Rowset show_stats(const ConsoleView& view, StatsPart part) {
  Rowset out{stats_columns(part), {}};
  for (const DatabaseTraffic& traffic : view.traffic) {
    Row row{traffic.database};
    if (part != StatsPart::Averages) {
      for (const std::uint64_t total : traffic.totals) row.emplace_back(std::to_string(total));
    }
    if (part != StatsPart::Totals) {
      for (std::size_t kind = 0; kind < shmem::kTrafficKinds; ++kind) row.emplace_back(std::to_string(average(traffic, kind)));
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::vector<Column> totals_columns() { return {{"name"}, {"value", kNumeric}}; }

Rowset show_totals(const ConsoleView& view) {
  DatabaseTraffic all;
  for (const DatabaseTraffic& traffic : view.traffic) {
    for (std::size_t kind = 0; kind < shmem::kTrafficKinds; ++kind) {
      all.totals[kind] += traffic.totals[kind];
      all.recent[kind] += traffic.recent[kind];
      all.rates[kind] += traffic.rates[kind];
    }
  }
  Rowset out{totals_columns(), {}};
  for (std::size_t kind = 0; kind < shmem::kTrafficKinds; ++kind) out.rows.push_back(Row{"total_" + std::string(kNames[kind].overall), std::to_string(all.totals[kind])});
  for (std::size_t kind = 0; kind < shmem::kTrafficKinds; ++kind) out.rows.push_back(Row{"avg_" + std::string(kNames[kind].overall), std::to_string(average(all, kind))});
  return out;
}

}  // namespace weir::admin
