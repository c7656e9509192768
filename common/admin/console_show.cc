#include "common/admin/console_show.h"

#include "common/admin/console_tables.h"
#include "common/admin/show_version.h"
#include "common/config/parameter.h"

namespace weir::admin {
namespace {

std::vector<Column> config_columns() { return {{"key"}, {"value"}, {"default"}, {"changeable"}, {"unit"}, {"source"}}; }

Rowset show_config(const config::Config& config) {
  Rowset out{config_columns(), {}};
  for (const config::Parameter& parameter : config::parameters()) {
    const auto source = config.sources.find(std::string(parameter.name));
    const bool choices = parameter.kind == config::Kind::ENUM || parameter.kind == config::Kind::LIST;
    out.rows.push_back(Row{std::string(parameter.name), config::show_parameter(config, parameter), std::string(parameter.default_text),
                           parameter.context == config::Context::Startup ? "no" : "yes", choices ? "" : std::string(parameter.unit),
                           source != config.sources.end() ? source->second : "default"});
  }
  return out;
}

std::vector<Column> state_columns() { return {{"key"}, {"value"}}; }

Rowset show_state() { return {state_columns(), {Row{"active", "yes"}, Row{"paused", "no"}, Row{"suspended", "no"}}}; }

}  // namespace

std::vector<Column> console_columns(ConsoleShow show) {
  switch (show) {
    case ConsoleShow::Clients:
    case ConsoleShow::Servers: return sockets_columns();
    case ConsoleShow::Pools: return console_pools_columns();
    case ConsoleShow::Databases: return databases_columns();
    case ConsoleShow::Users: return users_columns();
    case ConsoleShow::Lists: return lists_columns();
    case ConsoleShow::Leases: return leases_columns();
    case ConsoleShow::Limits: return limits_columns();
    case ConsoleShow::Stats: return stats_columns(StatsPart::Both);
    case ConsoleShow::StatsTotals: return stats_columns(StatsPart::Totals);
    case ConsoleShow::StatsAverages: return stats_columns(StatsPart::Averages);
    case ConsoleShow::Totals: return totals_columns();
    case ConsoleShow::Config: return config_columns();
    case ConsoleShow::State: return state_columns();
    case ConsoleShow::Version: return {{"version"}};
    case ConsoleShow::Help: break;
  }
  return {};
}

Rowset console_rows(ConsoleShow show, const ConsoleView& view) {
  switch (show) {
    case ConsoleShow::Clients: return show_sockets(view.census.clients, true);
    case ConsoleShow::Servers: return show_sockets(view.census.servers, false);
    case ConsoleShow::Pools: return show_console_pools(view);
    case ConsoleShow::Databases: return show_databases(view);
    case ConsoleShow::Users: return show_users(view);
    case ConsoleShow::Lists: return show_lists(view);
    case ConsoleShow::Leases: return show_leases(view);
    case ConsoleShow::Limits: return show_limits(view);
    case ConsoleShow::Stats: return show_stats(view, StatsPart::Both);
    case ConsoleShow::StatsTotals: return show_stats(view, StatsPart::Totals);
    case ConsoleShow::StatsAverages: return show_stats(view, StatsPart::Averages);
    case ConsoleShow::Totals: return show_totals(view);
    case ConsoleShow::Config: return show_config(*view.config);
    case ConsoleShow::State: return show_state();
    case ConsoleShow::Version: return {{{"version"}}, {Row{std::string(kProgramVersion)}}};
    case ConsoleShow::Help: break;
  }
  return {};
}

}  // namespace weir::admin
