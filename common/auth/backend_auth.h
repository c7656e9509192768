// Answers a server's authentication requests, one step a message; no sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "common/auth/scram_exchange.h"
#include "common/auth/verifier.h"
#include "common/base/result.h"
#include "common/wire/backend.h"

namespace weir::auth {

// What a server asked for at login. Trust: it asked for nothing.
enum class AskedMethod : std::uint8_t { Unknown, Trust, Cleartext, Md5, Scram };

class BackendAuth {
 public:
  BackendAuth(std::string user, std::optional<Secret> secret, KeyCache& cache);
  // The bytes to send, perhaps none. An error names the user, what was asked, and what is missing.
  Result<std::string> step(const wire::Authentication& request);
  bool done() const { return done_; }  // AuthenticationOk has come, and the server proved itself where it had to
  AskedMethod asked() const { return asked_; }

 private:
  Result<std::string> sasl(const wire::Authentication& request);
  tl::unexpected<Error> unfit(std::string_view asked) const;

  std::string user_;
  std::optional<Secret> secret_;
  KeyCache& cache_;
  std::unique_ptr<ScramClient> scram_;
  AskedMethod asked_ = AskedMethod::Unknown;
  bool verified_ = true;
  bool done_ = false;
};

}  // namespace weir::auth
