// The client's side of a SCRAM-SHA-256 exchange as step functions: text in, text out; no sockets, no channel binding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/auth/key_cache.h"
#include "common/auth/verifier.h"
#include "common/base/result.h"

namespace weir::auth {

// Logs in with a clear-text password, or with a verifier whose client key is known, to a server that has the same
// verifier. Every error ends the exchange. CACHE outlives it.
class ScramClient {
 public:
  ScramClient(Secret secret, KeyCache& cache);
  // client-first-message, the same each time.
  std::string first() const;
  // server-first-message -> client-final-message.
  Result<std::string> final(std::string_view message);
  // server-final-message: does the server know the password, too?
  Status verify(std::string_view message);

 private:
  enum class State : std::uint8_t { Start, Proved, Over };

  // Sets server_key_; the client's key.
  Result<std::string> keys_for(const std::string& salt, int iterations);

  Secret secret_;
  KeyCache& cache_;
  State state_ = State::Start;
  std::string nonce_;
  std::string auth_message_;
  std::string server_key_;
};

}  // namespace weir::auth
