// SCRAM-SHA-256 (RFC 5802, RFC 7677) over OpenSSL: keys, proofs, base64. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace weir::auth {

inline constexpr std::string_view kScramMechanism = "SCRAM-SHA-256";
inline constexpr std::size_t kScramKeySize = 32;

std::string hmac_sha256(std::string_view key, std::string_view data);
std::string sha256(std::string_view data);
// Hi() of the RFC: PBKDF2 with HMAC-SHA-256. PASSWORD is prepared with SASLprep already.
std::string salted_password(std::string_view password, std::string_view salt, int iterations);
std::string xor_texts(std::string_view a, std::string_view b);  // of equal length

std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

// Compares in constant time.
bool same_secret(std::string_view a, std::string_view b);

// The password as SCRAM uses it: SASLprep (RFC 4013), or as it is where that is not possible, as PostgreSQL does.
std::string saslprep(std::string_view password);

}  // namespace weir::auth
