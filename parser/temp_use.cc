#include "parser/temp_use.h"

#include "parser/names.h"

namespace weir::parser {
namespace {

// A relation that is temporary by its own words, whatever the search path is.
bool is_temp(const PgQuery__RangeVar* relation) {
  return relation != nullptr &&
         (text_of(relation->relpersistence) == "t" || contains_temp(text_of(relation->schemaname)));
}

// The one relation that STATEMENT makes; null if it makes another thing, or more than that.
const PgQuery__RangeVar* relation_made(const Message& statement) {
  const PgQuery__IntoClause* into = nullptr;
  if (const auto* table = as<PgQuery__CreateStmt>(statement))
    // A child or a partition makes its parent's rows temporary in part.
    return table->n_inh_relations == 0 ? table->relation : nullptr;
  if (const auto* view = as<PgQuery__ViewStmt>(statement))
    return view->view;
  if (const auto* sequence = as<PgQuery__CreateSeqStmt>(statement))
    return sequence->sequence;
  if (const auto* table = as<PgQuery__CreateTableAsStmt>(statement))
    into = table->into;
  if (const auto* select = as<PgQuery__SelectStmt>(statement))
    into = select->into_clause;
  return into != nullptr ? into->rel : nullptr;
}

// A view of a temporary table becomes temporary by itself; other kinds are what they say.
bool cannot_touch_temp(const Message& statement) {
  return is<PgQuery__CreateStmt>(statement) || is<PgQuery__CreateTableAsStmt>(statement) ||
         is<PgQuery__CreateSeqStmt>(statement) || is<PgQuery__SelectStmt>(statement) ||
         is<PgQuery__DropStmt>(statement) || is<PgQuery__IndexStmt>(statement) ||
         is<PgQuery__TruncateStmt>(statement) || is<PgQuery__CommentStmt>(statement) ||
         is<PgQuery__GrantStmt>(statement);
}

} // namespace

TempUse temp_use(const Message& statement, const Statement& facts) {
  if (is_temp(relation_made(statement)))
    return facts.written_relations.size() == 1 ? TempUse::Names : TempUse::Unclear;
  if (facts.creates_temp && !is<PgQuery__DropStmt>(statement))
    return TempUse::Unclear;
  return cannot_touch_temp(statement) ? TempUse::None : TempUse::Unclear;
}

} // namespace weir::parser
