#include "common/auth/md5_password.h"

#include <openssl/evp.h>

#include "common/base/check.h"

namespace weir::auth {
namespace {

std::string md5_hex(std::string_view data) {
  unsigned char digest[16];
  unsigned int size = 0;
  WEIR_CHECK(EVP_Digest(data.data(), data.size(), digest, &size, EVP_md5(), nullptr) == 1);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char octet : digest) {
    hex += kDigits[octet >> 4U];
    hex += kDigits[octet & 15U];
  }
  return hex;
}

}  // namespace

std::string md5_hash(std::string_view password, std::string_view user) {
  return "md5" + md5_hex(std::string(password) + std::string(user));
}

std::string md5_response(std::string_view hash, std::string_view salt) {
  return "md5" + md5_hex(std::string(hash.substr(3)) + std::string(salt));
}

}  // namespace weir::auth
