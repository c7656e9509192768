// ParameterStatus as one server last reported it. A server reports some fifteen parameters; what a hostile one makes of
// that must cost neither time nor memory.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace weir::child {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return boost::hash<std::string_view>()(text); }
};
template <typename V>
using NameMap = boost::unordered_flat_map<std::string, V, StringHash, std::equal_to<>>;

class ReportedParameters {
 public:
  static constexpr std::size_t kMaxNames = 1000;
  static constexpr std::size_t kMaxBytes = 256U << 10U;  // of all names and values

  // False: it would be more than that, and is not taken.
  bool note(std::string_view name, std::string_view value) {
    const auto known = values_.find(name);
    const std::size_t before = known == values_.end() ? 0 : name.size() + known->second.size();
    const std::size_t bytes = bytes_ - before + name.size() + value.size();
    if (bytes > kMaxBytes || (known == values_.end() && values_.size() >= kMaxNames)) return false;
    bytes_ = bytes;
    if (known != values_.end()) {
      known->second = value;
    } else {
      values_.emplace(name, value);
    }
    return true;
  }

  auto find(std::string_view name) const { return values_.find(name); }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  std::size_t size() const { return values_.size(); }

 private:
  NameMap<std::string> values_;
  std::size_t bytes_ = 0;
};

}  // namespace weir::child
