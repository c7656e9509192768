// Passwords as Pgpool-II's pg_enc encrypts them: AES-256-CBC in base64; key and initialisation vector are made of the
// first line of the key file by EVP_BytesToKey (SHA-1, no salt, one round).
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weir::auth {

// TEXT is what stands behind "AES" in a file, KEY the first line of the key file.
Result<std::string> decrypt_aes_password(std::string_view text, std::string_view key);

}  // namespace weir::auth
