// Stored secrets as they stand in a file, and the texts within them. Input: the secret; up to the first line feed it is
// also taken as a password, as base64 and as an encrypted one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/auth/aes_password.h"
#include "common/auth/md5_password.h"
#include "common/auth/saslprep.h"
#include "common/auth/scram.h"
#include "common/auth/verifier.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto verifier = auth::parse_scram_verifier(text)) {
    WEIR_CHECK(verifier->iterations > 0 && !verifier->salt.empty());
    WEIR_CHECK(auth::parse_scram_verifier(auth::format_scram_verifier(*verifier)) == verifier);
  }
  const auth::Secret secret = auth::Secret::from_stored(text);
  switch (secret.kind()) {
    case auth::Secret::Kind::Plain: WEIR_CHECK(text.ends_with(secret.plain())); break;
    case auth::Secret::Kind::Md5: WEIR_CHECK(auth::is_md5_hash(secret.md5_hash())); break;
    case auth::Secret::Kind::Scram: WEIR_CHECK(secret.scram().stored_key.size() == auth::kScramKeySize); break;
  }
  const auto parsed = auth::Secret::parse(text, "key");
  WEIR_CHECK(parsed || text.starts_with("AES"));
  const std::string_view line = text.substr(0, text.find('\n'));
  if (const auto bytes = auth::base64_decode(line)) {
    WEIR_CHECK(auth::base64_decode(auth::base64_encode(*bytes)) == bytes);
  }
  static_cast<void>(auth::decrypt_aes_password(line, "key"));
  const std::string password(line.substr(0, line.find('\0')));
  const std::string prepared = auth::saslprep(password);
  WEIR_CHECK(password.empty() == prepared.empty());
  return 0;
}
