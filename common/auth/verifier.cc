#include "common/auth/verifier.h"

#include <algorithm>
#include <charconv>
#include <cctype>

#include "common/auth/scram.h"
#include "common/base/random.h"

namespace weir::auth {
namespace {

constexpr int kIterations = 4096;
constexpr int kMaxIterations = 10000000;

bool is_md5(std::string_view text) {
  return text.size() == 35 && text.starts_with("md5") &&
         std::all_of(text.begin() + 3, text.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

}  // namespace

std::optional<ScramVerifier> parse_scram_verifier(std::string_view text) {
  constexpr std::string_view kPrefix = "SCRAM-SHA-256$";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const std::size_t colon = text.find(':');
  const std::size_t dollar = text.find('$');
  if (colon == std::string_view::npos || dollar == std::string_view::npos || colon > dollar) return std::nullopt;
  const std::size_t second = text.find(':', dollar);
  if (second == std::string_view::npos) return std::nullopt;
  ScramVerifier verifier;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, verifier.iterations);
  if (error != std::errc() || end != text.data() + colon || verifier.iterations < 1 || verifier.iterations > kMaxIterations) return std::nullopt;
  const auto salt = base64_decode(text.substr(colon + 1, dollar - colon - 1));
  const auto stored = base64_decode(text.substr(dollar + 1, second - dollar - 1));
  const auto server = base64_decode(text.substr(second + 1));
  if (!salt || salt->empty() || !stored || !server || stored->size() != kScramKeySize || server->size() != kScramKeySize) return std::nullopt;
  verifier.salt = *salt;
  verifier.stored_key = *stored;
  verifier.server_key = *server;
  return verifier;
}

std::string format_scram_verifier(const ScramVerifier& verifier) {
  return "SCRAM-SHA-256$" + std::to_string(verifier.iterations) + ":" + base64_encode(verifier.salt) + "$" +
         base64_encode(verifier.stored_key) + ":" + base64_encode(verifier.server_key);
}

Secret Secret::from_plain(std::string_view password) {
  Secret secret;
  secret.text_ = password;
  return secret;
}

Secret Secret::from_stored(std::string_view text) {
  Secret secret;
  if (is_md5(text)) {
    secret.kind_ = Kind::Md5;
    secret.text_ = text;
  } else if (auto verifier = parse_scram_verifier(text)) {
    secret.kind_ = Kind::Scram;
    secret.scram_ = std::move(*verifier);
  } else {
    secret.text_ = text.starts_with("TEXT") && text.size() > 4 ? text.substr(4) : text;
  }
  return secret;
}

const KeyCache::Keys& KeyCache::keys(const std::string& password, const std::string& salt, int iterations) {
  // The password itself is not kept: its digest will do to find it again.
  const std::string id = sha256(password) + salt + std::to_string(iterations);
  if (const auto it = keys_.find(id); it != keys_.end()) return it->second;
  if (keys_.size() >= kLimit) keys_.clear();
  const std::string salted = salted_password(saslprep(password), salt, iterations);
  Keys keys;
  keys.client_key = hmac_sha256(salted, "Client Key");
  keys.server_key = hmac_sha256(salted, "Server Key");
  keys.stored_key = sha256(keys.client_key);
  return keys_.emplace(id, std::move(keys)).first->second;
}

const ScramVerifier& KeyCache::verifier(const std::string& user, const std::string& password) {
  const std::string id = user + '\0' + sha256(password);
  if (const auto it = verifiers_.find(id); it != verifiers_.end()) return it->second;
  if (verifiers_.size() >= kLimit) verifiers_.clear();
  ScramVerifier verifier;
  verifier.iterations = kIterations;
  verifier.salt.resize(16);
  secure_random(std::as_writable_bytes(std::span(verifier.salt.data(), verifier.salt.size())));
  const Keys& made = keys(password, verifier.salt, verifier.iterations);
  verifier.stored_key = made.stored_key;
  verifier.server_key = made.server_key;
  return verifiers_.emplace(id, std::move(verifier)).first->second;
}

}  // namespace weir::auth
