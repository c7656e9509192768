// Kind of statement by the name of its node in the grammar. The table names every statement of the
// grammar; one that it lacks is Unknown, which is the primary, and fails a test.
#pragma once

#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

// NODE: "SelectStmt" etc. A node with several kinds (VariableSetStmt, CopyStmt) has its most
// general here; TransactionStmt, RETURN and what stands only inside PL/pgSQL are Unknown.
StatementKind statement_kind(std::string_view node);
// The table mentions it.
bool knows_statement(std::string_view node);

} // namespace weir::parser
