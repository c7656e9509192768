// Asks a client for its password and judges the answer, one step a message; no sockets. A user without a secret goes
// through the same exchange and fails like a wrong password; only with Cleartext is the password left to a server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/auth/backend_auth.h"
#include "common/auth/key_cache.h"
#include "common/auth/scram_server.h"
#include "common/auth/verifier.h"
#include "common/base/bytes.h"
#include "common/base/error.h"

namespace weir::auth {

enum class Method { Cleartext, Md5, ScramSha256 };

// How a client is asked, when the server asked pgweir by ASKED and SECRET is what pgweir holds: as the server did, as
// far as the secret allows. Not for Trust, where nothing is asked.
Method method_for(AskedMethod asked, const std::optional<Secret>& secret);

struct ClientAuthStep {
  enum class Outcome { More, Accept, Refuse } outcome = Outcome::Refuse;
  // More: the next request. Accept: AuthenticationOk, after what must go out before it; empty if a server is yet to
  // judge clear_text.
  std::string send;
  Error error;             // Refuse; FATAL
  std::string clear_text;  // Accept with Method::Cleartext: the password
  std::string client_key;  // Accept with ScramSha256 against a stored verifier
};

class ClientAuth {
 public:
  // CACHE outlives it.
  ClientAuth(Method method, std::string user, std::optional<Secret> secret, KeyCache& cache);
  // The first request.
  std::string begin();
  // The body of a message 'p', after begin(). After Accept or Refuse every further message is refused.
  ClientAuthStep step(Bytes body);

 private:
  enum class State : std::uint8_t { Start, Asked, Challenged, Over };

  ClientAuthStep cleartext(Bytes body);
  ClientAuthStep md5(Bytes body);
  ClientAuthStep scram_initial(Bytes body);
  ClientAuthStep scram_first(std::string_view message);
  ClientAuthStep scram_final(std::string_view message);
  bool takes(const std::string& password);
  ClientAuthStep wrong_password() const;

  Method method_;
  std::string user_;
  std::optional<Secret> secret_;
  KeyCache& cache_;
  State state_ = State::Start;
  std::array<std::byte, 4> salt_{};
  std::unique_ptr<ScramServer> scram_;
};

}  // namespace weir::auth
