#include "common/auth/scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <span>

#include "common/auth/saslprep.h"
#include "common/base/check.h"
#include "common/base/random.h"
#include "common/base/sqlstate.h"

namespace weir::auth {
namespace {

const unsigned char* octets(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* octets(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view data) {
  std::string out(kScramKeySize, '\0');
  unsigned int size = 0;
  WEIR_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(data), data.size(), octets(out),
                  &size) != nullptr);
  return out;
}

std::string sha256(std::string_view data) {
  std::string out(kScramKeySize, '\0');
  SHA256(octets(data), data.size(), octets(out));
  return out;
}

std::string salted_password(std::string_view password, std::string_view salt, int iterations) {
  std::string out(kScramKeySize, '\0');
  WEIR_CHECK(PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), octets(salt),
                               static_cast<int>(salt.size()), iterations, EVP_sha256(), static_cast<int>(out.size()),
                               octets(out)) == 1);
  return out;
}

ScramKeys derive_scram_keys(std::string_view password, std::string_view salt, int iterations) {
  const std::string salted = salted_password(saslprep(password), salt, iterations);
  ScramKeys keys;
  keys.client_key = hmac_sha256(salted, "Client Key");
  keys.server_key = hmac_sha256(salted, "Server Key");
  keys.stored_key = sha256(keys.client_key);
  return keys;
}

std::string xor_texts(std::string_view a, std::string_view b) {
  std::string out(a);
  for (std::size_t i = 0; i < out.size() && i < b.size(); ++i) out[i] = static_cast<char>(out[i] ^ b[i]);
  return out;
}

std::string base64_encode(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(octets(out), octets(bytes), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(size));
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > (1U << 20U)) return std::nullopt;
  // OpenSSL skips blanks and takes '=' anywhere: the alphabet is checked here.
  std::size_t padding = 0;
  for (const char c : text) {
    const bool digit =
        (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (c == '=') {
      ++padding;
    } else if (!digit || padding > 0) {
      return std::nullopt;
    }
  }
  if (padding > 2) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  if (text.empty()) return out;
  if (EVP_DecodeBlock(octets(out), octets(text), static_cast<int>(text.size())) < 0) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string scram_nonce() {
  std::string raw(18, '\0');
  secure_random(std::as_writable_bytes(std::span(raw.data(), raw.size())));
  return base64_encode(raw);
}

bool valid_nonce(std::string_view nonce) {
  for (const char c : nonce) {
    if (c < 0x21 || c > 0x7e || c == ',') return false;
  }
  return !nonce.empty();
}

tl::unexpected<Error> malformed_scram(std::string_view detail) {
  return fail(make_fatal(sqlstate::kProtocolViolation, "malformed SCRAM message", std::string(detail)));
}

std::optional<ScramAttributes::Attribute> ScramAttributes::next() {
  if (at_end_ || rest_.size() < 2 || rest_[1] != '=') return std::nullopt;
  const char name = rest_[0];
  if (!((name >= 'a' && name <= 'z') || (name >= 'A' && name <= 'Z'))) return std::nullopt;
  const std::size_t comma = rest_.find(',');
  const std::string_view value = rest_.substr(2, comma == std::string_view::npos ? comma : comma - 2);
  if (value.find('\0') != std::string_view::npos) return std::nullopt;
  at_end_ = comma == std::string_view::npos;
  rest_.remove_prefix(at_end_ ? rest_.size() : comma + 1);
  return Attribute{name, value};
}

std::optional<std::string_view> ScramAttributes::take(char name) {
  if (rest_.empty() || rest_[0] != name) return std::nullopt;
  const auto attribute = next();
  if (!attribute) return std::nullopt;
  return attribute->value;
}

}  // namespace weir::auth
