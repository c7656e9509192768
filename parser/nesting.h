// What a text may cost to parse, estimated from its tokens alone. libpg_query recurses without a
// check, its cost grows with the square of the depth (measured: 1.4 s for 64 KB of "1+1+1..."), and
// so does its scanner's with the length of a run of operator characters in which comments begin
// ("/*/*/*...": 3.6 s). One client could stop all others of its process. Such texts are not parsed.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::parser {

inline constexpr std::size_t kMaxNesting =
    2000; // tokens that may hang on each other: about 1,000 terms of a sum
inline constexpr std::size_t kMaxOperatorRun =
    512; // operator characters in a row, those of comments included

// True: TEXT may nest deeper than kMaxNesting. Lists of any length, AND and OR chains and the
// branches of CASE are flat in the tree and do not count; brackets, CASE, set operations, joins and
// chains of operators do. Also true for a run of operator characters longer than kMaxOperatorRun.
bool nests_too_deep(std::string_view text);

} // namespace weir::parser
