#include "parser/set_facts.h"

#include <algorithm>
#include <string>

#include "parser/lexical.h"
#include "parser/names.h"

namespace weir::parser {
namespace {

using Isolation = TransactionModes::Isolation;

Isolation isolation_of(std::string_view level) {
  if (level == "serializable")
    return Isolation::Serializable;
  if (level == "repeatable read")
    return Isolation::RepeatableRead;
  if (level == "read committed")
    return Isolation::ReadCommitted;
  if (level == "read uncommitted")
    return Isolation::ReadUncommitted;
  return Isolation::Unset;
}

// The text of a constant as SET would take it; false: NULL, a bit string or none.
bool literal_text(const PgQuery__AConst* constant, std::string& out) {
  if (constant == nullptr || constant->isnull != 0)
    return false;
  switch (constant->val_case) {
  case PG_QUERY__A__CONST__VAL_SVAL:
    out = text_of(constant->sval->sval);
    return true;
  case PG_QUERY__A__CONST__VAL_IVAL:
    out = std::to_string(constant->ival->ival);
    return true;
  case PG_QUERY__A__CONST__VAL_FVAL:
    out = text_of(constant->fval->fval);
    return true;
  case PG_QUERY__A__CONST__VAL_BOOLVAL:
    out = constant->boolval->boolval != 0 ? "true" : "false";
    return true;
  default:
    return false;
  }
}

Tristate tristate_of(std::string_view value) {
  if (value == "on" || value == "true" || value == "yes" || value == "1")
    return Tristate::Yes;
  if (value == "off" || value == "false" || value == "no" || value == "0")
    return Tristate::No;
  return Tristate::Unset;
}

// A mode named PARAMETER ("transaction_isolation" ...) with VALUE; false: not understood.
bool set_mode(std::string_view parameter, std::string_view value, TransactionModes& modes) {
  if (parameter == "transaction_isolation") {
    modes.isolation = isolation_of(value);
    return modes.isolation != Isolation::Unset;
  }
  const Tristate state = tristate_of(value);
  if (parameter == "transaction_read_only")
    modes.read_only = state;
  if (parameter == "transaction_deferrable")
    modes.deferrable = state;
  return state != Tristate::Unset;
}

// SET TRANSACTION ..., SET transaction_read_only = ..., RESET TRANSACTION ISOLATION LEVEL: of the
// open block only.
void read_set_transaction(const PgQuery__VariableSetStmt& set, std::string_view name,
                          Statement& out) {
  out.kind = StatementKind::SetTransaction;
  if (name == "transaction") {
    out.identifier = "transaction";
    read_modes(set.n_args, set.args, out.transaction);
    return;
  }
  out.identifier = name == "transaction snapshot" ? std::string_view("transaction_snapshot") : name;
  if (name == "transaction snapshot")
    return;
  std::string value;
  const bool plain = set.kind == PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE && set.n_args == 1 &&
                     literal_text(constant_of(set.args[0]), value);
  if (!plain || !set_mode(name, lower(value), out.transaction))
    out.opaque_effects = true;
}

// A literal of the server: quotes doubled, backslashes only in the E'' form, which means the same
// everywhere.
std::string quoted(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  std::string out = escapes ? "E'" : "'";
  for (char c : text) {
    if (c == '\'' || c == '\\')
      out += c;
    out += c;
  }
  out += '\'';
  return out;
}

const PgQuery__FuncCall* call_of(const PgQuery__Node* target) {
  if (target == nullptr || target->node_case != PG_QUERY__NODE__NODE_RES_TARGET)
    return nullptr;
  const PgQuery__Node* value = target->res_target->val;
  return value != nullptr && value->node_case == PG_QUERY__NODE__NODE_FUNC_CALL ? value->func_call
                                                                                : nullptr;
}

bool is_set_config(const PgQuery__FuncCall& call) {
  if (call.n_funcname == 0 || call.n_args != 3 || call.n_agg_order > 0 ||
      call.agg_filter != nullptr || call.over != nullptr || call.agg_distinct != 0 ||
      call.func_variadic != 0) {
    return false;
  }
  if (string_of(call.funcname[call.n_funcname - 1]) != "set_config")
    return false;
  return call.n_funcname == 1 ||
         (call.n_funcname == 2 && string_of(call.funcname[0]) == "pg_catalog");
}

bool read_call(const PgQuery__FuncCall& call, SetChange& change) {
  const PgQuery__AConst* name = constant_of(call.args[0]);
  const PgQuery__AConst* value = constant_of(call.args[1]);
  const PgQuery__AConst* local = constant_of(call.args[2]);
  if (name == nullptr || name->val_case != PG_QUERY__A__CONST__VAL_SVAL || value == nullptr ||
      local == nullptr || local->val_case != PG_QUERY__A__CONST__VAL_BOOLVAL) {
    return false;
  }
  const bool null = value->isnull != 0;
  if (!null && value->val_case != PG_QUERY__A__CONST__VAL_SVAL)
    return false;
  const std::string_view written = text_of(name->sval->sval);
  change.parameter = lower(written);
  if (is_transaction_setting(change.parameter))
    return false;
  if (null) {
    if (local->boolval->boolval != 0)
      return false;
    change.action = SetAction::Reset;
    change.replay = "SELECT pg_catalog.set_config(" + quoted(written) + ", NULL, false)";
    return true;
  }
  change.literal = text_of(value->sval->sval);
  change.has_literal = true;
  const bool is_local = local->boolval->boolval != 0;
  change.scope = is_local ? SetScope::Local : SetScope::Session;
  change.replay = "SELECT pg_catalog.set_config(" + quoted(written) + ", " +
                  quoted(change.literal) + (is_local ? ", true)" : ", false)");
  return true;
}

// The schemas of SET search_path as set_config would take them; false if one of them would have to be
// quoted there.
bool path_text(const PgQuery__VariableSetStmt& set, std::string& out) {
  for (std::size_t i = 0; i < set.n_args; ++i) {
    std::string schema;
    if (!literal_text(constant_of(set.args[i]), schema))
      return false;
    const bool simple = std::all_of(schema.begin(), schema.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
    });
    if (!simple || (schema.empty() && set.n_args > 1))
      return false;
    out += (i == 0 ? "" : ", ") + schema;
  }
  return set.n_args > 0;
}

} // namespace

void read_modes(std::size_t count, PgQuery__Node* const* options, TransactionModes& modes) {
  for (std::size_t i = 0; i < count; ++i) {
    const PgQuery__DefElem* option = option_of(options[i]);
    std::string value;
    if (option == nullptr || !literal_text(constant_of(option->arg), value))
      continue;
    set_mode(text_of(option->defname), lower(value), modes);
  }
}

void read_set(const PgQuery__VariableSetStmt& set, std::string_view text, Statement& out) {
  const std::string name = lower(text_of(set.name));
  if (name == "transaction" || name == "transaction snapshot" || is_transaction_setting(name)) {
    read_set_transaction(set, name, out);
    return;
  }
  SetChange change;
  change.scope = set.is_local != 0 ? SetScope::Local : SetScope::Session;
  change.parameter = name == "session characteristics" ? "session_characteristics" : name;
  switch (set.kind) {
  case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE:
    change.has_literal = name == "search_path"
                             ? path_text(set, change.literal)
                             : set.n_args == 1 && literal_text(constant_of(set.args[0]), change.literal);
    break;
  case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    change.to_default = true;
    break;
  case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI:
    if (change.parameter != "session_characteristics")
      out.opaque_effects = true;
    read_modes(set.n_args, set.args, out.transaction);
    break;
  case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
    out.kind = StatementKind::Reset;
    change.action = SetAction::Reset;
    break;
  case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
    out.kind = StatementKind::Reset;
    out.all = true;
    change.action = SetAction::ResetAll;
    change.parameter.clear();
    break;
  default: // FROM CURRENT
    out.identifier = change.parameter;
    out.opaque_effects = true;
    return;
  }
  out.identifier = change.parameter;
  change.replay = without_tail(text);
  out.sets.push_back(std::move(change));
}

std::vector<const PgQuery__FuncCall*> read_set_config(const PgQuery__SelectStmt& select,
                                                      Statement& out) {
  // Anything beside the target list may keep the calls from being made, or make them more than
  // once.
  if (select.n_target_list == 0 || select.n_from_clause > 0 || select.where_clause != nullptr ||
      select.n_group_clause > 0 || select.having_clause != nullptr || select.n_sort_clause > 0 ||
      select.limit_count != nullptr || select.limit_offset != nullptr ||
      select.with_clause != nullptr || select.larg != nullptr || select.into_clause != nullptr ||
      select.n_distinct_clause > 0 || select.n_locking_clause > 0 || select.n_window_clause > 0) {
    return {};
  }
  std::vector<const PgQuery__FuncCall*> calls;
  std::vector<SetChange> changes;
  for (std::size_t i = 0; i < select.n_target_list; ++i) {
    const PgQuery__FuncCall* call = call_of(select.target_list[i]);
    SetChange change;
    if (call == nullptr || !is_set_config(*call) || !read_call(*call, change))
      return {};
    calls.push_back(call);
    changes.push_back(std::move(change));
  }
  out.sets = std::move(changes);
  return calls;
}

} // namespace weir::parser
