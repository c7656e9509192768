// Appends big-endian fields to a std::string owned by the caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/bytes.h"

namespace weir {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  ByteWriter& u8(std::uint8_t value) {
    out_.push_back(static_cast<char>(value));
    return *this;
  }
  ByteWriter& u16(std::uint16_t value) {
    return u8(static_cast<std::uint8_t>(value >> 8U)).u8(static_cast<std::uint8_t>(value & 0xffU));
  }
  ByteWriter& u32(std::uint32_t value) {
    return u16(static_cast<std::uint16_t>(value >> 16U)).u16(static_cast<std::uint16_t>(value & 0xffffU));
  }
  ByteWriter& i16(std::int16_t value) { return u16(static_cast<std::uint16_t>(value)); }
  ByteWriter& i32(std::int32_t value) { return u32(static_cast<std::uint32_t>(value)); }
  ByteWriter& raw(std::string_view text) {
    out_.append(text);
    return *this;
  }
  ByteWriter& raw(Bytes bytes) { return raw(as_text(bytes)); }
  // TEXT and a NUL. TEXT must not contain a NUL itself.
  ByteWriter& cstring(std::string_view text) {
    out_.append(text);
    out_.push_back('\0');
    return *this;
  }
  // Overwrites four bytes at POSITION, e.g. a length known only at the end.
  ByteWriter& patch_u32(std::size_t position, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) out_[position + i] = static_cast<char>((value >> (24U - 8U * i)) & 0xffU);
    return *this;
  }
  std::size_t size() const { return out_.size(); }

 private:
  std::string& out_;
};

}  // namespace weir
