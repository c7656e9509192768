#include "common/auth/scram_server.h"

#include <optional>
#include <utility>

#include "common/auth/scram.h"
#include "common/base/sqlstate.h"

namespace weir::auth {
namespace {

// gs2-header: channel-binding flag and authorization identity, each with its comma. Its length, if it is acceptable.
Result<std::size_t> gs2_header_size(std::string_view message) {
  if (message.empty()) return malformed_scram("The message is empty.");
  if (message[0] == 'p') {
    return fail(make_fatal(sqlstate::kProtocolViolation,
                           "client requires SCRAM channel binding, but it is not supported"));
  }
  if (message[0] != 'n' && message[0] != 'y') return malformed_scram("Unexpected channel-binding flag.");
  if (message.size() < 3 || message[1] != ',') return malformed_scram("Comma expected, but there is none.");
  if (message[2] == 'a') {
    return fail(make_fatal(sqlstate::kFeatureNotSupported,
                           "client uses authorization identity, but it is not supported"));
  }
  if (message[2] != ',') return malformed_scram("Unexpected attribute in client-first-message.");
  return std::size_t{3};
}

}  // namespace

ScramServer::ScramServer(ScramVerifier verifier, bool mock, std::string nonce)
    : verifier_(std::move(verifier)), mock_(mock), nonce_(std::move(nonce)) {}

Result<std::string> ScramServer::first(std::string_view message) {
  if (std::exchange(state_, State::Over) != State::Start) return malformed_scram("The message is out of turn.");
  if (message.size() > kMaxScramMessage) return malformed_scram("The message is too long.");
  const Result<std::size_t> header = gs2_header_size(message);
  if (!header) return fail(header.error());
  gs2_header_ = message.substr(0, *header);
  client_first_bare_ = message.substr(*header);
  if (client_first_bare_.starts_with("m=")) {
    return fail(make_fatal(sqlstate::kFeatureNotSupported, "client requires an unsupported SCRAM extension"));
  }
  ScramAttributes attributes(client_first_bare_);
  if (!attributes.take('n')) return malformed_scram("The user name is missing.");
  const auto nonce = attributes.take('r');
  if (!nonce) return malformed_scram("The nonce is missing.");
  if (!valid_nonce(*nonce)) return malformed_scram("Non-printable characters in SCRAM nonce.");
  while (!attributes.at_end()) {  // extensions are passed over
    if (!attributes.next()) return malformed_scram("Attribute expected.");
  }
  nonce_.insert(0, *nonce);
  server_first_ =
      "r=" + nonce_ + ",s=" + base64_encode(verifier_.salt) + ",i=" + std::to_string(verifier_.iterations);
  state_ = State::Challenged;
  return server_first_;
}

Result<std::string> ScramServer::final(std::string_view message) {
  if (std::exchange(state_, State::Over) != State::Challenged) return malformed_scram("The message is out of turn.");
  if (message.size() > kMaxScramMessage) return malformed_scram("The message is too long.");
  ScramAttributes attributes(message);
  const auto binding = attributes.take('c');
  if (!binding) return malformed_scram("The channel binding is missing.");
  if (*binding != base64_encode(gs2_header_)) {
    return fail(make_fatal(sqlstate::kProtocolViolation,
                           "unexpected SCRAM channel-binding attribute in client-final-message"));
  }
  const auto nonce = attributes.take('r');
  if (!nonce) return malformed_scram("The nonce is missing.");
  if (!same_secret(*nonce, nonce_)) {
    return fail(make_fatal(sqlstate::kProtocolViolation, "invalid SCRAM response", "Nonce does not match."));
  }
  std::optional<ScramAttributes::Attribute> last;
  do {
    last = attributes.next();
    if (!last) return malformed_scram("The proof is missing.");
  } while (last->name != 'p');
  if (!attributes.at_end()) return malformed_scram("Garbage found at the end of client-final-message.");
  const auto proof = base64_decode(last->value);
  if (!proof || proof->size() != kScramKeySize) return malformed_scram("Malformed proof in client-final-message.");
  return judge(message.substr(0, message.size() - last->value.size() - 3), *proof);
}

Result<std::string> ScramServer::judge(std::string_view without_proof, std::string_view proof) {
  const std::string auth_message = client_first_bare_ + "," + server_first_ + "," + std::string(without_proof);
  std::string key = xor_texts(proof, hmac_sha256(verifier_.stored_key, auth_message));
  const bool right = same_secret(sha256(key), verifier_.stored_key);
  if (!right || mock_) {
    return fail(make_fatal(sqlstate::kInvalidPassword, "password authentication failed"));
  }
  client_key_ = std::move(key);
  return "v=" + base64_encode(hmac_sha256(verifier_.server_key, auth_message));
}

}  // namespace weir::auth
