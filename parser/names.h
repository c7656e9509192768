// Names and words with a meaning of their own.
#pragma once

#include <string>
#include <cstddef>
#include <string_view>

namespace weir::parser {

// ASCII only: what the grammar has not folded already (names of settings in quotes).
std::string lower(std::string_view text);

// now() and its kin, transaction ids, pids: their answer ties a transaction to its node. By name
// alone: a function of that name in another schema is treated alike.
bool is_now_like(std::string_view function);
// What a literal argument says changes what the call does or where it may run.
bool literal_matters(std::string_view function);
// regclass and its kin: a literal of such a type is a look-up in the catalogue.
bool is_reg_type(std::string_view type);
// May LITERAL be a date that hangs on the clock: "now", "today", "tomorrow", "yesterday" as a word
// of a short text? DOUBLED characters of LITERAL stand for nothing: quotes that are written twice.
bool has_date_word(std::string_view literal, std::size_t doubled = 0);
// SHOW pool_nodes and its kin; NAME in lower case.
bool is_pool_show(std::string_view name);
// Settings that are the open block's and not the session's.
bool is_transaction_setting(std::string_view parameter);
// "pg_temp" in TEXT, in any case.
bool contains_temp(std::string_view text);

} // namespace weir::parser
