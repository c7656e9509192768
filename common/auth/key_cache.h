// Keys that were derived already: PBKDF2 costs milliseconds, which no login should pay twice.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/auth/scram.h"
#include "common/auth/verifier.h"

namespace weir::auth {

// One a process, bounded: what is in the way of a new entry is derived again when it is needed. Keeps no passwords.
class KeyCache {
 public:
  using Keys = ScramKeys;

  // The salts of pgweir's own verifiers follow from SEED: processes that share one tell every client the same salt for
  // the same user name, whether there is such a user or not. By default it is random.
  KeyCache();
  explicit KeyCache(std::string seed) : seed_(std::move(seed)) {}

  // The keys of PASSWORD with SALT and ITERATIONS. Valid until the next call of a member that is not const.
  const Keys& keys(const std::string& password, const std::string& salt, int iterations);
  // The same without remembering those of a PASSWORD that VERIFIER does not take: clients cannot fill the cache.
  bool matches(const std::string& password, const ScramVerifier& verifier);
  // A verifier of pgweir's own for a clear-text password; the same for the same user and password.
  ScramVerifier verifier(const std::string& user, const std::string& password);
  // A verifier that looks like that of an existing user and takes no password.
  ScramVerifier mock(std::string_view user) const;

  std::size_t size() const { return keys_.size(); }

 private:
  std::string id(std::string_view password, std::string_view salt, int iterations) const;
  std::string salt_for(std::string_view user) const;
  const Keys& remember(std::string id, Keys keys);

  static constexpr std::size_t kLimit = 10000;
  std::string seed_;
  std::map<std::string, Keys> keys_;
};

}  // namespace weir::auth
