#include "parser/fact_walker.h"

#include <algorithm>
#include <cctype>

#include "parser/classify.h"
#include "parser/names.h"
#include "parser/statement_kind.h"
#include "parser/walk.h"

namespace weir::parser {
namespace {

std::string_view text_of(const char* text) { return text != nullptr ? std::string_view(text) : std::string_view(); }

// The text of a String node (names are lists of them).
std::string_view string_value(const PgQuery__Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_STRING) return {};
  return text_of(node->string->sval);
}

Name qualified(size_t count, PgQuery__Node* const* parts) {
  Name name;
  if (count == 0) return name;
  name.name = string_value(parts[count - 1]);
  if (count > 1) name.schema = string_value(parts[count - 2]);
  return name;
}

template <typename T>
void add_once(std::vector<T>& list, T value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
}

const PgQuery__AConst* constant_of(const PgQuery__Node* node) {
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const : nullptr;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string quote(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  std::string out = escapes ? "E'" : "'";
  for (char c : text) {
    if (c == '\'' || (c == '\\' && escapes)) out += c;
    out += c;
  }
  return out + "'";
}

template <typename T>
const T& as(const ProtobufCMessage* message) {
  return *reinterpret_cast<const T*>(message);
}

bool is(const ProtobufCMessage* message, const ProtobufCMessageDescriptor& descriptor) { return message->descriptor == &descriptor; }

}  // namespace

void FactWalker::run(const PgQuery__Node* node) {
  if (node == nullptr) return;
  const auto* message = reinterpret_cast<const ProtobufCMessage*>(node);
  for_each_child(message, {}, [&](const ProtobufCMessage* stmt) { top(stmt, stmt->descriptor->short_name); }, [](std::string_view) {});
}

void FactWalker::top(const ProtobufCMessage* stmt, std::string_view kind) {
  statement_.kind = statement_kind(kind);
  // Utility statements are remembered by their exact text: their literals may be names.
  switch (statement_.kind) {
    case StatementKind::Select:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::Merge: break;
    default: exact_ = true;
  }
  switch (statement_.kind) {
    case StatementKind::Do:
    case StatementKind::Call:
    case StatementKind::Load:
    case StatementKind::Unknown: statement_.opaque_effects = statement_.kind != StatementKind::Unknown || kind != "TransactionStmt"; break;
    case StatementKind::Vacuum: statement_.no_transaction_block = true; break;
    default: break;
  }
  static constexpr std::string_view kAlone[] = {"CreatedbStmt", "DropdbStmt", "CreateTableSpaceStmt", "DropTableSpaceStmt", "AlterSystemStmt", "ClusterStmt",
                                                "ReindexStmt", "CreateSubscriptionStmt", "AlterSubscriptionStmt", "DropSubscriptionStmt", "AlterDatabaseStmt"};
  if (std::find(std::begin(kAlone), std::end(kAlone), kind) != std::end(kAlone)) statement_.no_transaction_block = true;
  if (is(stmt, pg_query__index_stmt__descriptor)) statement_.no_transaction_block = as<PgQuery__IndexStmt>(stmt).concurrent != 0;
  if (is(stmt, pg_query__drop_stmt__descriptor)) statement_.no_transaction_block = as<PgQuery__DropStmt>(stmt).concurrent != 0;
  if (is(stmt, pg_query__variable_set_stmt__descriptor)) on_set(as<PgQuery__VariableSetStmt>(stmt));
  if (is(stmt, pg_query__transaction_stmt__descriptor)) on_transaction(as<PgQuery__TransactionStmt>(stmt));
  if (is(stmt, pg_query__variable_show_stmt__descriptor)) {
    statement_.identifier = lower(text_of(as<PgQuery__VariableShowStmt>(stmt).name));
    if (is_pool_show(statement_.identifier)) statement_.kind = StatementKind::PoolShow;
  }
  if (is(stmt, pg_query__prepare_stmt__descriptor)) statement_.identifier = text_of(as<PgQuery__PrepareStmt>(stmt).name);
  if (is(stmt, pg_query__execute_stmt__descriptor)) statement_.identifier = text_of(as<PgQuery__ExecuteStmt>(stmt).name);
  if (is(stmt, pg_query__deallocate_stmt__descriptor)) {
    statement_.identifier = text_of(as<PgQuery__DeallocateStmt>(stmt).name);
    statement_.all = statement_.identifier.empty();
  }
  if (is(stmt, pg_query__declare_cursor_stmt__descriptor)) {
    const auto& declare = as<PgQuery__DeclareCursorStmt>(stmt);
    statement_.identifier = text_of(declare.portalname);
    statement_.with_hold = (declare.options & 0x0020) != 0;  // CURSOR_OPT_HOLD
  }
  if (is(stmt, pg_query__close_portal_stmt__descriptor)) {
    statement_.identifier = text_of(as<PgQuery__ClosePortalStmt>(stmt).portalname);
    statement_.all = statement_.identifier.empty();
  }
  if (is(stmt, pg_query__listen_stmt__descriptor)) statement_.identifier = text_of(as<PgQuery__ListenStmt>(stmt).conditionname);
  if (is(stmt, pg_query__unlisten_stmt__descriptor)) {
    statement_.identifier = text_of(as<PgQuery__UnlistenStmt>(stmt).conditionname);
    statement_.all = statement_.identifier.empty();
  }
  if (is(stmt, pg_query__discard_stmt__descriptor)) {
    const auto target = as<PgQuery__DiscardStmt>(stmt).target;
    statement_.all = target == PG_QUERY__DISCARD_MODE__DISCARD_ALL;
    statement_.identifier = target == PG_QUERY__DISCARD_MODE__DISCARD_TEMP ? "temp" : target == PG_QUERY__DISCARD_MODE__DISCARD_PLANS ? "plans" : target == PG_QUERY__DISCARD_MODE__DISCARD_SEQUENCES ? "sequences" : "all";
  }
  if (is(stmt, pg_query__copy_stmt__descriptor)) on_copy(as<PgQuery__CopyStmt>(stmt));
  if (is(stmt, pg_query__select_stmt__descriptor)) literal_set_config(as<PgQuery__SelectStmt>(stmt));
  depth_ = 1;  // what modifies below here is a data-modifying CTE (or the statement that EXPLAIN or PREPARE names)
  visit(stmt);
}

void FactWalker::visit(const ProtobufCMessage* message) {
  if (too_deep_) return;
  if (depth_ > kMaxDepth) {
    too_deep_ = true;
    return;
  }
  ++depth_;
  if (!visit_own(message)) visit_children(message);
  --depth_;
}

void FactWalker::visit_children(const ProtobufCMessage* message, std::string_view skip) {
  // A WITH clause names what the rest of its statement may refer to.
  const ProtobufCMessage* with = message_field(message, "with_clause");
  const std::size_t scope = ctes_.size();
  if (with != nullptr) visit_with(with);
  for_each_child(
      message, skip.empty() && with != nullptr ? std::string_view("with_clause") : skip,
      [&](const ProtobufCMessage* child) {
        if (child != with) visit(child);
      },
      [&](std::string_view text) {
        if (!text.empty() && contains_temp(text)) statement_.mentions_temp = true;
      });
  ctes_.resize(scope);
}

void FactWalker::visit_with(const ProtobufCMessage* message) {
  const auto& with = as<PgQuery__WithClause>(message);
  const auto name_of = [](const PgQuery__Node* node) {
    return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR ? text_of(node->common_table_expr->ctename) : std::string_view();
  };
  if (with.recursive != 0) {
    for (size_t i = 0; i < with.n_ctes; ++i) ctes_.emplace_back(name_of(with.ctes[i]));
  }
  for (size_t i = 0; i < with.n_ctes; ++i) {
    if (with.ctes[i] != nullptr) visit(&with.ctes[i]->base);
    if (with.recursive == 0) ctes_.emplace_back(name_of(with.ctes[i]));
  }
}

// True: the message's children have been dealt with.
bool FactWalker::visit_own(const ProtobufCMessage* message) {
  if (is(message, pg_query__range_var__descriptor)) {
    on_range_var(as<PgQuery__RangeVar>(message), false);
    return true;
  }
  if (is(message, pg_query__func_call__descriptor)) {
    on_function(as<PgQuery__FuncCall>(message));
    return false;
  }
  if (is(message, pg_query__a__expr__descriptor)) {
    on_operator(as<PgQuery__AExpr>(message));
    return false;
  }
  if (is(message, pg_query__type_name__descriptor)) {
    on_type(as<PgQuery__TypeName>(message));
    return false;
  }
  if (is(message, pg_query__a__const__descriptor)) {
    on_constant(as<PgQuery__AConst>(message));
    return false;
  }
  if (is(message, pg_query__select_stmt__descriptor)) {
    on_select(as<PgQuery__SelectStmt>(message));
    return false;
  }
  if (is(message, pg_query__into_clause__descriptor)) {
    statement_.select_into = true;
    const PgQuery__RangeVar* relation = as<PgQuery__IntoClause>(message).rel;
    if (relation != nullptr) on_range_var(*relation, true);
    return false;
  }
  if (is(message, pg_query__sub_link__descriptor)) {
    const auto& link = as<PgQuery__SubLink>(message);
    if (link.n_oper_name > 0) add_operator(string_value(link.oper_name[link.n_oper_name - 1]));
    if (link.n_oper_name == 0 && link.testexpr != nullptr) add_operator("=");
    return false;
  }
  if (is(message, pg_query__sort_by__descriptor)) {
    const auto& sort = as<PgQuery__SortBy>(message);
    if (sort.n_use_op > 0) add_operator(string_value(sort.use_op[sort.n_use_op - 1]));
    return false;
  }
  if (is(message, pg_query__case_expr__descriptor)) {
    if (as<PgQuery__CaseExpr>(message).arg != nullptr) add_operator("=");
    return false;
  }
  if (is(message, pg_query__join_expr__descriptor)) {
    const auto& join = as<PgQuery__JoinExpr>(message);
    if (join.n_using_clause > 0 || join.is_natural != 0) add_operator("=");
    return false;
  }
  if (is(message, pg_query__sqlvalue_function__descriptor)) {
    const auto op = as<PgQuery__SQLValueFunction>(message).op;
    if (op >= PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE && op <= PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N) statement_.now_like = true;
    return false;
  }
  const bool writes = is(message, pg_query__insert_stmt__descriptor) || is(message, pg_query__update_stmt__descriptor) ||
                      is(message, pg_query__delete_stmt__descriptor) || is(message, pg_query__merge_stmt__descriptor);
  if (writes) {
    const bool top_level = depth_ == 2 && (statement_.kind == StatementKind::Insert || statement_.kind == StatementKind::Update ||
                                           statement_.kind == StatementKind::Delete || statement_.kind == StatementKind::Merge);
    if (!top_level) statement_.modifying_cte = true;
    const ProtobufCMessage* target = message_field(message, "relation");
    if (target != nullptr && is(target, pg_query__range_var__descriptor)) on_range_var(as<PgQuery__RangeVar>(target), true);
    // The target is not read along its CTEs' names, but everything else is.
    const ProtobufCMessage* with = message_field(message, "with_clause");
    const std::size_t scope = ctes_.size();
    if (with != nullptr) visit_with(with);
    for_each_child(
        message, {},
        [&](const ProtobufCMessage* child) {
          if (child != with && child != target) visit(child);
        },
        [](std::string_view) {});
    ctes_.resize(scope);
    return true;
  }
  return false;
}

void FactWalker::on_range_var(const PgQuery__RangeVar& relation, bool written) {
  Name name{std::string(text_of(relation.schemaname)), std::string(text_of(relation.relname))};
  const bool temp_schema = name.schema.starts_with("pg_temp");
  if (temp_schema || contains_temp(name.name)) statement_.mentions_temp = true;
  const bool creates = statement_.kind == StatementKind::Ddl || statement_.select_into;
  if (text_of(relation.relpersistence) == "t" || (temp_schema && creates)) statement_.creates_temp = true;
  if (!written && name.schema.empty() && std::find(ctes_.begin(), ctes_.end(), name.name) != ctes_.end()) return;
  add_once(written ? statement_.written_relations : statement_.relations, std::move(name));
}

void FactWalker::on_function(const PgQuery__FuncCall& call) {
  Name name = qualified(call.n_funcname, call.funcname);
  if (is_now_like(name.name)) statement_.now_like = true;
  if (literal_matters(name.name)) exact_ = true;
  if (name.name == "set_config" && &call != known_set_config_) statement_.opaque_effects = true;
  add_once(statement_.functions, std::move(name));
}

void FactWalker::add_operator(std::string_view name) {
  if (!name.empty()) add_once(statement_.operators, Name{{}, std::string(name)});
}

void FactWalker::on_operator(const PgQuery__AExpr& expression) {
  switch (expression.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
      for (std::string_view name : {"<", ">", "<=", ">="}) add_operator(name);
      return;
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR: add_once(statement_.functions, Name{"pg_catalog", "similar_to_escape"}); break;
    default: break;
  }
  add_once(statement_.operators, qualified(expression.n_name, expression.name));
}

void FactWalker::on_type(const PgQuery__TypeName& type) {
  Name name = qualified(type.n_names, type.names);
  if (name.name.empty()) return;
  if (name.name.starts_with("reg")) exact_ = true;
  add_once(statement_.types, std::move(name));
}

void FactWalker::on_constant(const PgQuery__AConst& constant) {
  if (constant.val_case != PG_QUERY__A__CONST__VAL_SVAL) return;
  const std::string_view value = text_of(constant.sval->sval);
  if (is_date_word(value)) {
    statement_.now_like = true;
    exact_ = true;
  }
  if (contains_temp(value)) {
    statement_.mentions_temp = true;
    exact_ = true;
  }
}

void FactWalker::on_select(const PgQuery__SelectStmt& select) {
  if (select.n_locking_clause > 0) statement_.row_locks = true;
  if (select.into_clause != nullptr) statement_.select_into = true;
}

// SELECT set_config('name', 'value', false), each of its own column and without FROM or WHERE: its effect is as plain as
// that of SET.
void FactWalker::literal_set_config(const PgQuery__SelectStmt& select) {
  if (select.n_target_list != 1 || select.n_from_clause > 0 || select.where_clause != nullptr || select.limit_count != nullptr ||
      select.limit_offset != nullptr || select.having_clause != nullptr || select.with_clause != nullptr || select.larg != nullptr) {
    return;
  }
  const PgQuery__Node* target = select.target_list[0];
  if (target == nullptr || target->node_case != PG_QUERY__NODE__NODE_RES_TARGET) return;
  const PgQuery__Node* value = target->res_target->val;
  if (value == nullptr || value->node_case != PG_QUERY__NODE__NODE_FUNC_CALL) return;
  const PgQuery__FuncCall& call = *value->func_call;
  const Name name = qualified(call.n_funcname, call.funcname);
  if (name.name != "set_config" || (!name.schema.empty() && name.schema != "pg_catalog") || call.n_args != 3) return;
  const PgQuery__AConst* parameter = constant_of(call.args[0]);
  const PgQuery__AConst* setting = constant_of(call.args[1]);
  const PgQuery__AConst* local = constant_of(call.args[2]);
  if (parameter == nullptr || setting == nullptr || local == nullptr || parameter->val_case != PG_QUERY__A__CONST__VAL_SVAL ||
      setting->val_case != PG_QUERY__A__CONST__VAL_SVAL || local->val_case != PG_QUERY__A__CONST__VAL_BOOLVAL) {
    return;
  }
  known_set_config_ = &call;
  SetChange change;
  change.parameter = lower(text_of(parameter->sval->sval));
  change.literal = text_of(setting->sval->sval);
  change.has_literal = true;
  change.scope = local->boolval->boolval != 0 ? SetScope::Local : SetScope::Session;
  change.replay = "SELECT pg_catalog.set_config(" + quote(change.parameter) + ", " + quote(change.literal) + ", " + (change.scope == SetScope::Local ? "true)" : "false)");
  statement_.sets.push_back(std::move(change));
}

void FactWalker::read_modes(TransactionModes& modes, size_t count, PgQuery__Node* const* options) {
  for (size_t i = 0; i < count; ++i) {
    if (options[i] == nullptr || options[i]->node_case != PG_QUERY__NODE__NODE_DEF_ELEM) continue;
    const PgQuery__DefElem& option = *options[i]->def_elem;
    const std::string_view name = text_of(option.defname);
    const PgQuery__AConst* value = constant_of(option.arg);
    if (value == nullptr) continue;
    if (name == "transaction_isolation" && value->val_case == PG_QUERY__A__CONST__VAL_SVAL) {
      const std::string level = lower(text_of(value->sval->sval));
      using Isolation = TransactionModes::Isolation;
      modes.isolation = level == "serializable" ? Isolation::Serializable : level == "repeatable read" ? Isolation::RepeatableRead : Isolation::ReadCommitted;
    } else if (value->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
      const Tristate state = value->ival->ival != 0 ? Tristate::Yes : Tristate::No;
      if (name == "transaction_read_only") modes.read_only = state;
      if (name == "transaction_deferrable") modes.deferrable = state;
    }
  }
}

void FactWalker::on_set(const PgQuery__VariableSetStmt& set) {
  const std::string name = lower(text_of(set.name));
  if (name == "transaction" || name == "transaction snapshot" || name == "transaction_isolation" || name == "transaction_read_only" ||
      name == "transaction_deferrable") {
    statement_.kind = StatementKind::SetTransaction;  // of the open block only
    read_modes(statement_.transaction, set.n_args, set.args);
    return;
  }
  SetChange change;
  change.scope = set.is_local != 0 ? SetScope::Local : SetScope::Session;
  change.parameter = name == "session characteristics" ? "session_characteristics" : name;
  change.replay = text_;
  if (change.parameter == "session_characteristics") read_modes(statement_.transaction, set.n_args, set.args);
  switch (set.kind) {
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_VALUE: {
      const PgQuery__AConst* value = set.n_args == 1 ? constant_of(set.args[0]) : nullptr;
      if (value != nullptr && value->val_case == PG_QUERY__A__CONST__VAL_SVAL) {
        change.literal = text_of(value->sval->sval);
        change.has_literal = true;
      } else if (value != nullptr && value->val_case == PG_QUERY__A__CONST__VAL_IVAL) {
        change.literal = std::to_string(value->ival->ival);
        change.has_literal = true;
      }
      break;
    }
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_DEFAULT:
    case PG_QUERY__VARIABLE_SET_KIND__VAR_SET_MULTI: break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET:
      statement_.kind = StatementKind::Reset;
      change.action = SetAction::Reset;
      break;
    case PG_QUERY__VARIABLE_SET_KIND__VAR_RESET_ALL:
      statement_.kind = StatementKind::Reset;
      statement_.all = true;
      change.action = SetAction::ResetAll;
      change.parameter.clear();
      break;
    default: statement_.opaque_effects = true; return;
  }
  statement_.identifier = change.parameter;
  statement_.sets.push_back(std::move(change));
}

void FactWalker::on_transaction(const PgQuery__TransactionStmt& transaction) {
  statement_.opaque_effects = false;
  statement_.identifier = text_of(transaction.savepoint_name);
  statement_.transaction.chain = transaction.chain != 0;
  read_modes(statement_.transaction, transaction.n_options, transaction.options);
  switch (transaction.kind) {
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START: statement_.kind = StatementKind::Begin; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT: statement_.kind = StatementKind::Commit; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK: statement_.kind = StatementKind::Rollback; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT: statement_.kind = StatementKind::Savepoint; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE: statement_.kind = StatementKind::Release; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO: statement_.kind = StatementKind::RollbackTo; break;
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_PREPARE:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT_PREPARED:
    case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_PREPARED: statement_.kind = StatementKind::TwoPhase; break;
    default: statement_.opaque_effects = true;
  }
}

void FactWalker::on_copy(const PgQuery__CopyStmt& copy) {
  const bool of_select = copy.query != nullptr && copy.query->node_case == PG_QUERY__NODE__NODE_SELECT_STMT;
  if (of_select && copy.is_from == 0 && copy.is_program == 0 && text_of(copy.filename).empty()) statement_.kind = StatementKind::CopyToQuery;
  if (copy.is_from != 0 && copy.relation != nullptr) on_range_var(*copy.relation, true);
}

}  // namespace weir::parser
