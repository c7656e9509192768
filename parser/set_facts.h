// What SET, RESET, BEGIN's modes and set_config() change, as far as the text tells.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parser/facts.h"
#include "parser/pg_tree.h"

namespace weir::parser {

// Modes among the options of BEGIN, SET TRANSACTION and the like. Those not named stay as they are.
void read_modes(std::size_t count, PgQuery__Node* const* options, TransactionModes& modes);

// Kind (Set, Reset or SetTransaction), identifier (the parameter), sets and transaction. What is no
// plain change of one parameter is opaque_effects. TEXT is that of this statement alone.
void read_set(const PgQuery__VariableSetStmt& set, std::string_view text, Statement& out);

// SELECT set_config('name', 'value', false), ... and nothing else is as plain as SET: adds the
// changes to OUT and returns the calls, for which no other effect is to be feared. Empty: there is
// none of that form.
std::vector<const PgQuery__FuncCall*> read_set_config(const PgQuery__SelectStmt& select,
                                                      Statement& out);

} // namespace weir::parser
