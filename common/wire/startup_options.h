// The value of the startup parameter `options`: settings as for a server's command line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace weir::wire {

// -c name=value, -cname=value and --name=value, blanks apart, a backslash takes the next character as it is; a name has
// '_' for '-', as the server does it. In the order of the text; the same name may come more than once. Other switches
// of a server are refused with 0A000, what is no switch with 42601.
Result<std::vector<std::pair<std::string, std::string>>> parse_options(std::string_view text);

}  // namespace weir::wire
