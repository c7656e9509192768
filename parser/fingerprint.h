// The literal-blind key of a text: numbers and plain strings replaced by a placeholder. Conservative: texts of equal
// skeleton have equal facts, unless those say exact_text_only.
#pragma once

#include <string>
#include <string_view>

namespace weir::parser {

// Writes the skeleton of TEXT to OUT (its capacity is reused). False: there is nothing to gain or the text is odd (escape
// strings, dollar quotes, an open string): use the exact text.
bool skeleton(std::string_view text, std::string& out);

}  // namespace weir::parser
