// Owns a libpg_query parse result and its unpacked protobuf-c tree; typed views of its messages.
// libpg_query recurses without a stack check: what nests_too_deep() must not be given to it, and
// larger texts need a stack of their own (big_stack.h).
#pragma once

#include <pg_query.h>
#include <pg_query.pb-c.h>

#include <string>
#include <string_view>

namespace weir::parser {

using Message = ProtobufCMessage;
using MessageType = ProtobufCMessageDescriptor;

class PgTree {
public:
  explicit PgTree(const std::string& text) : result_(pg_query_parse_protobuf(text.c_str())) {
    if (result_.error != nullptr)
      return;
    tree_ = pg_query__parse_result__unpack(
        nullptr, result_.parse_tree.len,
        reinterpret_cast<const std::uint8_t*>(result_.parse_tree.data));
  }
  ~PgTree() {
    if (tree_ != nullptr)
      pg_query__parse_result__free_unpacked(tree_, nullptr);
    pg_query_free_protobuf_parse_result(result_);
  }
  PgTree(const PgTree&) = delete;
  PgTree& operator=(const PgTree&) = delete;

  // Null: it does not parse.
  const PgQuery__ParseResult* get() const { return tree_; }

private:
  PgQueryProtobufParseResult result_;
  PgQuery__ParseResult* tree_ = nullptr;
};

// Defined for the messages below only.
template <typename T> struct TypeOf;

#define WEIR_PG_MESSAGE(type, descriptor)                                                          \
  template <> struct TypeOf<PgQuery__##type> {                                                     \
    static constexpr const MessageType* value = &pg_query__##descriptor##__descriptor;             \
  }

WEIR_PG_MESSAGE(AConst, a__const);
WEIR_PG_MESSAGE(AExpr, a__expr);
WEIR_PG_MESSAGE(AlterDatabaseStmt, alter_database_stmt);
WEIR_PG_MESSAGE(AlterSubscriptionStmt, alter_subscription_stmt);
WEIR_PG_MESSAGE(AlterSystemStmt, alter_system_stmt);
WEIR_PG_MESSAGE(AlterTableStmt, alter_table_stmt);
WEIR_PG_MESSAGE(CallStmt, call_stmt);
WEIR_PG_MESSAGE(CaseExpr, case_expr);
WEIR_PG_MESSAGE(ClosePortalStmt, close_portal_stmt);
WEIR_PG_MESSAGE(ClusterStmt, cluster_stmt);
WEIR_PG_MESSAGE(CommentStmt, comment_stmt);
WEIR_PG_MESSAGE(CommonTableExpr, common_table_expr);
WEIR_PG_MESSAGE(CopyStmt, copy_stmt);
WEIR_PG_MESSAGE(CreateSeqStmt, create_seq_stmt);
WEIR_PG_MESSAGE(CreateStmt, create_stmt);
WEIR_PG_MESSAGE(CreateSubscriptionStmt, create_subscription_stmt);
WEIR_PG_MESSAGE(CreateTableAsStmt, create_table_as_stmt);
WEIR_PG_MESSAGE(CreateTableSpaceStmt, create_table_space_stmt);
WEIR_PG_MESSAGE(CreatedbStmt, createdb_stmt);
WEIR_PG_MESSAGE(DeallocateStmt, deallocate_stmt);
WEIR_PG_MESSAGE(DeclareCursorStmt, declare_cursor_stmt);
WEIR_PG_MESSAGE(DefElem, def_elem);
WEIR_PG_MESSAGE(DeleteStmt, delete_stmt);
WEIR_PG_MESSAGE(DiscardStmt, discard_stmt);
WEIR_PG_MESSAGE(DoStmt, do_stmt);
WEIR_PG_MESSAGE(DropStmt, drop_stmt);
WEIR_PG_MESSAGE(DropSubscriptionStmt, drop_subscription_stmt);
WEIR_PG_MESSAGE(DropTableSpaceStmt, drop_table_space_stmt);
WEIR_PG_MESSAGE(DropdbStmt, dropdb_stmt);
WEIR_PG_MESSAGE(ExecuteStmt, execute_stmt);
WEIR_PG_MESSAGE(ExplainStmt, explain_stmt);
WEIR_PG_MESSAGE(FetchStmt, fetch_stmt);
WEIR_PG_MESSAGE(FuncCall, func_call);
WEIR_PG_MESSAGE(GrantStmt, grant_stmt);
WEIR_PG_MESSAGE(IndexStmt, index_stmt);
WEIR_PG_MESSAGE(InsertStmt, insert_stmt);
WEIR_PG_MESSAGE(IntoClause, into_clause);
WEIR_PG_MESSAGE(JoinExpr, join_expr);
WEIR_PG_MESSAGE(ListenStmt, listen_stmt);
WEIR_PG_MESSAGE(LockStmt, lock_stmt);
WEIR_PG_MESSAGE(LockingClause, locking_clause);
WEIR_PG_MESSAGE(MergeStmt, merge_stmt);
WEIR_PG_MESSAGE(Node, node);
WEIR_PG_MESSAGE(NotifyStmt, notify_stmt);
WEIR_PG_MESSAGE(PrepareStmt, prepare_stmt);
WEIR_PG_MESSAGE(RangeTableSample, range_table_sample);
WEIR_PG_MESSAGE(RangeVar, range_var);
WEIR_PG_MESSAGE(ReindexStmt, reindex_stmt);
WEIR_PG_MESSAGE(SelectStmt, select_stmt);
WEIR_PG_MESSAGE(SortBy, sort_by);
WEIR_PG_MESSAGE(SQLValueFunction, sqlvalue_function);
WEIR_PG_MESSAGE(SubLink, sub_link);
WEIR_PG_MESSAGE(TransactionStmt, transaction_stmt);
WEIR_PG_MESSAGE(TruncateStmt, truncate_stmt);
WEIR_PG_MESSAGE(TypeName, type_name);
WEIR_PG_MESSAGE(UnlistenStmt, unlisten_stmt);
WEIR_PG_MESSAGE(UpdateStmt, update_stmt);
WEIR_PG_MESSAGE(VacuumRelation, vacuum_relation);
WEIR_PG_MESSAGE(VacuumStmt, vacuum_stmt);
WEIR_PG_MESSAGE(VariableSetStmt, variable_set_stmt);
WEIR_PG_MESSAGE(VariableShowStmt, variable_show_stmt);
WEIR_PG_MESSAGE(ViewStmt, view_stmt);
WEIR_PG_MESSAGE(WithClause, with_clause);

#undef WEIR_PG_MESSAGE

template <typename T> inline constexpr const MessageType* kType = TypeOf<T>::value;

// MESSAGE as a T; null if it is something else.
template <typename T> const T* as(const Message& message) {
  return message.descriptor == kType<T> ? reinterpret_cast<const T*>(&message) : nullptr;
}

template <typename T> bool is(const Message& message) {
  return as<T>(message) != nullptr;
}

inline std::string_view name_of(const Message& message) {
  return message.descriptor->short_name;
}

// The text of a string field; empty if it is not set.
inline std::string_view text_of(const char* text) {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

// The text of a String node (names are lists of them); empty if NODE is something else.
inline std::string_view string_of(const PgQuery__Node* node) {
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_STRING)
    return {};
  return text_of(node->string->sval);
}

// NODE as a constant; null if it is something else.
inline const PgQuery__AConst* constant_of(const PgQuery__Node* node) {
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_A_CONST ? node->a_const
                                                                            : nullptr;
}

inline const PgQuery__DefElem* option_of(const PgQuery__Node* node) {
  return node != nullptr && node->node_case == PG_QUERY__NODE__NODE_DEF_ELEM ? node->def_elem
                                                                             : nullptr;
}

} // namespace weir::parser
