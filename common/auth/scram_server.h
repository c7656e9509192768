// The server's side of a SCRAM-SHA-256 exchange as step functions: text in, text out; no sockets. Channel binding is
// not offered: a client that demands it is refused. What the client calls itself in the exchange is not looked at
// (libpq leaves it empty): the user of the startup packet counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/auth/scram.h"
#include "common/auth/verifier.h"
#include "common/base/result.h"

namespace weir::auth {

// Every error is FATAL and ends the exchange: 28P01 for a wrong proof, 08P01 or 0A000 for a wrong message.
class ScramServer {
 public:
  // MOCK: the user does not exist; the exchange is gone through and fails like one with a wrong password. NONCE is the
  // server's part of the nonce, never the same twice.
  ScramServer(ScramVerifier verifier, bool mock, std::string nonce = scram_nonce());
  // client-first-message -> server-first-message.
  Result<std::string> first(std::string_view message);
  // client-final-message -> server-final-message, if the proof is right.
  Result<std::string> final(std::string_view message);
  // After a successful final(): the client's key, which opens servers with the same verifier.
  const std::string& client_key() const { return client_key_; }

 private:
  enum class State : std::uint8_t { Start, Challenged, Over };

  Result<std::string> judge(std::string_view without_proof, std::string_view proof);

  ScramVerifier verifier_;
  bool mock_;
  State state_ = State::Start;
  std::string gs2_header_;
  std::string client_first_bare_;
  std::string server_first_;
  std::string nonce_;  // the server's part, then the client's and the server's
  std::string client_key_;
};

}  // namespace weir::auth
