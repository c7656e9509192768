#include "common/auth/digest.h"

#include <span>

#include "common/auth/scram.h"
#include "common/base/random.h"

namespace weir::auth {

void remember_password(std::string& salt, std::string& digest, std::string_view password) {
  salt.assign(16, '\0');
  secure_random(std::as_writable_bytes(std::span(salt.data(), salt.size())));
  digest = hmac_sha256(salt, password);
}

bool same_password(const std::string& salt, const std::string& digest, std::string_view password) {
  return !digest.empty() && same_secret(digest, hmac_sha256(salt, password));
}

}  // namespace weir::auth
