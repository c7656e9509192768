// Collects the facts of one statement from its tree: names used, and what makes a SELECT no plain
// read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/facts.h"
#include "parser/pg_tree.h"

namespace weir::parser {

class FactWalker {
public:
  // TEXT: the text of this statement alone. Both outlive the walker.
  FactWalker(std::string_view text, Statement& statement) : text_(text), statement_(statement) {}

  // NODE holds the statement.
  void run(const PgQuery__Node& node);

  // The tree is deeper than kMaxDepth: the facts are not whole.
  bool too_deep() const { return too_deep_; }
  bool exact_text_only() const { return exact_; }

private:
  void statement(const Message& message);
  // TARGET: if MESSAGE is a relation it is written, not read.
  void visit(const Message& message, bool target);
  void visit_children(const Message& message, bool target);
  void visit_with(const PgQuery__WithClause& with);
  void collect(const Message& message, bool target);
  bool collect_name(const Message& message, bool target);
  bool collect_operator(const Message& message);
  void collect_feature(const Message& message);
  bool writes(const Message& parent, const Message& child, bool parent_is_target) const;

  void on_range_var(const PgQuery__RangeVar& relation, bool target);
  void on_function(const PgQuery__FuncCall& call);
  void on_expression(const PgQuery__AExpr& expression);
  void on_type(const PgQuery__TypeName& type);
  void on_constant(const PgQuery__AConst& constant);
  void on_text(std::string_view text);
  void add_operator(std::string_view name);

  std::string_view text_;
  Statement& statement_;
  std::vector<std::string_view> ctes_; // names in scope, innermost last
  std::vector<const PgQuery__FuncCall*> plain_set_configs_;
  int depth_ = 0;
  int cte_depth_ = 0; // CTE bodies around here
  bool too_deep_ = false;
  bool exact_ = false;
};

} // namespace weir::parser
