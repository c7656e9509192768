// Leading comments that route (contract, "Hints in SQL"), and where the statement itself begins.
#pragma once

#include <cstddef>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

inline constexpr int kMaxHintNode = 127; // a node number above is no hint

struct Lead {
  Hint hint;
  std::size_t length = 0; // bytes of blanks and comments before the statement
};

// Looks at the blanks and comments at the start of TEXT. The first hint counts; other comments do
// not hinder. Hints are matched without regard to case and to blanks inside the comment's ends; a
// comment without end is none.
Lead read_lead(std::string_view text);

} // namespace weir::parser
