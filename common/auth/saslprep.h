// A password in the form that SCRAM computes with (RFC 4013 over libidn).
#pragma once

#include <string>
#include <string_view>

namespace weir::auth {

// PASSWORD by the rules for stored strings; as it is where those do not admit it (not UTF-8, a forbidden or unassigned
// character, nothing left), as PostgreSQL does. PASSWORD has no NUL.
std::string saslprep(std::string_view password);

}  // namespace weir::auth
