#include "parser/statement_facts.h"

#include <algorithm>

#include "parser/names.h"
#include "parser/pg_version.h"
#include "parser/set_facts.h"
#include "parser/statement_kind.h"
#include "parser/walk.h"

namespace weir::parser {
namespace {

void read_transaction(const PgQuery__TransactionStmt& transaction, Statement& out) {
  out.identifier = text_of(transaction.savepoint_name);
  out.transaction.chain = transaction.chain != 0;
  read_modes(transaction.n_options, transaction.options, out.transaction);
  switch (transaction.kind) {
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_START:
    out.identifier = "start transaction"; // its tag is another one
    [[fallthrough]];
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_BEGIN:
    out.kind = StatementKind::Begin;
    break;
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT:
    out.kind = StatementKind::Commit;
    break;
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK:
    out.kind = StatementKind::Rollback;
    break;
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_SAVEPOINT:
    out.kind = StatementKind::Savepoint;
    break;
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_RELEASE:
    out.kind = StatementKind::Release;
    break;
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_TO:
    out.kind = StatementKind::RollbackTo;
    break;
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_COMMIT_PREPARED:
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_ROLLBACK_PREPARED:
    out.no_transaction_block = true;
    [[fallthrough]];
  case PG_QUERY__TRANSACTION_STMT_KIND__TRANS_STMT_PREPARE:
    out.kind = StatementKind::TwoPhase;
    out.identifier = text_of(transaction.gid);
    break;
  default:
    out.kind = StatementKind::Unknown;
  }
}

bool detaches_concurrently(const PgQuery__AlterTableStmt& alter) {
  return std::any_of(alter.cmds, alter.cmds + alter.n_cmds, [](const PgQuery__Node* node) {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_ALTER_TABLE_CMD)
      return false;
    const PgQuery__Node* definition = node->alter_table_cmd->def;
    return definition != nullptr && definition->node_case == PG_QUERY__NODE__NODE_PARTITION_CMD &&
           definition->partition_cmd->concurrent != 0;
  });
}

bool moves_tablespace(const PgQuery__AlterDatabaseStmt& alter) {
  return std::any_of(alter.options, alter.options + alter.n_options, [](const PgQuery__Node* node) {
    const PgQuery__DefElem* option = option_of(node);
    return option != nullptr && text_of(option->defname) == "tablespace";
  });
}

// Where it hangs on what the text does not tell, it is taken to be refused: REINDEX and CLUSTER of
// a partitioned table, a subscription with a slot, procedures that end transactions.
bool refuses_block(const Message& statement) {
  if (const auto* vacuum = as<PgQuery__VacuumStmt>(statement))
    return vacuum->is_vacuumcmd != 0;
  if (const auto* index = as<PgQuery__IndexStmt>(statement))
    return index->concurrent != 0;
  if (const auto* drop = as<PgQuery__DropStmt>(statement))
    return drop->concurrent != 0;
  if (const auto* alter = as<PgQuery__AlterTableStmt>(statement))
    return detaches_concurrently(*alter);
  if (const auto* database = as<PgQuery__AlterDatabaseStmt>(statement))
    return moves_tablespace(*database);
  if (const auto* discard = as<PgQuery__DiscardStmt>(statement)) {
    return discard->target == PG_QUERY__DISCARD_MODE__DISCARD_ALL;
  }
  return is<PgQuery__CreatedbStmt>(statement) || is<PgQuery__DropdbStmt>(statement) ||
         is<PgQuery__CreateTableSpaceStmt>(statement) ||
         is<PgQuery__DropTableSpaceStmt>(statement) || is<PgQuery__AlterSystemStmt>(statement) ||
         is<PgQuery__ClusterStmt>(statement) || is<PgQuery__ReindexStmt>(statement) ||
         is<PgQuery__CreateSubscriptionStmt>(statement) ||
         is<PgQuery__AlterSubscriptionStmt>(statement) ||
         is<PgQuery__DropSubscriptionStmt>(statement) || is<PgQuery__CallStmt>(statement) ||
         is<PgQuery__DoStmt>(statement);
}

void read_discard(const PgQuery__DiscardStmt& discard, Statement& out) {
  switch (discard.target) {
  case PG_QUERY__DISCARD_MODE__DISCARD_PLANS:
    out.identifier = "plans";
    break;
  case PG_QUERY__DISCARD_MODE__DISCARD_SEQUENCES:
    out.identifier = "sequences";
    break;
  case PG_QUERY__DISCARD_MODE__DISCARD_TEMP:
    out.identifier = "temp";
    break;
  default: // what is not known discards all
    out.identifier = "all";
    out.all = true;
  }
}

// CLOSE, DEALLOCATE and UNLISTEN have no name where they mean all.
void read_name_or_all(const char* name, Statement& out) {
  out.identifier = text_of(name);
  out.all = out.identifier.empty();
}

void read_copy(const PgQuery__CopyStmt& copy, Statement& out) {
  const bool reads = copy.query == nullptr ||
                     copy.query->node_case == PG_QUERY__NODE__NODE_SELECT_STMT;
  const bool to_client =
      copy.is_from == 0 && copy.is_program == 0 && text_of(copy.filename).empty();
  if (reads && to_client)
    out.kind = StatementKind::CopyOut;
}

StatementKind kind_of(const PgQuery__Node* node) {
  StatementKind kind = StatementKind::Unknown;
  if (node != nullptr)
    for_each_child(
        node->base, [&](const Message& message) { kind = statement_kind(name_of(message)); },
        [](std::string_view) {});
  return kind;
}

void read_explain(const PgQuery__ExplainStmt& explain, Statement& out) {
  const auto tells_settings = [](const PgQuery__Node* node) {
    const PgQuery__DefElem* option = option_of(node);
    return option != nullptr && lower(text_of(option->defname)) == "settings";
  };
  if (std::none_of(explain.options, explain.options + explain.n_options, tells_settings))
    out.body = kind_of(explain.query);
}

void read_prepare(const PgQuery__PrepareStmt& prepare, std::string_view text, Statement& out) {
  out.identifier = text_of(prepare.name);
  out.argument = text;
  out.body = kind_of(prepare.query);
}

void read_show(const PgQuery__VariableShowStmt& show, Statement& out) {
  out.identifier = lower(text_of(show.name));
  if (is_pool_show(out.identifier))
    out.kind = StatementKind::PoolShow;
}

void read_names(const Message& statement, Statement& out) {
  if (const auto* show = as<PgQuery__VariableShowStmt>(statement)) {
    read_show(*show, out);
  } else if (const auto* execute = as<PgQuery__ExecuteStmt>(statement)) {
    out.identifier = text_of(execute->name);
  } else if (const auto* deallocate = as<PgQuery__DeallocateStmt>(statement)) {
    read_name_or_all(deallocate->name, out);
  } else if (const auto* declare = as<PgQuery__DeclareCursorStmt>(statement)) {
    out.identifier = text_of(declare->portalname);
    out.with_hold = (declare->options & kCursorHold) != 0;
  } else if (const auto* fetch = as<PgQuery__FetchStmt>(statement)) {
    out.identifier = text_of(fetch->portalname);
  } else if (const auto* close = as<PgQuery__ClosePortalStmt>(statement)) {
    read_name_or_all(close->portalname, out);
  } else if (const auto* listen = as<PgQuery__ListenStmt>(statement)) {
    out.identifier = text_of(listen->conditionname);
  } else if (const auto* unlisten = as<PgQuery__UnlistenStmt>(statement)) {
    read_name_or_all(unlisten->conditionname, out);
  } else if (const auto* notify = as<PgQuery__NotifyStmt>(statement)) {
    out.identifier = text_of(notify->conditionname);
  } else if (const auto* discard = as<PgQuery__DiscardStmt>(statement)) {
    read_discard(*discard, out);
  }
}

} // namespace

void read_statement(const Message& statement, std::string_view text, Statement& out) {
  out.kind = statement_kind(name_of(statement));
  out.no_transaction_block = refuses_block(statement);
  if (const auto* transaction = as<PgQuery__TransactionStmt>(statement)) {
    read_transaction(*transaction, out);
  } else if (const auto* set = as<PgQuery__VariableSetStmt>(statement)) {
    read_set(*set, text, out);
  } else if (const auto* copy = as<PgQuery__CopyStmt>(statement)) {
    read_copy(*copy, out);
  } else if (const auto* explain = as<PgQuery__ExplainStmt>(statement)) {
    read_explain(*explain, out);
  } else if (const auto* prepare = as<PgQuery__PrepareStmt>(statement)) {
    read_prepare(*prepare, text, out);
  } else {
    read_names(statement, out);
  }
  switch (out.kind) {
  case StatementKind::Do:
  case StatementKind::Call:
  case StatementKind::Load:
  case StatementKind::Unknown:
    out.opaque_effects = true;
    break;
  default:
    break;
  }
}

} // namespace weir::parser
