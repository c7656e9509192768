// Chance that a seed fixes, the same with every standard library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weir::compare {

class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // splitmix64: any seed is a good one, and neighbours give unrelated numbers.
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // 0 .. limit - 1; limit > 0.
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  const std::string& pick(const std::vector<std::string>& from) {
    return from.at(static_cast<std::size_t>(below(static_cast<int>(from.size()))));
  }

private:
  std::uint64_t state_;
};

// The seed of script INDEX of a run.
inline std::uint64_t script_seed(std::uint64_t seed, std::uint64_t index) {
  Random mixed(seed * 0x2545f4914f6cdd1dU + index);
  return mixed.next();
}

} // namespace weir::compare
