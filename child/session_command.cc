// What pgweir's own statements do and tell: see client_session.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "child/client_session.h"
#include "child/console.h"
#include "child/show_route.h"
#include "child/worker.h"
#include "common/admin/pgpool_command.h"
#include "common/admin/show_parameters.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/config/indexed.h"
#include "common/config/parameter.h"
#include "lb/explain.h"
#include "lb/reader.h"

namespace weir::child {
namespace {

constexpr std::size_t kMaxNamesTold = 100;

bool is_route(const parser::Statement& statement) { return statement.identifier == "route"; }
bool is_pgpool(const parser::Statement& statement) { return statement.identifier == "pgpool"; }

// The parameter that a session is to set or reset.
Result<const config::Parameter*> settable(std::string_view name) {
  const config::Parameter* parameter = config::find_parameter(name);
  if (parameter != nullptr) return parameter;
  if (!config::Indexed::is_indexed(name)) return fail(admin::no_such_parameter(name));
  return fail(make_error(sqlstate::kCantChangeRuntimeParam,
                         "invalid Context, value for parameter \"" + std::string(name) + "\" cannot be changed",
                         "It is set in the configuration file and needs a reload."));
}

// The nodes of which a redirected read that was not drawn yet may use one: of both outcomes of the redirect's ratio.
std::vector<int> redirected_nodes(const lb::Redirect& redirect, const shmem::NodeView& view, const lb::NodeSet& allowed) {
  lb::NodeSet nodes;
  const auto add = [&](double unit) {
    const lb::RedirectChoice choice = lb::apply_redirect(redirect, unit, view.primary, allowed);
    lb::NodeSet some;
    for (std::size_t id = 0; id < choice.nodes.size(); ++id) {
      if (choice.nodes.test(id) && view.nodes[id].weight > 0) some.set(id);
    }
    const int only = choice.node >= 0 ? choice.node : some.none() ? view.primary : -1;
    if (only >= 0) some = lb::NodeSet{}.set(static_cast<std::size_t>(only));
    nodes |= some;
  };
  if (redirect.ratio > 0) add(0);
  if (redirect.ratio < 1) add(std::nextafter(1.0, 0.0));
  std::vector<int> list;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    if (nodes.test(id)) list.push_back(static_cast<int>(id));
  }
  return list;
}

// What must be said of a parameter that is set and does nothing.
std::optional<Error> without_effect(const config::Parameter& parameter) {
  if (parameter.effect == config::Effect::Now) return std::nullopt;
  const bool later = parameter.effect == config::Effect::Later;
  Error warning = make_error(sqlstate::kWarning, "parameter \"" + std::string(parameter.name) + "\" " + (later ? "is not in effect yet" : "has no effect"),
                             std::string(parameter.documentation));
  warning.severity = Severity::Warning;
  return warning;
}

}  // namespace

Result<LocalAnswer> ClientSession::run_local(const parser::Statement& statement) {
  if (is_route(statement)) return LocalAnswer{show_route(explain_route(statement.argument)), {}, {}};
  if (is_pgpool(statement)) return run_pgpool(statement.argument);
  Result<admin::Rowset> rows = run_show(worker_, statement.identifier, reader_node_);
  if (!rows) return weir::fail(rows.error());
  return LocalAnswer{std::move(*rows), {}, {}};
}

Result<std::vector<admin::Column>> ClientSession::describe_local(const parser::Statement& statement) const {
  if (is_route(statement)) return route_columns();
  if (is_pgpool(statement)) {
    const auto command = admin::parse_pgpool(statement.argument);
    if (!command) return weir::fail(command.error());
    if (command->kind != admin::PgpoolCommand::Kind::Show) return std::vector<admin::Column>{};
    auto rows = admin::show_parameters(config(), command->name);
    if (!rows) return weir::fail(rows.error());
    return std::move(rows->columns);
  }
  return describe_show(statement.identifier);
}

Result<LocalAnswer> ClientSession::run_pgpool(std::string_view words) {
  using Kind = admin::PgpoolCommand::Kind;
  const auto command = admin::parse_pgpool(words);
  if (!command) return weir::fail(command.error());
  if (command->kind == Kind::Show) {
    auto rows = admin::show_parameters(config(), command->name);
    if (!rows) return weir::fail(rows.error());
    return LocalAnswer{std::move(*rows), {}, {}};
  }
  if (command->kind == Kind::ResetAll) {
    settings_.reset_all();
    expect_times();
    return LocalAnswer{{}, "RESET", {}};
  }
  const auto parameter = settable(command->name);
  if (!parameter) return weir::fail(parameter.error());
  const bool set = command->kind == Kind::Set;
  WEIR_TRY(set ? settings_.set(worker_.config(), **parameter, command->value) : settings_.reset(worker_.config(), **parameter));
  expect_times();
  LocalAnswer answer{{}, "SET", {}};
  if (auto warning = without_effect(**parameter); warning && set) answer.notices.push_back(std::move(*warning));
  return answer;
}

// Of NODES, which could be drawn, those that are too far behind give way to what would be read in their place.
void ClientSession::keep_within_delay(bool prefer_standby, std::vector<int>& nodes) {
  lb::ReaderInputs inputs = reader_inputs(prefer_standby ? lb::Candidates::Standbys : lb::Candidates::Readable);
  for (int& node : nodes) {
    inputs.kept = node;
    const int instead = lb::choose_reader(inputs).node;
    node = instead >= 0 ? instead : worker_.nodes().primary;
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

// The decision as it would be made now. Nothing is sent but, at most, the question what the names of TEXT are, and
// nothing that TEXT would do to the session counts.
RouteAnswer ClientSession::explain_route(std::string_view text) {
  Resolver& resolver = worker_.resolver();
  resolver.refresh();
  const FactsPtr facts = facts_of(text);
  const Resolution& resolution = resolver.resolve(facts, context_);
  routing_.transaction_status = status_;
  routing_.reads_aside = may_read_aside();
  verify_writes();
  const std::array items{route_item(resolution, worker_.policy().matches_primary_pattern(text))};
  RouteAnswer answer;
  answer.target = lb::route(items, routing_, worker_.policy());
  const auto& statements = facts->facts.statements;
  if (statements.size() == 1 && may_hold(statements.front())) {
    answer.target.scope = lb::Scope::Local;
    answer.target.reason = answer.target.cause = lb::Reason::BlockHeld;
  }
  const int held = block_node_ >= 0 ? block_node_ : active_ != nullptr ? active_->node() : -1;
  const int reader = config().statement_level_load_balance ? -1 : reader_node_;
  lb::NodeSet excluded = avoided();
  const int hinted = answer.target.scope == lb::Scope::Node ? answer.target.node : -1;
  if (hinted >= 0 && !lb::may_read(reader_inputs(lb::Candidates::Readable), hinted)) excluded.set(static_cast<std::size_t>(hinted));
  answer.nodes = route_nodes(answer.target, worker_.nodes(), held, reader, excluded);
  const lb::Redirect redirect = worker_.policy().redirect(identity_.application_name, identity_.database, identity_.user);
  if (redirect.to != lb::Redirect::To::None && answer.target.scope == lb::Scope::AnyReadable && reader < 0) {
    const auto candidates = answer.target.prefer_standby ? lb::Candidates::Standbys : lb::Candidates::Readable;
    answer.nodes = redirected_nodes(redirect, worker_.nodes(), lb::eligible(worker_.nodes(), candidates) & ~excluded);
  }
  if (answer.target.scope == lb::Scope::AnyReadable) keep_within_delay(answer.target.prefer_standby, answer.nodes);
  answer.statements = facts->facts.statements.size();
  if (answer.statements == 1 && facts->facts.statements.front().kind == parser::StatementKind::Empty) answer.statements = 0;
  answer.names = lb::explain_names(facts->facts, resolver.input(context_), worker_.policy(), resolver.catalog(), kMaxNamesTold + 1);
  if (items.front().executed != nullptr) {
    for (auto& name : lb::explain_names(*items.front().executed, resolver.input(context_), worker_.policy(), resolver.catalog(), kMaxNamesTold + 1)) {
      if (answer.names.size() <= kMaxNamesTold) answer.names.push_back(std::move(name));
    }
  }
  answer.more_names = answer.names.size() > kMaxNamesTold;
  if (answer.more_names) answer.names.pop_back();
  answer.session = lb::explain_session(routing_);
  answer.dry_run = config().routing_dry_run;
  return answer;
}

}  // namespace weir::child
