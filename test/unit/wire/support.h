// Bytes for the tests of the codec: messages as a peer would send them, and a reader that is fed in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/byte_writer.h"
#include "common/wire/frame.h"

namespace weir::wire::test {

using namespace std::string_literals;
using namespace std::string_view_literals;

// TAG, a length that fits, BODY.
inline std::string framed(char tag, std::string_view body) {
  std::string out;
  ByteWriter(out).u8(static_cast<std::uint8_t>(tag)).u32(static_cast<std::uint32_t>(body.size() + 4)).raw(body);
  return out;
}

// LENGTH word as given, and CODE; then BODY.
inline std::string untagged(std::uint32_t length, std::uint32_t code, std::string_view body = {}) {
  std::string out;
  ByteWriter(out).u32(length).u32(code).raw(body);
  return out;
}

// A field of N bytes, big-endian.
inline std::string i32(std::int32_t value) {
  std::string out;
  ByteWriter(out).i32(value);
  return out;
}
inline std::string i16(std::int32_t value) {
  std::string out;
  ByteWriter(out).u16(static_cast<std::uint16_t>(value));
  return out;
}

struct Frame {
  char tag = '\0';
  std::string body;
  bool operator==(const Frame&) const = default;
};

// Collects whole messages out of pieces of a stream.
class FrameReader {
 public:
  explicit FrameReader(Direction direction) : direction_(direction) {}

  void feed(std::string_view piece) {
    buffer_ += piece;
    while (!violated_) {
      const FrameHeader header = peek_frame(direction_, as_bytes(buffer_));
      if (header.status == FrameStatus::Violation) violated_ = true;
      if (header.status != FrameStatus::Ok || header.total() > buffer_.size()) return;
      frames_.push_back({header.tag, buffer_.substr(kHeaderSize, header.total() - kHeaderSize)});
      buffer_.erase(0, header.total());
    }
  }

  const std::vector<Frame>& frames() const { return frames_; }
  bool violated() const { return violated_; }
  const std::string& rest() const { return buffer_; }

 private:
  Direction direction_;
  std::string buffer_;
  std::vector<Frame> frames_;
  bool violated_ = false;
};

// The body of the only message in BYTES.
inline std::string body_of(const std::string& bytes, char tag, Direction direction) {
  FrameReader reader(direction);
  reader.feed(bytes);
  if (reader.frames().size() != 1 || !reader.rest().empty() || reader.frames()[0].tag != tag) return "not one message";
  return reader.frames()[0].body;
}

}  // namespace weir::wire::test
