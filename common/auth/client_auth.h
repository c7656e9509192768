// Asks a client for its password and judges the answer, one step a message; no sockets. A user without a secret goes
// through the same exchange and fails like a wrong password.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "common/auth/backend_auth.h"
#include "common/auth/scram_exchange.h"
#include "common/auth/verifier.h"
#include "common/base/bytes.h"
#include "common/base/error.h"

namespace weir::auth {

enum class Method { Cleartext, Md5, ScramSha256 };

// How a client is asked, when the server asked pgweir by ASKED and SECRET is what pgweir holds: as the server did, as far
// as the secret allows.
Method method_for(AskedMethod asked, const std::optional<Secret>& secret);

struct ClientAuthStep {
  enum class Outcome { More, Accept, Refuse } outcome = Outcome::Refuse;
  std::string send;        // More: the next request; Accept: what must go out before anything else (AuthenticationOk last)
  Error error;             // Refuse
  std::string clear_text;  // Accept with Method::Cleartext: the password
  std::string client_key;  // Accept with ScramSha256 against a stored verifier
};

class ClientAuth {
 public:
  ClientAuth(Method method, std::string user, std::optional<Secret> secret, KeyCache& cache);
  // The first request.
  std::string begin();
  // The body of a message 'p'.
  ClientAuthStep step(Bytes body);

 private:
  ClientAuthStep cleartext(Bytes body);
  ClientAuthStep md5(Bytes body);
  ClientAuthStep scram(Bytes body);
  ClientAuthStep refuse() const;
  ClientAuthStep refuse(Error error) const;
  static ClientAuthStep accept(std::string send = {});

  Method method_;
  std::string user_;
  std::optional<Secret> secret_;
  KeyCache& cache_;
  std::array<std::byte, 4> salt_{};
  std::unique_ptr<ScramServer> scram_;
};

}  // namespace weir::auth
