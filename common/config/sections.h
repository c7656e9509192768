// [databases], [users], [pools], [tenants], [peers]: name = key=value key=value, values bare or in single quotes.
#pragma once

#include <map>
#include <string>

#include "common/config/conf_lexer.h"
#include "common/config/config.h"

namespace weir::config {

// False: MESSAGE says what is wrong. A name that comes again replaces the earlier line.
bool add_section_entry(std::map<std::string, SectionEntries>& sections, const ConfEntry& entry, std::string& message);

}  // namespace weir::config
