// PostgreSQL's md5 password hashes (protocol "AuthenticationMD5Password"). Nothing where OpenSSL was set up to refuse
// MD5.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::auth {

// "md5" and 32 hexadecimal digits in lower case.
bool is_md5_hash(std::string_view text);
// What the server stores for USER.
std::optional<std::string> md5_hash(std::string_view password, std::string_view user);
// What is sent for a stored HASH and the SALT of four bytes.
std::optional<std::string> md5_response(std::string_view hash, std::string_view salt);

}  // namespace weir::auth
