// Remembers a password that a server accepted without keeping it: a salted digest, for users that pool_passwd lacks.
#pragma once

#include <string>
#include <string_view>

namespace weir::auth {

// Sets SALT, anew each time, and DIGEST.
void remember_password(std::string& salt, std::string& digest, std::string_view password);
// Whether PASSWORD is the one remembered; false with an empty DIGEST.
bool same_password(const std::string& salt, const std::string& digest, std::string_view password);

}  // namespace weir::auth
