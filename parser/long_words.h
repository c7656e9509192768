// What single words mean to LongStatement, which knows no grammar: all in lower case, unquoted.
#pragma once

#include <initializer_list>
#include <string_view>

namespace weir::parser {

bool is_any_of(std::initializer_list<std::string_view> list, std::string_view word);
// Reserved: never a name unless behind a point or AS.
bool is_reserved(std::string_view word);
// A reserved word that is a value: an operator may follow it.
bool is_reserved_value(std::string_view word);
// What these do hangs on more than names.
bool is_feared(std::string_view word);
// Clauses behind which a comma is followed by no relation.
bool ends_relations(std::string_view word);
// No function, though a parenthesis may follow.
bool is_never_called(std::string_view word);
// An operator behind an operand; a function or type anywhere else.
bool is_operator_word(std::string_view word);
// The type that the grammar means by WORD (EARLIER stands before it), in pg_catalog; empty: none.
std::string_view grammar_type(std::string_view word, std::string_view earlier);

} // namespace weir::parser
