// Names with a meaning of their own: functions that are the same for a whole transaction, or whose literals matter.
#pragma once

#include <string_view>

namespace weir::parser {

// now() and its kin, transaction ids, pids: their answer ties a transaction to its node.
bool is_now_like(std::string_view function);
// What a literal argument says changes what the call does or where it may run.
bool literal_matters(std::string_view function);
// 'now', 'today', 'tomorrow', 'yesterday' (anywhere in the text of a literal).
bool is_date_word(std::string_view literal);
// SHOW pool_nodes and its kin.
bool is_pool_show(std::string_view name);
bool contains_temp(std::string_view text);  // "pg_temp", in any case

}  // namespace weir::parser
