// SCRAM-SHA-256 (RFC 5802, RFC 7677) over OpenSSL: keys, proofs, base64, the grammar of its messages. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weir::auth {

inline constexpr std::string_view kScramMechanism = "SCRAM-SHA-256";
inline constexpr std::size_t kScramKeySize = 32;
inline constexpr std::size_t kScramSaltSize = 16;
inline constexpr int kScramIterations = 4096;          // of what pgweir derives itself
inline constexpr std::size_t kMaxScramMessage = 8192;

std::string hmac_sha256(std::string_view key, std::string_view data);
std::string sha256(std::string_view data);
// Hi() of the RFC: PBKDF2 with HMAC-SHA-256. PASSWORD is prepared with SASLprep already; ITERATIONS >= 1.
std::string salted_password(std::string_view password, std::string_view salt, int iterations);
std::string xor_texts(std::string_view a, std::string_view b);  // of equal length

struct ScramKeys {
  std::string client_key;
  std::string server_key;
  std::string stored_key;
};
// The keys of a password as the user types it. Costs milliseconds: KeyCache remembers them.
ScramKeys derive_scram_keys(std::string_view password, std::string_view salt, int iterations);

std::string base64_encode(std::string_view bytes);
// Nothing if TEXT is not base64, with its padding and without blanks.
std::optional<std::string> base64_decode(std::string_view text);

// Compares in constant time what is of equal length.
bool same_secret(std::string_view a, std::string_view b);

// A nonce of 18 random bytes in base64.
std::string scram_nonce();
// Printable ASCII without a comma, not empty.
bool valid_nonce(std::string_view nonce);

// The error of a message that breaks the grammar; FATAL, 08P01.
tl::unexpected<Error> malformed_scram(std::string_view detail);

// Takes the attributes of a message one by one, "n=...,r=...". Fails on what is no attribute: a NUL, no letter, no '='.
class ScramAttributes {
 public:
  struct Attribute {
    char name = '\0';
    std::string_view value;  // may be empty
  };
  explicit ScramAttributes(std::string_view message) : rest_(message) {}

  bool at_end() const { return at_end_; }
  // The next attribute; nothing at the end or where the grammar is broken.
  std::optional<Attribute> next();
  // The value of the next attribute if that is NAME.
  std::optional<std::string_view> take(char name);

 private:
  std::string_view rest_;
  bool at_end_ = false;  // the last attribute was taken, no comma followed it
};

}  // namespace weir::auth
