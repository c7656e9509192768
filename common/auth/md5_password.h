// PostgreSQL's md5 password hashes (protocol "AuthenticationMD5Password").
#pragma once

#include <string>
#include <string_view>

namespace weir::auth {

// "md5" and 32 digits: what the server stores for USER.
std::string md5_hash(std::string_view password, std::string_view user);
// What is sent for a stored HASH and the SALT of four bytes.
std::string md5_response(std::string_view hash, std::string_view salt);

}  // namespace weir::auth
