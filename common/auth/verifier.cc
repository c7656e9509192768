#include "common/auth/verifier.h"

#include <charconv>

#include "common/auth/aes_password.h"
#include "common/auth/md5_password.h"
#include "common/auth/scram.h"

namespace weir::auth {
namespace {

constexpr std::string_view kScramPrefix = "SCRAM-SHA-256$";
constexpr std::string_view kAesPrefix = "AES";
constexpr std::string_view kTextPrefix = "TEXT";
constexpr int kMaxIterations = 10000000;

// TEXT up to END, which is taken off with it; nothing if there is no END.
std::optional<std::string_view> up_to(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(at + 1);
  return part;
}

std::optional<int> count_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxIterations) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<ScramVerifier> parse_scram_verifier(std::string_view text) {
  if (!text.starts_with(kScramPrefix)) return std::nullopt;
  text.remove_prefix(kScramPrefix.size());
  const auto iterations_text = up_to(text, ':');
  const auto salt_text = up_to(text, '$');
  const auto stored_text = up_to(text, ':');
  if (!iterations_text || !salt_text || !stored_text) return std::nullopt;
  const auto iterations = count_of(*iterations_text);
  auto salt = base64_decode(*salt_text);
  auto stored = base64_decode(*stored_text);
  auto server = base64_decode(text);
  if (!iterations || !salt || salt->empty() || !stored || !server) return std::nullopt;
  if (stored->size() != kScramKeySize || server->size() != kScramKeySize) return std::nullopt;
  return ScramVerifier{*iterations, std::move(*salt), std::move(*stored), std::move(*server)};
}

std::string format_scram_verifier(const ScramVerifier& verifier) {
  return std::string(kScramPrefix) + std::to_string(verifier.iterations) + ":" + base64_encode(verifier.salt) + "$" +
         base64_encode(verifier.stored_key) + ":" + base64_encode(verifier.server_key);
}

Secret Secret::from_plain(std::string_view password) {
  Secret secret;
  secret.text_ = password;
  return secret;
}

Secret Secret::from_stored(std::string_view text) {
  if (is_md5_hash(text)) {
    Secret secret;
    secret.kind_ = Kind::Md5;
    secret.text_ = text;
    return secret;
  }
  if (auto verifier = parse_scram_verifier(text)) {
    Secret secret;
    secret.kind_ = Kind::Scram;
    secret.scram_ = std::move(*verifier);
    return secret;
  }
  if (text.starts_with(kTextPrefix) && text.size() > kTextPrefix.size()) text.remove_prefix(kTextPrefix.size());
  return from_plain(text);
}

Result<Secret> Secret::parse(std::string_view text, std::string_view key) {
  if (!text.starts_with(kAesPrefix)) return from_stored(text);
  const Result<std::string> password = decrypt_aes_password(text.substr(kAesPrefix.size()), key);
  if (!password) return fail(password.error());
  return from_plain(*password);
}

}  // namespace weir::auth
