// Text -> facts. Never fails: what cannot be parsed, is too long or too deep is a fact (kind
// Unknown). Depends on the text alone, so that facts never go stale.
#pragma once

#include <cstddef>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

inline constexpr std::size_t kMaxText =
    64U << 10U; // bytes; longer texts are not looked at, their hints are
inline constexpr std::size_t kSmallText =
    2U << 10U; // bytes; up to this the caller's stack will do, 4 MB of it
inline constexpr int kMaxDepth =
    1000; // messages on top of each other in our own walk over the tree

// TEXT is one Query or Parse message's, as with standard_conforming_strings on and an encoding that
// has no ASCII bytes inside its characters. Larger texts are parsed on a stack and thread of their
// own, which are gone on return, so that the process may fork between calls. One call at a time in
// a thread; signal handlers must not call it.
StatementFacts classify(std::string_view text);

} // namespace weir::parser
