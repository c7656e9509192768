// An entry of dml_adaptive_object_relationship_list: "object:dependent".
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

namespace weir::config {

// Both sides without blanks at their ends, neither empty. A backslash in front of a colon, a blank or a backslash takes it
// as part of the name. Fails (22023) with a message that quotes TEXT.
Result<std::pair<std::string, std::string>> parse_object_pair(std::string_view text);

}  // namespace weir::config
