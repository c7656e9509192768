// Bounds-checked reading of big-endian fields. A reader that ran short stays failed and yields zeros and empty views, so
// a caller may read a whole message and ask ok() once. Views live as long as the bytes given.
#pragma once

#include <cstring>
#include <string_view>

#include "common/base/bytes.h"

namespace weir {

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t remaining() const { return rest_.size(); }
  Bytes rest() const { return rest_; }

  std::uint8_t u8() {
    Bytes field = take(1);
    return field.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(field[0]);
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(unsigned_field(2)); }
  std::uint32_t u32() { return unsigned_field(4); }
  std::int16_t i16() { return static_cast<std::int16_t>(u16()); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }

  // Exactly COUNT bytes; empty and failed if there are fewer.
  Bytes take(std::size_t count) {
    if (!ok_ || count > rest_.size()) {
      ok_ = false;
      return {};
    }
    Bytes taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  // The text up to the next NUL, which is consumed; failed if there is none.
  std::string_view cstring() {
    if (!ok_) return {};
    const void* nul = rest_.empty() ? nullptr : std::memchr(rest_.data(), 0, rest_.size());
    if (nul == nullptr) {
      ok_ = false;
      return {};
    }
    auto length = static_cast<std::size_t>(static_cast<const std::byte*>(nul) - rest_.data());
    std::string_view text = as_text(rest_.first(length));
    rest_ = rest_.subspan(length + 1);
    return text;
  }

 private:
  std::uint32_t unsigned_field(std::size_t width) {
    std::uint32_t value = 0;
    for (std::byte b : take(width)) value = (value << 8U) | std::to_integer<std::uint32_t>(b);
    return value;
  }

  Bytes rest_;
  bool ok_ = true;
};

}  // namespace weir
