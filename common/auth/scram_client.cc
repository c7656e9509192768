#include "common/auth/scram_client.h"

#include <charconv>
#include <optional>
#include <utility>

#include "common/auth/scram.h"
#include "common/base/sqlstate.h"

namespace weir::auth {
namespace {

constexpr int kMaxIterations = 1000000;  // a hostile server must not make pgweir compute for minutes
constexpr std::size_t kMaxSalt = 1024;
constexpr std::string_view kOutOfTurn = "The server's message is out of turn.";

std::optional<int> iterations_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxIterations) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

ScramClient::ScramClient(Secret secret, KeyCache& cache)
    : secret_(std::move(secret)), cache_(cache), nonce_(scram_nonce()) {}

std::string ScramClient::first() const { return "n,,n=,r=" + nonce_; }

Result<std::string> ScramClient::keys_for(const std::string& salt, int iterations) {
  if (secret_.kind() == Secret::Kind::Plain) {
    const KeyCache::Keys& keys = cache_.keys(secret_.plain(), salt, iterations);
    server_key_ = keys.server_key;
    return keys.client_key;
  }
  if (secret_.kind() != Secret::Kind::Scram || secret_.client_key().empty()) {
    return fail(make_fatal(sqlstate::kInvalidPassword, "there is no password for SCRAM-SHA-256"));
  }
  if (secret_.scram().salt != salt || secret_.scram().iterations != iterations) {
    return fail(make_fatal(sqlstate::kInvalidPassword, "the stored SCRAM verifier is not the one that the server has",
                           "Salt or iteration count differ.",
                           "Copy the verifier from pg_authid of the server, or store the password itself."));
  }
  server_key_ = secret_.scram().server_key;
  return secret_.client_key();
}

Result<std::string> ScramClient::final(std::string_view message) {
  if (std::exchange(state_, State::Over) != State::Start) return malformed_scram(kOutOfTurn);
  if (message.size() > kMaxScramMessage) return malformed_scram("The server's message is too long.");
  ScramAttributes attributes(message);
  const auto nonce = attributes.take('r');
  const auto salt_text = attributes.take('s');
  const auto iterations_text = attributes.take('i');
  if (!nonce || !salt_text || !iterations_text) return malformed_scram("A field of the server's message is missing.");
  if (!valid_nonce(*nonce) || !nonce->starts_with(nonce_) || nonce->size() == nonce_.size()) {
    return malformed_scram("The server's nonce is not an answer to ours.");
  }
  const auto salt = base64_decode(*salt_text);
  const auto iterations = iterations_of(*iterations_text);
  if (!salt || salt->empty() || salt->size() > kMaxSalt || !iterations) {
    return malformed_scram("Salt or iteration count of the server are invalid.");
  }
  const Result<std::string> client_key = keys_for(*salt, *iterations);
  if (!client_key) return fail(client_key.error());
  const std::string without_proof = "c=biws,r=" + std::string(*nonce);
  auth_message_ = "n=,r=" + nonce_ + "," + std::string(message) + "," + without_proof;
  const std::string proof = xor_texts(*client_key, hmac_sha256(sha256(*client_key), auth_message_));
  state_ = State::Proved;
  return without_proof + ",p=" + base64_encode(proof);
}

Status ScramClient::verify(std::string_view message) {
  if (std::exchange(state_, State::Over) != State::Proved) return malformed_scram(kOutOfTurn);
  if (message.size() > kMaxScramMessage) return malformed_scram("The server's message is too long.");
  ScramAttributes attributes(message);
  const auto attribute = attributes.next();
  if (attribute && attribute->name == 'e') {
    return fail(make_fatal(sqlstate::kInvalidPassword, "the server ended the SCRAM exchange with an error"));
  }
  if (!attribute || attribute->name != 'v') return malformed_scram("The server's last message has no signature.");
  const auto signature = base64_decode(attribute->value);
  if (!signature || !same_secret(*signature, hmac_sha256(server_key_, auth_message_))) {
    return fail(make_fatal(sqlstate::kInvalidPassword, "the server's SCRAM signature is wrong",
                           "Whatever answered does not know the password."));
  }
  return {};
}

}  // namespace weir::auth
