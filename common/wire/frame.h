// Framing of the tagged messages: five bytes tell what a message is and how long; the body is never needed. Unknown
// tags are values, not errors; a length that cannot be is a violation. No allocation, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/base/bytes.h"

namespace weir::wire {

enum class Direction : std::uint8_t { FromClient, FromServer };
enum class FrameStatus : std::uint8_t { NeedMore, Ok, Violation };

struct FrameHeader {
  FrameStatus status = FrameStatus::NeedMore;
  char tag = '\0';
  std::uint32_t length = 0;  // as on the wire: itself included, the tag not
  bool known = false;
  bool streams = false;      // the body may be passed on unread

  // Size of the whole message.
  std::size_t total() const { return std::size_t{length} + 1; }
};

inline constexpr std::size_t kHeaderSize = 5;

namespace detail {

inline constexpr std::uint32_t kHuge = 0x3fffffff + 4;  // PostgreSQL's MaxAllocSize and the length word
inline constexpr std::uint32_t kSmall = 10000;          // PostgreSQL's PQ_SMALL_MESSAGE_LIMIT
inline constexpr std::uint32_t kReply = 65536;          // libpq takes no more than 30000 of these
inline constexpr std::uint32_t kLogin = 65535 + 4;      // PostgreSQL's PG_MAX_AUTH_TOKEN_LENGTH and the length word

struct Shape {
  std::uint32_t minimum = 0;  // 0: no such message
  std::uint32_t maximum = 0;
  bool streams = false;
};

consteval std::array<Shape, 256> shapes(Direction direction) {
  std::array<Shape, 256> table{};
#define MESSAGE(way, tag, name, minimum, maximum, streams) \
  if (direction == Direction::way) table[static_cast<unsigned char>(tag)] = {minimum, maximum, streams};
#include "common/wire/messages.def"
#undef MESSAGE
  return table;
}

inline constexpr std::array<Shape, 256> kFromClient = shapes(Direction::FromClient);
inline constexpr std::array<Shape, 256> kFromServer = shapes(Direction::FromServer);

}  // namespace detail

// The header at the start of BYTES.
inline FrameHeader peek_frame(Direction direction, Bytes bytes) {
  FrameHeader header;
  if (bytes.size() < kHeaderSize) return header;
  const auto octet = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  header.tag = static_cast<char>(octet(0));
  header.length = octet(1) << 24U | octet(2) << 16U | octet(3) << 8U | octet(4);
  const detail::Shape& shape =
      (direction == Direction::FromClient ? detail::kFromClient : detail::kFromServer)[octet(0)];
  header.known = shape.minimum != 0;
  header.streams = shape.streams;
  const bool legal = header.known ? header.length >= shape.minimum && header.length <= shape.maximum
                                  : header.length >= 4 && header.length <= detail::kHuge;
  header.status = legal ? FrameStatus::Ok : FrameStatus::Violation;
  return header;
}

}  // namespace weir::wire
