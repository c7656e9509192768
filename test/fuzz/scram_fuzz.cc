// Hostile peers in a SCRAM exchange. Input: a letter, then the messages with 0x1E between them. 's': a client's, to
// ScramServer; 'c': a server's, to ScramClient; 'a': bodies of 'p', to ClientAuth; 'b': bodies of 'R', to BackendAuth.
// NONCE in a message stands for what the other side made up.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/auth/backend_auth.h"
#include "common/auth/client_auth.h"
#include "common/auth/scram.h"
#include "common/auth/scram_client.h"
#include "common/auth/scram_server.h"
#include "common/base/check.h"

namespace {

using namespace weir;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '\x1E') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string with_nonce(std::string message, const std::string& nonce) {
  constexpr std::string_view kName = "NONCE";
  const std::size_t at = message.find(kName);
  return at == std::string::npos ? message : message.replace(at, kName.size(), nonce);
}

// The value of r= in a message of ours.
std::string nonce_in(const std::string& message) {
  const std::size_t at = message.find("r=") + 2;
  return message.substr(at, message.find(',', at) - at);
}

// A verifier that no proof opens, with cheap iterations.
auth::ScramVerifier verifier() { return {1, "salt", std::string(32, 'k'), std::string(32, 's')}; }

void server(const std::vector<std::string>& messages) {
  auth::ScramServer side(verifier(), false);
  std::string nonce;
  if (const auto answer = side.first(messages[0])) nonce = nonce_in(*answer);
  for (std::size_t i = 1; i < messages.size(); ++i) {
    WEIR_CHECK(!side.final(with_nonce(messages[i], nonce)));
    WEIR_CHECK(side.client_key().empty());
  }
}

void client(const std::vector<std::string>& messages) {
  auth::KeyCache cache;
  // Its keys are known, so that a big iteration count costs nothing.
  auth::Secret secret = auth::Secret::from_stored(auth::format_scram_verifier(verifier()));
  secret.set_client_key(std::string(32, 'c'));
  auth::ScramClient side(secret, cache);
  const auto proof = side.final(with_nonce(messages[0], nonce_in(side.first())));
  if (proof) WEIR_CHECK(proof->starts_with("c=biws,r="));
  for (std::size_t i = 1; i < messages.size(); ++i) WEIR_CHECK(!side.verify(messages[i]));
}

void client_auth(const std::vector<std::string>& messages) {
  for (const auth::Method method : {auth::Method::Cleartext, auth::Method::Md5, auth::Method::ScramSha256}) {
    auth::KeyCache cache;
    auth::ClientAuth side(method, "user", auth::Secret::from_stored(auth::format_scram_verifier(verifier())), cache);
    side.begin();
    for (const std::string& message : messages) {
      const auth::ClientAuthStep step = side.step(as_bytes(message));
      WEIR_CHECK(step.outcome != auth::ClientAuthStep::Outcome::Accept);
      WEIR_CHECK((step.outcome == auth::ClientAuthStep::Outcome::More) == step.error.message.empty());
    }
  }
}

void backend_auth(const std::vector<std::string>& messages) {
  auth::KeyCache cache;
  auth::Secret secret = auth::Secret::from_stored(auth::format_scram_verifier(verifier()));
  secret.set_client_key(std::string(32, 'c'));
  auth::BackendAuth side("user", secret, cache);
  for (const std::string& message : messages) {
    const auto request = wire::parse_authentication(as_bytes(message));
    if (request) static_cast<void>(side.step(*request));
  }
  WEIR_CHECK(!side.done() || side.asked() == auth::AskedMethod::Trust);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto messages = split({reinterpret_cast<const char*>(data) + 1, size - 1});
  switch (static_cast<char>(data[0])) {
    case 's': server(messages); break;
    case 'c': client(messages); break;
    case 'a': client_auth(messages); break;
    case 'b': backend_auth(messages); break;
    default: break;
  }
  return 0;
}
