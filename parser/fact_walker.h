// Collects the facts of one statement from its tree.
#pragma once

#include <pg_query.pb-c.h>

#include <string>
#include <string_view>
#include <vector>

#include "parser/facts.h"

namespace weir::parser {

class FactWalker {
 public:
  // TEXT: the text of this statement alone.
  FactWalker(std::string_view text, Statement& statement) : text_(text), statement_(statement) {}

  // The statement below a RawStmt.
  void run(const PgQuery__Node* node);
  bool too_deep() const { return too_deep_; }
  bool exact_text_only() const { return exact_; }

 private:
  void top(const ProtobufCMessage* stmt, std::string_view kind);
  void visit(const ProtobufCMessage* message);
  void visit_children(const ProtobufCMessage* message, std::string_view skip = {});
  void visit_with(const ProtobufCMessage* with);
  bool visit_own(const ProtobufCMessage* message);

  void on_range_var(const PgQuery__RangeVar& relation, bool written);
  void on_function(const PgQuery__FuncCall& call);
  void on_operator(const PgQuery__AExpr& expression);
  void on_type(const PgQuery__TypeName& type);
  void on_constant(const PgQuery__AConst& constant);
  void on_select(const PgQuery__SelectStmt& select);
  void on_set(const PgQuery__VariableSetStmt& set);
  void on_transaction(const PgQuery__TransactionStmt& transaction);
  void on_copy(const PgQuery__CopyStmt& copy);
  void literal_set_config(const PgQuery__SelectStmt& select);
  void add_operator(std::string_view name);
  static void read_modes(TransactionModes& modes, size_t count, PgQuery__Node* const* options);

  std::string_view text_;
  Statement& statement_;
  std::vector<std::string> ctes_;  // names in scope, innermost last
  const PgQuery__FuncCall* known_set_config_ = nullptr;
  int depth_ = 0;
  bool too_deep_ = false;
  bool exact_ = false;
};

}  // namespace weir::parser
