// One entry of app_name_redirect_preference_list, database_redirect_preference_list or user_redirect_preference_list:
// pattern:node or pattern:node(ratio), where node is primary, standby or a node's number. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weir::config {

struct RedirectEntry {
  enum class To { Primary, Standby, Node };
  std::string pattern;  // for Pattern::compile
  To to = To::Primary;
  int node = -1;        // with To::Node, 0 … 127
  double ratio = 1;     // how often it counts, 0 … 1
};

// The pattern ends at the last colon, so that it may hold some itself. Blanks around each part do not count. Fails
// (22023) with a message that quotes what is wrong; the pattern is compiled to see whether it can be.
Result<RedirectEntry> parse_redirect(std::string_view text);

}  // namespace weir::config
