#include "common/base/random.h"

#include <openssl/rand.h>

#include <cstddef>

#include "common/base/check.h"

namespace weir {

void secure_random(std::span<std::byte> bytes) {
  WEIR_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) == 1);
}

std::uint32_t secure_random_u32() {
  std::uint32_t value = 0;
  secure_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

std::uint64_t secure_random_u64() {
  std::uint64_t value = 0;
  secure_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace weir
