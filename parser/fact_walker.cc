#include "parser/fact_walker.h"

#include <algorithm>

#include "parser/classify.h"
#include "parser/names.h"
#include "parser/set_facts.h"
#include "parser/statement_facts.h"
#include "parser/temp_use.h"
#include "parser/walk.h"

namespace weir::parser {
namespace {

Name qualified(std::size_t count, PgQuery__Node* const* parts) {
  Name name;
  if (count > 0)
    name.name = string_of(parts[count - 1]);
  if (count > 1)
    name.schema = string_of(parts[count - 2]);
  return name;
}

void add_once(std::vector<Name>& list, Name name) {
  if (std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(std::move(name));
}

bool is_clock(PgQuery__SQLValueFunctionOp op) {
  switch (op) {
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
  case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
    return true;
  default:
    return false;
  }
}

// Only these have literals that are data and nothing else; all others are remembered by their exact
// text. COPY has the name of its file, and TO '' looks like TO STDOUT.
bool literals_are_data(const Statement& statement) {
  switch (statement.kind) {
  case StatementKind::Select:
  case StatementKind::Insert:
  case StatementKind::Update:
  case StatementKind::Delete:
  case StatementKind::Merge:
  case StatementKind::Execute:
    return true;
  case StatementKind::Explain:
    return statement.body == StatementKind::Select;
  default:
    return false;
  }
}

bool is_modification(const Message& message) {
  return is<PgQuery__InsertStmt>(message) || is<PgQuery__UpdateStmt>(message) ||
         is<PgQuery__DeleteStmt>(message) || is<PgQuery__MergeStmt>(message);
}

// The WITH clause of MESSAGE, whatever statement that is; null if it has none.
const PgQuery__WithClause* with_clause(const Message& message) {
  const PgQuery__WithClause* with = nullptr;
  const auto* base = reinterpret_cast<const std::byte*>(&message);
  for (unsigned i = 0; i < message.descriptor->n_fields; ++i) {
    const ProtobufCFieldDescriptor& field = message.descriptor->fields[i];
    // A node that holds a WITH clause is no statement.
    if (field.descriptor != kType<PgQuery__WithClause> ||
        (field.flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
      continue;
    with = *reinterpret_cast<PgQuery__WithClause* const*>(base + field.offset);
  }
  return with;
}

} // namespace

void FactWalker::run(const PgQuery__Node& node) {
  for_each_child(
      node.base, [&](const Message& message) { statement(message); }, [](std::string_view) {});
}

void FactWalker::statement(const Message& message) {
  read_statement(message, text_, statement_);
  exact_ = !literals_are_data(statement_);
  if (const auto* select = as<PgQuery__SelectStmt>(message))
    plain_set_configs_ = read_set_config(*select, statement_);
  visit(message, false);
  statement_.temp_use = temp_use(message, statement_);
}

void FactWalker::visit(const Message& message, bool target) {
  if (too_deep_)
    return;
  if (depth_ >= kMaxDepth) {
    too_deep_ = true;
    return;
  }
  ++depth_;
  collect(message, target);
  // What FOR UPDATE OF names are aliases.
  if (!is<PgQuery__LockingClause>(message))
    visit_children(message, target);
  --depth_;
}

void FactWalker::visit_children(const Message& message, bool target) {
  // A WITH clause names what the rest of its statement may refer to.
  const PgQuery__WithClause* with = with_clause(message);
  const std::size_t scope = ctes_.size();
  if (with != nullptr)
    visit_with(*with);
  for_each_child(
      message,
      [&](const Message& child) {
        if (with == nullptr || &child != &with->base)
          visit(child, writes(message, child, target));
      },
      [&](std::string_view text) { on_text(text); });
  ctes_.resize(scope);
}

void FactWalker::visit_with(const PgQuery__WithClause& with) {
  const auto add_name = [&](const PgQuery__Node* node) {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR)
      return;
    ctes_.push_back(text_of(node->common_table_expr->ctename));
  };
  const bool recursive = with.recursive != 0;
  if (recursive)
    std::for_each(with.ctes, with.ctes + with.n_ctes, add_name);
  ++cte_depth_;
  for (std::size_t i = 0; i < with.n_ctes; ++i) {
    if (with.ctes[i] != nullptr)
      visit(with.ctes[i]->base, false);
    if (!recursive)
      add_name(with.ctes[i]);
  }
  --cte_depth_;
}

bool FactWalker::writes(const Message& parent, const Message& child, bool parent_is_target) const {
  if (is<PgQuery__Node>(parent))
    return parent_is_target;
  // REINDEX, CLUSTER, REFRESH: no trigger runs, and what they name may be an index.
  if (statement_.kind == StatementKind::OtherWrite)
    return false;
  if (is<PgQuery__TruncateStmt>(parent) || is<PgQuery__LockStmt>(parent))
    return true; // lists of nodes
  if (!is<PgQuery__RangeVar>(child))
    return false;
  if (const auto* copy = as<PgQuery__CopyStmt>(parent))
    return copy->is_from != 0;
  // What FROM names is wrapped in nodes: a relation that is a field of a statement itself is what
  // that works on.
  return is<PgQuery__IntoClause>(parent) || is<PgQuery__VacuumRelation>(parent) ||
         name_of(parent).ends_with("Stmt");
}

void FactWalker::collect(const Message& message, bool target) {
  if (is<PgQuery__Node>(message))
    return;
  if (!collect_name(message, target) && !collect_operator(message))
    collect_feature(message);
}

bool FactWalker::collect_name(const Message& message, bool target) {
  if (const auto* relation = as<PgQuery__RangeVar>(message)) {
    on_range_var(*relation, target);
  } else if (const auto* call = as<PgQuery__FuncCall>(message)) {
    on_function(*call);
  } else if (const auto* type = as<PgQuery__TypeName>(message)) {
    on_type(*type);
  } else if (const auto* constant = as<PgQuery__AConst>(message)) {
    on_constant(*constant);
  } else if (const auto* sample = as<PgQuery__RangeTableSample>(message)) {
    add_once(statement_.functions, qualified(sample->n_method, sample->method));
  } else {
    return false;
  }
  return true;
}

bool FactWalker::collect_operator(const Message& message) {
  if (const auto* expression = as<PgQuery__AExpr>(message)) {
    on_expression(*expression);
  } else if (const auto* link = as<PgQuery__SubLink>(message)) {
    if (link->n_oper_name > 0) {
      add_once(statement_.operators, qualified(link->n_oper_name, link->oper_name));
    } else if (link->testexpr != nullptr) {
      add_operator("="); // IN
    }
  } else if (const auto* sort = as<PgQuery__SortBy>(message)) {
    if (sort->n_use_op > 0)
      add_once(statement_.operators, qualified(sort->n_use_op, sort->use_op));
  } else if (const auto* choice = as<PgQuery__CaseExpr>(message)) {
    if (choice->arg != nullptr)
      add_operator("=");
  } else if (const auto* join = as<PgQuery__JoinExpr>(message)) {
    if (join->n_using_clause > 0 || join->is_natural != 0)
      add_operator("=");
  } else {
    return false;
  }
  return true;
}

void FactWalker::collect_feature(const Message& message) {
  if (is<PgQuery__LockingClause>(message)) {
    statement_.row_locks = true;
  } else if (is<PgQuery__IntoClause>(message)) {
    statement_.select_into = true;
  } else if (const auto* value = as<PgQuery__SQLValueFunction>(message)) {
    if (is_clock(value->op))
      statement_.now_like = true;
  } else if (is_modification(message)) {
    if (cte_depth_ > 0)
      statement_.modifying_cte = true;
  } else if (const auto* execute = as<PgQuery__ExecuteStmt>(message)) {
    // EXPLAIN EXECUTE, CREATE TABLE AS EXECUTE: what is run the text does not tell.
    if (statement_.kind != StatementKind::Execute) {
      statement_.identifier = text_of(execute->name);
      statement_.opaque_effects = true;
    }
  }
}

void FactWalker::on_range_var(const PgQuery__RangeVar& relation, bool target) {
  Name name{std::string(text_of(relation.schemaname)), std::string(text_of(relation.relname))};
  const bool creates = statement_.kind == StatementKind::Ddl || statement_.select_into;
  if (text_of(relation.relpersistence) == "t" || (creates && contains_temp(name.schema)))
    statement_.creates_temp = true;
  if (!target && name.schema.empty() &&
      std::find(ctes_.begin(), ctes_.end(), name.name) != ctes_.end())
    return;
  add_once(target ? statement_.written_relations : statement_.relations, std::move(name));
}

void FactWalker::on_function(const PgQuery__FuncCall& call) {
  Name name = qualified(call.n_funcname, call.funcname);
  const bool two_times = name.name == "age" && call.n_args == 2; // no clock is asked
  if (is_now_like(name.name) && !two_times)
    statement_.now_like = true;
  if (literal_matters(name.name))
    exact_ = true;
  if (name.name == "set_config" && std::find(plain_set_configs_.begin(), plain_set_configs_.end(),
                                             &call) == plain_set_configs_.end()) {
    statement_.opaque_effects = true;
  }
  add_once(statement_.functions, std::move(name));
}

void FactWalker::add_operator(std::string_view name) {
  add_once(statement_.operators, Name{{}, std::string(name)});
}

void FactWalker::on_expression(const PgQuery__AExpr& expression) {
  switch (expression.kind) {
  case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
  case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
    add_operator(">=");
    add_operator("<=");
    return;
  case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
  case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
    add_operator("<");
    add_operator(">");
    return;
  default:
    add_once(statement_.operators, qualified(expression.n_name, expression.name));
  }
}

void FactWalker::on_type(const PgQuery__TypeName& type) {
  Name name = qualified(type.n_names, type.names);
  if (name.name.empty())
    return;
  if (is_reg_type(name.name))
    exact_ = true;
  add_once(statement_.types, std::move(name));
}

void FactWalker::on_constant(const PgQuery__AConst& constant) {
  if (constant.val_case != PG_QUERY__A__CONST__VAL_SVAL)
    return;
  if (has_date_word(text_of(constant.sval->sval))) {
    statement_.now_like = true;
    exact_ = true;
    if (statement_.kind == StatementKind::Prepare)
      statement_.body = StatementKind::Unknown;
  }
}

// Names, literals, bodies of functions: where pg_temp is named does not matter.
void FactWalker::on_text(std::string_view text) {
  if (!contains_temp(text))
    return;
  statement_.mentions_temp = true;
  exact_ = true;
  if (statement_.kind == StatementKind::Ddl)
    statement_.creates_temp = true;
}

} // namespace weir::parser
