#include "common/auth/key_cache.h"

#include <span>

#include "common/base/random.h"

namespace weir::auth {

KeyCache::KeyCache() : seed_(kScramKeySize, '\0') {
  secure_random(std::as_writable_bytes(std::span(seed_.data(), seed_.size())));
}

std::string KeyCache::id(std::string_view password, std::string_view salt, int iterations) const {
  // Each part has a fixed length or comes last, so that no two triples share a key.
  std::string text = hmac_sha256(seed_, password) + std::to_string(iterations) + ":";
  return text.append(salt);
}

std::string KeyCache::salt_for(std::string_view user) const {
  return hmac_sha256(seed_, user).substr(0, kScramSaltSize);
}

const KeyCache::Keys& KeyCache::remember(std::string id, Keys keys) {
  if (keys_.size() >= kLimit) keys_.erase(keys_.begin());  // ids begin with a hash: any entry, hardly the newest
  return keys_.insert_or_assign(std::move(id), std::move(keys)).first->second;
}

const KeyCache::Keys& KeyCache::keys(const std::string& password, const std::string& salt, int iterations) {
  std::string key = id(password, salt, iterations);
  if (const auto it = keys_.find(key); it != keys_.end()) return it->second;
  return remember(std::move(key), derive_scram_keys(password, salt, iterations));
}

bool KeyCache::matches(const std::string& password, const ScramVerifier& verifier) {
  std::string key = id(password, verifier.salt, verifier.iterations);
  if (const auto it = keys_.find(key); it != keys_.end()) {
    return same_secret(it->second.stored_key, verifier.stored_key);
  }
  Keys derived = derive_scram_keys(password, verifier.salt, verifier.iterations);
  if (!same_secret(derived.stored_key, verifier.stored_key)) return false;
  remember(std::move(key), std::move(derived));
  return true;
}

ScramVerifier KeyCache::verifier(const std::string& user, const std::string& password) {
  std::string salt = salt_for(user);
  const Keys& derived = keys(password, salt, kScramIterations);
  return {kScramIterations, std::move(salt), derived.stored_key, derived.server_key};
}

ScramVerifier KeyCache::mock(std::string_view user) const {
  // Nobody knows a text whose hash is this stored key.
  const std::string nothing = hmac_sha256(seed_, "no key: " + std::string(user));
  return {kScramIterations, salt_for(user), nothing, nothing};
}

}  // namespace weir::auth
