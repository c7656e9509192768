#include "common/auth/scram_exchange.h"

#include <charconv>
#include <vector>

#include "common/auth/scram.h"
#include "common/base/random.h"
#include "common/base/sqlstate.h"

namespace weir::auth {
namespace {

constexpr std::size_t kMaxMessage = 8192;
constexpr int kMaxIterations = 1000000;  // a hostile server must not make pgweir compute for minutes

std::string random_nonce() {
  std::string raw(18, '\0');
  secure_random(std::as_writable_bytes(std::span(raw.data(), raw.size())));
  return base64_encode(raw);
}

tl::unexpected<Error> malformed(std::string_view what) {
  return fail(make_fatal(sqlstate::kProtocolViolation, "malformed SCRAM message", std::string(what)));
}

// "a=x,b=y" -> the value of the attribute at the front, which is taken off.
std::optional<std::string_view> attribute(std::string_view& message, char name) {
  if (message.size() < 2 || message[0] != name || message[1] != '=') return std::nullopt;
  const std::size_t comma = message.find(',');
  const std::string_view value = message.substr(2, comma == std::string_view::npos ? comma : comma - 2);
  message = comma == std::string_view::npos ? std::string_view() : message.substr(comma + 1);
  return value;
}

}  // namespace

ScramServer::ScramServer(ScramVerifier verifier, bool mock) : verifier_(std::move(verifier)), mock_(mock) {}

Result<std::string> ScramServer::first(std::string_view message) {
  if (message.size() > kMaxMessage) return malformed("The message is too long.");
  if (message.starts_with("p=")) {
    return fail(make_fatal(sqlstate::kProtocolViolation, "client requires SCRAM channel binding, which is not offered"));
  }
  if (!message.starts_with("n,") && !message.starts_with("y,")) return malformed("The channel-binding flag is unknown.");
  const std::size_t second = message.find(',', 2);
  if (second == std::string_view::npos) return malformed("There is no header.");
  if (second != 2) return fail(make_fatal(sqlstate::kFeatureNotSupported, "client uses authorization identity, but it is not supported"));
  gs2_header_ = message.substr(0, second + 1);
  client_first_bare_ = message.substr(second + 1);
  std::string_view rest = client_first_bare_;
  if (rest.starts_with("m=")) return fail(make_fatal(sqlstate::kProtocolViolation, "client requires an unsupported SCRAM extension"));
  if (!attribute(rest, 'n')) return malformed("The user name is missing.");  // its value is not used: the startup packet counts
  const auto nonce = attribute(rest, 'r');
  if (!nonce || nonce->empty()) return malformed("The nonce is missing.");
  for (char c : *nonce) {
    if (c < 0x21 || c > 0x7e) return malformed("The nonce has unprintable characters.");
  }
  nonce_ = std::string(*nonce) + random_nonce();
  server_first_ = "r=" + nonce_ + ",s=" + base64_encode(verifier_.salt) + ",i=" + std::to_string(verifier_.iterations);
  return server_first_;
}

Result<std::string> ScramServer::final(std::string_view message) {
  if (message.size() > kMaxMessage) return malformed("The message is too long.");
  const std::size_t proof_at = message.rfind(",p=");
  if (proof_at == std::string_view::npos) return malformed("The proof is missing.");
  const std::string_view without_proof = message.substr(0, proof_at);
  const auto proof = base64_decode(message.substr(proof_at + 3));
  std::string_view rest = without_proof;
  const auto binding = attribute(rest, 'c');
  const auto nonce = attribute(rest, 'r');
  if (!binding || !nonce || !proof || proof->size() != kScramKeySize) return malformed("A field is missing or has a wrong size.");
  if (*binding != base64_encode(gs2_header_)) return fail(make_fatal(sqlstate::kProtocolViolation, "unexpected SCRAM channel-binding attribute in client-final-message"));
  if (*nonce != nonce_) return fail(make_fatal(sqlstate::kProtocolViolation, "invalid SCRAM response", "Nonce does not match."));
  const std::string auth_message = client_first_bare_ + "," + server_first_ + "," + std::string(without_proof);
  std::string key = xor_texts(*proof, hmac_sha256(verifier_.stored_key, auth_message));
  const bool right = same_secret(sha256(key), verifier_.stored_key);
  if (!right || mock_) return fail(make_fatal(sqlstate::kInvalidPassword, "password authentication failed"));
  client_key_ = std::move(key);
  return "v=" + base64_encode(hmac_sha256(verifier_.server_key, auth_message));
}

ScramClient::ScramClient(Secret secret, KeyCache& cache) : secret_(std::move(secret)), cache_(cache), nonce_(random_nonce()) {}

std::string ScramClient::first() { return "n,,n=,r=" + nonce_; }

Result<std::string> ScramClient::final(std::string_view message) {
  if (message.size() > kMaxMessage) return malformed("The server's message is too long.");
  std::string_view rest = message;
  const auto nonce = attribute(rest, 'r');
  const auto salt_text = attribute(rest, 's');
  const auto iterations_text = attribute(rest, 'i');
  if (!nonce || !salt_text || !iterations_text) return malformed("A field of the server's message is missing.");
  if (!nonce->starts_with(nonce_) || nonce->size() == nonce_.size()) return malformed("The server's nonce is not an answer to ours.");
  const auto salt = base64_decode(*salt_text);
  int iterations = 0;
  const auto [end, error] = std::from_chars(iterations_text->data(), iterations_text->data() + iterations_text->size(), iterations);
  if (!salt || salt->empty() || error != std::errc() || end != iterations_text->data() + iterations_text->size() || iterations < 1 || iterations > kMaxIterations) {
    return malformed("Salt or iteration count of the server are invalid.");
  }
  std::string client_key;
  if (secret_.kind() == Secret::Kind::Plain) {
    const KeyCache::Keys& keys = cache_.keys(secret_.plain(), *salt, iterations);
    client_key = keys.client_key;
    server_key_ = keys.server_key;
  } else {
    if (secret_.scram().salt != *salt || secret_.scram().iterations != iterations) {
      return fail(make_fatal(sqlstate::kInvalidPassword, "the stored SCRAM verifier is not the one that the server has",
                             "Salt or iteration count differ."));
    }
    client_key = secret_.client_key();
    server_key_ = secret_.scram().server_key;
  }
  const std::string without_proof = "c=biws,r=" + std::string(*nonce);
  auth_message_ = "n=,r=" + nonce_ + "," + std::string(message) + "," + without_proof;
  const std::string proof = xor_texts(client_key, hmac_sha256(sha256(client_key), auth_message_));
  return without_proof + ",p=" + base64_encode(proof);
}

Status ScramClient::verify(std::string_view message) const {
  if (message.size() < 2 || !message.starts_with("v=")) return malformed("The server's last message has no signature.");
  const auto signature = base64_decode(message.substr(2));
  if (!signature || !same_secret(*signature, hmac_sha256(server_key_, auth_message_))) {
    return fail(make_fatal(sqlstate::kInvalidPassword, "the server's SCRAM signature is wrong",
                           "Whatever answered does not know the password."));
  }
  return {};
}

}  // namespace weir::auth
