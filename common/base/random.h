// Randomness: a fast generator for choices (seeded once a process, seedable in tests) and secure bytes for secrets.
#pragma once

#include <cstdint>
#include <span>

namespace weir {

// xorshift64*: quick and even, never for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed != 0 ? seed : 0x9e3779b97f4a7c15ULL) {}

  std::uint64_t next() {
    state_ ^= state_ >> 12U;
    state_ ^= state_ << 25U;
    state_ ^= state_ >> 27U;
    return state_ * 0x2545f4914f6cdd1dULL;
  }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

// Fills BYTES from the operating system's generator (OpenSSL RAND_bytes); aborts if it has none.
void secure_random(std::span<std::byte> bytes);
std::uint32_t secure_random_u32();
std::uint64_t secure_random_u64();

}  // namespace weir
