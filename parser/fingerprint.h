// The literal-blind key of a text: numbers and strings replaced by placeholders, comments by a
// blank.
#pragma once

#include <string>
#include <string_view>

namespace weir::parser {

// The skeleton of TEXT, or empty if there is none: TEXT has no literal, or is odd (escape strings,
// dollar quotes, words that mean something in a literal, an open quote); then only the exact text
// will do. Conservative: texts of equal skeleton have equal facts unless those say exact_text_only.
// Longer texts than classify() looks at are the caller's affair. The result lies in BUFFER, which
// only grows: valid until the next call with it.
std::string_view skeleton(std::string_view text, std::string& buffer);

} // namespace weir::parser
