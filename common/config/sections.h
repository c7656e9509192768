// [databases], [users], [pools], [tenants], [peers]: name = key=value key=value, values bare or in single quotes.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/config/conf_lexer.h"
#include "common/config/config.h"

namespace weir::config {

// False: there is no such section; MESSAGE names those that there are.
bool is_section(std::string_view name, std::string& message);
// False: MESSAGE says what is wrong. A name that comes again replaces the earlier line.
bool add_section_entry(std::map<std::string, SectionEntries>& sections, const ConfEntry& entry, std::string& message);

}  // namespace weir::config
