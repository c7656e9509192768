// The two sides of a SCRAM-SHA-256 exchange as step functions: text in, text out; no sockets. Channel binding is not
// offered: a client that demands it is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/auth/verifier.h"
#include "common/base/result.h"

namespace weir::auth {

class ScramServer {
 public:
  // MOCK: the user does not exist; the exchange is gone through and fails.
  ScramServer(ScramVerifier verifier, bool mock);
  // client-first-message -> server-first-message.
  Result<std::string> first(std::string_view message);
  // client-final-message -> server-final-message, if the proof is right.
  Result<std::string> final(std::string_view message);
  // After a successful final(): the client's key, which opens servers with the same verifier.
  const std::string& client_key() const { return client_key_; }

 private:
  ScramVerifier verifier_;
  bool mock_;
  std::string gs2_header_;
  std::string client_first_bare_;
  std::string server_first_;
  std::string nonce_;
  std::string client_key_;
};

class ScramClient {
 public:
  ScramClient(Secret secret, KeyCache& cache);
  std::string first();
  // server-first-message -> client-final-message.
  Result<std::string> final(std::string_view message);
  // server-final-message: does the server know the password, too?
  Status verify(std::string_view message) const;

 private:
  Secret secret_;
  KeyCache& cache_;
  std::string nonce_;
  std::string auth_message_;
  std::string server_key_;
};

}  // namespace weir::auth
