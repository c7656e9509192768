// The statements that pgweir answers itself although PostgreSQL's grammar does not have them: SHOW ROUTE 'text' and
// PGPOOL SHOW, SET and RESET.
#pragma once

#include <optional>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

// TEXT as a statement of kind PoolShow, if that is all it holds beside blanks, comments and semicolons at its end:
//   SHOW ROUTE 'text'   identifier "route", argument the text. The literal may be '…' with doubled quotes, E'…' with
//                       backslashes (not \u) or $tag$…$tag$.
//   PGPOOL VERB ...     identifier "pgpool", argument "VERB ...", comments and runs of blanks made one blank
//   SHOW POOL_…         as classify() finds it, for sessions in which a text may not be parsed
// Nothing for all else, and for what the server's scanner might read otherwise if its settings were not the usual:
// with PLAIN_ONLY, a text with a backslash or a byte above 0x7f.
std::optional<Statement> read_own_command(std::string_view text, bool plain_only = false);

// Whether TEXT begins like one: then what an unparsable one is hangs on its literals.
bool begins_own_command(std::string_view text);

}  // namespace weir::parser
