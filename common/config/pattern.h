// The regular expressions of lists in the configuration, with Pgpool-II's reading of them: case-insensitive and anchored
// at both ends, as text, whether or not they say ^ and $ ("a|b" means "^a|b$"). Matching takes time linear in the text,
// whatever the pattern, since texts come from clients.
#pragma once

#include <memory>
#include <string_view>

#include "common/base/result.h"

namespace re2 {
class RE2;
}

namespace weir::config {

class Pattern {
 public:
  // Fails (22023) if TEXT is no regular expression; the message says why.
  static Result<Pattern> compile(std::string_view text);
  ~Pattern();
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;

  // Bytes, not characters: TEXT may be in any encoding.
  bool matches(std::string_view text) const;

 private:
  explicit Pattern(std::unique_ptr<re2::RE2> regex);
  std::unique_ptr<re2::RE2> regex_;
};

}  // namespace weir::config
