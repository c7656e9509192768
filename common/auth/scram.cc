#include "common/auth/scram.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stringprep.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "common/base/check.h"

namespace weir::auth {
namespace {

const unsigned char* octets(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* octets(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view data) {
  std::string out(kScramKeySize, '\0');
  unsigned int size = 0;
  WEIR_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), octets(data), data.size(), octets(out), &size) != nullptr);
  return out;
}

std::string sha256(std::string_view data) {
  std::string out(kScramKeySize, '\0');
  SHA256(octets(data), data.size(), octets(out));
  return out;
}

std::string salted_password(std::string_view password, std::string_view salt, int iterations) {
  std::string out(kScramKeySize, '\0');
  WEIR_CHECK(PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), octets(salt), static_cast<int>(salt.size()),
                               iterations, EVP_sha256(), static_cast<int>(out.size()), octets(out)) == 1);
  return out;
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
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
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

std::string saslprep(std::string_view password) {
  const bool ascii = std::all_of(password.begin(), password.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  if (ascii) return std::string(password);
  char* prepared = nullptr;
  const std::string text(password);
  if (stringprep_profile(text.c_str(), &prepared, "SASLprep", static_cast<Stringprep_profile_flags>(0)) != STRINGPREP_OK) return text;
  const std::unique_ptr<char, decltype(&std::free)> owned(prepared, &std::free);
  return owned.get();
}

}  // namespace weir::auth
