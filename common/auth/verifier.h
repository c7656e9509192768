// A stored secret as pool_passwd and userlist.txt hold it, text <-> parts: clear text (bare or TEXT...), an encrypted
// one (AES...), an md5 hash, or a SCRAM verifier.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weir::auth {

// SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey> (RFC 5803), the parts decoded.
struct ScramVerifier {
  int iterations = 4096;
  std::string salt;
  std::string stored_key;
  std::string server_key;

  bool operator==(const ScramVerifier&) const = default;
};

std::optional<ScramVerifier> parse_scram_verifier(std::string_view text);
std::string format_scram_verifier(const ScramVerifier& verifier);

class Secret {
 public:
  enum class Kind { Plain, Md5, Scram };

  static Secret from_plain(std::string_view password);
  // As written in a file. A text that begins like a hash but is none counts as clear text, as PostgreSQL does; so does
  // an encrypted one here.
  static Secret from_stored(std::string_view text);
  // As from_stored, and decrypts AES... with the KEY of Pgpool-II's key file (its first line). An error tells what is
  // wrong with such a secret, without showing it; everything else is a secret.
  static Result<Secret> parse(std::string_view text, std::string_view key = {});

  Kind kind() const { return kind_; }
  const std::string& plain() const { return text_; }     // kind Plain
  const std::string& md5_hash() const { return text_; }  // kind Md5: "md5" and 32 hexadecimal digits
  const ScramVerifier& scram() const { return scram_; }  // kind Scram

  // What a SCRAM login of the client revealed: with it pgweir can log in to a server that has the same verifier.
  void set_client_key(std::string key) { client_key_ = std::move(key); }
  const std::string& client_key() const { return client_key_; }

 private:
  Kind kind_ = Kind::Plain;
  std::string text_;
  ScramVerifier scram_;
  std::string client_key_;
};

}  // namespace weir::auth
