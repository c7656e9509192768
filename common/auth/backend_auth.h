// Answers a server's authentication requests, one step a message; no sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/auth/key_cache.h"
#include "common/auth/scram_client.h"
#include "common/auth/verifier.h"
#include "common/base/result.h"
#include "common/wire/backend.h"

namespace weir::auth {

// What a server asked for at login. Trust: it asked for nothing.
enum class AskedMethod : std::uint8_t { Unknown, Trust, Cleartext, Md5, Scram };

class BackendAuth {
 public:
  // CACHE outlives it.
  BackendAuth(std::string user, std::optional<Secret> secret, KeyCache& cache);
  // The bytes to send, perhaps none. An error is FATAL and names the user, what was asked, and what is missing; asked()
  // is set then, too. A server that asks twice, or says Ok in the middle of SCRAM, is an error.
  Result<std::string> step(const wire::Authentication& request);
  bool done() const { return phase_ == Phase::Done; }  // AuthenticationOk came, and the server proved itself if asked
  AskedMethod asked() const { return asked_; }

 private:
  enum class Phase : std::uint8_t { Start, Answered, Proving, Done, Failed };

  Result<std::string> next(const wire::Authentication& request);
  Result<std::string> ok();
  Result<std::string> cleartext();
  Result<std::string> md5(std::string_view salt);
  Result<std::string> sasl(const wire::Authentication& request);
  tl::unexpected<Error> unfit(std::string_view asked) const;

  std::string user_;
  std::optional<Secret> secret_;
  KeyCache& cache_;
  std::unique_ptr<ScramClient> scram_;
  AskedMethod asked_ = AskedMethod::Unknown;
  Phase phase_ = Phase::Start;
};

}  // namespace weir::auth
