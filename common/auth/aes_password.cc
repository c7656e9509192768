#include "common/auth/aes_password.h"

#include <openssl/evp.h>

#include <memory>
#include <optional>

#include "common/auth/scram.h"
#include "common/base/sqlstate.h"

namespace weir::auth {
namespace {

constexpr std::string_view kSha1 = "SHA1";

tl::unexpected<Error> undecryptable(std::string detail) {
  return fail(make_error(sqlstate::kInvalidPassword, "unable to decrypt the password", std::move(detail),
                         "Verify the key file (pool_key)."));
}

std::optional<std::string> decrypt(std::string_view sealed, std::string_view key_text) {
  unsigned char key[EVP_MAX_KEY_LENGTH];
  unsigned char vector[EVP_MAX_IV_LENGTH];
  const auto octets = [](std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); };
  const EVP_MD* digest = EVP_get_digestbyname(kSha1.data());
  if (digest == nullptr || EVP_BytesToKey(EVP_aes_256_cbc(), digest, nullptr, octets(key_text),
                                          static_cast<int>(key_text.size()), 1, key, vector) == 0) {
    return std::nullopt;
  }
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> context(EVP_CIPHER_CTX_new(),
                                                                               &EVP_CIPHER_CTX_free);
  std::string plain(sealed.size() + EVP_MAX_BLOCK_LENGTH, '\0');
  auto* out = reinterpret_cast<unsigned char*>(plain.data());
  int size = 0;
  int tail = 0;
  if (context == nullptr || EVP_DecryptInit_ex(context.get(), EVP_aes_256_cbc(), nullptr, key, vector) != 1 ||
      EVP_DecryptUpdate(context.get(), out, &size, octets(sealed), static_cast<int>(sealed.size())) != 1 ||
      EVP_DecryptFinal_ex(context.get(), out + size, &tail) != 1) {
    return std::nullopt;
  }
  plain.resize(static_cast<std::size_t>(size + tail));
  return plain;
}

}  // namespace

Result<std::string> decrypt_aes_password(std::string_view text, std::string_view key) {
  if (key.empty()) return undecryptable("It is encrypted, and there is no key.");
  const auto sealed = base64_decode(text);
  if (!sealed || sealed->empty()) return undecryptable("What stands behind AES is not base64.");
  auto password = decrypt(*sealed, key);
  // A wrong key mostly shows in the padding; what is left may still be no text.
  if (!password || password->find('\0') != std::string::npos) return undecryptable("The key does not fit.");
  return std::move(*password);
}

}  // namespace weir::auth
