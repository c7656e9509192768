#include "common/wire/frame.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <set>

#include "test/unit/wire/support.h"

namespace weir::wire {
namespace {

using test::FrameReader;
using test::framed;

struct Row {
  Direction direction;
  char tag;
  std::string_view name;
  std::uint32_t minimum;
  std::uint32_t maximum;
  bool streams;
};

std::vector<Row> rows() {
  using detail::kHuge;
  using detail::kLogin;
  using detail::kReply;
  using detail::kSmall;
  return {
#define MESSAGE(way, tag, name, minimum, maximum, streams) {Direction::way, tag, #name, minimum, maximum, streams},
#include "common/wire/messages.def"
#undef MESSAGE
  };
}

FrameHeader peek(Direction direction, char tag, std::uint32_t length) {
  std::string bytes;
  ByteWriter(bytes).u8(static_cast<std::uint8_t>(tag)).u32(length);
  return peek_frame(direction, as_bytes(bytes));
}

TEST(Frame, EveryRowOfTheTableAtItsLimits) {
  std::set<std::pair<Direction, char>> seen;
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(seen.emplace(row.direction, row.tag).second) << "the tag is there twice";
    ASSERT_GE(row.minimum, 4U);
    ASSERT_LE(row.minimum, row.maximum);
    for (const std::uint32_t length : {row.minimum, row.maximum}) {
      const FrameHeader header = peek(row.direction, row.tag, length);
      EXPECT_EQ(header.status, FrameStatus::Ok);
      EXPECT_EQ(header.tag, row.tag);
      EXPECT_EQ(header.length, length);
      EXPECT_EQ(header.total(), std::size_t{length} + 1);
      EXPECT_TRUE(header.known);
      EXPECT_EQ(header.streams, row.streams);
    }
    for (const std::uint32_t length : {0U, row.minimum - 1, row.maximum + 1, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
      EXPECT_EQ(peek(row.direction, row.tag, length).status, FrameStatus::Violation) << length;
    }
  }
  EXPECT_EQ(seen.size(), 38U);
}

TEST(Frame, OnlyWhatCanBeLongStreams) {
  for (const Row& row : rows()) {
    if (row.streams) {
      EXPECT_EQ(row.maximum, detail::kHuge) << row.name;
    }
  }
}

TEST(Frame, TheSameTagMeansOneThingInEachDirection) {
  EXPECT_EQ(peek(Direction::FromClient, 'S', 4).status, FrameStatus::Ok);          // Sync
  EXPECT_EQ(peek(Direction::FromServer, 'S', 4).status, FrameStatus::Violation);   // ParameterStatus
  EXPECT_EQ(peek(Direction::FromClient, 'H', 4).status, FrameStatus::Ok);          // Flush
  EXPECT_EQ(peek(Direction::FromServer, 'H', 4).status, FrameStatus::Violation);   // CopyOutResponse
  EXPECT_FALSE(peek(Direction::FromClient, 'D', 6).streams);                       // Describe
  EXPECT_TRUE(peek(Direction::FromServer, 'D', 6).streams);                        // DataRow
  EXPECT_TRUE(peek(Direction::FromClient, 'p', 8).known);                          // Password
  EXPECT_FALSE(peek(Direction::FromServer, 'p', 8).known);
  EXPECT_FALSE(peek(Direction::FromClient, 'Z', 5).known);                         // ReadyForQuery
}

TEST(Frame, UnknownTagsAreValuesAndTheirLengthsAreStillChecked) {
  for (const Direction direction : {Direction::FromClient, Direction::FromServer}) {
    for (const char tag : {'\0', '?', '\x80', '\xff'}) {
      for (const std::uint32_t length : {4U, 100U, detail::kHuge}) {
        const FrameHeader header = peek(direction, tag, length);
        EXPECT_EQ(header.status, FrameStatus::Ok);
        EXPECT_FALSE(header.known);
        EXPECT_FALSE(header.streams);
      }
      for (const std::uint32_t length : {0U, 3U, detail::kHuge + 1, 0xffffffffU}) {
        EXPECT_EQ(peek(direction, tag, length).status, FrameStatus::Violation);
      }
    }
  }
}

TEST(Frame, FiveBytesAreNeededAndNoMore) {
  const std::string bytes = framed('Q', std::string("SELECT 1\0", 9));
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const FrameHeader header = peek_frame(Direction::FromClient, as_bytes(std::string_view(bytes).substr(0, size)));
    EXPECT_EQ(header.status, size < kHeaderSize ? FrameStatus::NeedMore : FrameStatus::Ok) << size;
    if (size >= kHeaderSize) {
      EXPECT_EQ(header.total(), bytes.size());
    }
  }
}

TEST(Frame, AllocatesNothingForALengthThatIsClaimed) {
  FrameReader reader(Direction::FromServer);
  reader.feed(std::string_view("D\x3f\xff\xff\xff", 5));  // one gigabyte to come
  EXPECT_FALSE(reader.violated());
  EXPECT_TRUE(reader.frames().empty());
  EXPECT_EQ(reader.rest().size(), 5U);
}

std::string conversation() {
  using namespace std::string_literals;
  return framed('Q', "SELECT 1\0"s) + framed('P', "s\0SELECT $1\0\0\0"s) + framed('H', "") + framed('S', "") +
         framed('d', "x") + framed('d', "") + framed('c', "") + framed('?', "unknown") + framed('X', "");
}

TEST(Frame, AnySplitGivesTheSameMessages) {
  const std::string bytes = conversation();
  FrameReader whole(Direction::FromClient);
  whole.feed(bytes);
  ASSERT_EQ(whole.frames().size(), 9U);
  FrameReader dribble(Direction::FromClient);
  for (const char c : bytes) dribble.feed({&c, 1});
  EXPECT_EQ(dribble.frames(), whole.frames());
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    FrameReader reader(Direction::FromClient);
    reader.feed(std::string_view(bytes).substr(0, cut));
    reader.feed(std::string_view(bytes).substr(cut));
    EXPECT_EQ(reader.frames(), whole.frames()) << cut;
    EXPECT_TRUE(reader.rest().empty());
  }
}

RC_GTEST_PROP(FrameProperty, AnySplitOfAnyBytesGivesTheSame, (const std::string& bytes, std::uint8_t step)) {
  for (const Direction direction : {Direction::FromClient, Direction::FromServer}) {
    FrameReader whole(direction);
    whole.feed(bytes);
    FrameReader pieces(direction);
    const std::size_t size = std::size_t{step} % 7 + 1;
    for (std::size_t i = 0; i < bytes.size(); i += size) pieces.feed(std::string_view(bytes).substr(i, size));
    RC_ASSERT(pieces.frames() == whole.frames());
    RC_ASSERT(pieces.violated() == whole.violated());
    RC_ASSERT(pieces.rest() == whole.rest());
  }
}

}  // namespace
}  // namespace weir::wire
