#include "common/auth/md5_password.h"

#include <openssl/evp.h>

namespace weir::auth {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kPrefix = "md5";

std::optional<std::string> hashed(std::string_view a, std::string_view b) {
  std::string data(a);
  data.append(b);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest, &size, EVP_md5(), nullptr) != 1) return std::nullopt;
  std::string text(kPrefix);
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[digest[i] >> 4U];
    text += kDigits[digest[i] & 15U];
  }
  return text;
}

}  // namespace

bool is_md5_hash(std::string_view text) {
  return text.size() == 35 && text.starts_with(kPrefix) &&
         text.find_first_not_of(kDigits, kPrefix.size()) == std::string_view::npos;
}

std::optional<std::string> md5_hash(std::string_view password, std::string_view user) {
  return hashed(password, user);
}

std::optional<std::string> md5_response(std::string_view hash, std::string_view salt) {
  if (!is_md5_hash(hash)) return std::nullopt;
  return hashed(hash.substr(kPrefix.size()), salt);
}

}  // namespace weir::auth
