// What a statement may do to the session's temporary objects.
#pragma once

#include "parser/facts.h"
#include "parser/pg_tree.h"

namespace weir::parser {

// FACTS are those of STATEMENT, all but this one collected.
TempUse temp_use(const Message& statement, const Statement& facts);

} // namespace weir::parser
