// Text -> facts. Never fails: what cannot be parsed, is too long or too deep is a fact (kind Unknown). Depends on the text
// alone, so that facts never go stale.
#pragma once

#include <cstddef>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

inline constexpr std::size_t kMaxText = 64U << 10U;     // longer texts are not looked at
inline constexpr std::size_t kSmallText = 2U << 10U;    // up to this the ordinary stack will do
inline constexpr int kMaxDepth = 400;                   // of our own walk over the tree

StatementFacts classify(std::string_view text);

}  // namespace weir::parser
