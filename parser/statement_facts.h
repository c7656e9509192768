// What a statement says of itself at its top: kind, names of the things that live in a session,
// whether a block refuses it. What stands inside it is the walker's (fact_walker.h).
#pragma once

#include <string_view>

#include "parser/facts.h"
#include "parser/pg_tree.h"

namespace weir::parser {

// Fills kind, identifier, all, with_hold, no_transaction_block, opaque_effects, transaction and,
// for SET and RESET, sets. TEXT is that of this statement alone.
void read_statement(const Message& statement, std::string_view text, Statement& out);

} // namespace weir::parser
