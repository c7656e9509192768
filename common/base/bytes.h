// Byte spans and the text views that lie in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir {

using Bytes = std::span<const std::byte>;

inline Bytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace weir
