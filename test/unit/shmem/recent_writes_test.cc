#include "common/shmem/recent_writes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace weir::shmem {
namespace {

struct Memory {
  explicit Memory(std::size_t entries, std::int64_t now = 1000) : words(RecentWrites::bytes_for(entries) / 8), table(RecentWrites::create(bytes(), now)) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  std::vector<std::uint64_t> words;
  RecentWrites table;
};

std::uint64_t key(int n) { return written_key("db", "t" + std::to_string(n)); }

TEST(RecentWrites, FindsWhatWasNoted) {
  Memory memory(64);
  ASSERT_TRUE(memory.table.valid());
  RecentWrites::Written written;
  EXPECT_FALSE(memory.table.find(key(1), 1000, 100, written));
  memory.table.note(key(1), 1500, 100);
  const RecentWrites other = RecentWrites::attach(memory.bytes());
  ASSERT_TRUE(other.find(key(1), 1520, 100, written));
  EXPECT_EQ(written.first, 1500);
  EXPECT_EQ(written.last, 1500);
  EXPECT_FALSE(other.find(key(2), 1520, 100, written));
  EXPECT_EQ(other.created_at(), 1000);
}

TEST(RecentWrites, ARunOfWritesHasABegin) {
  Memory memory(64);
  RecentWrites::Written written;
  for (std::int64_t now : {2000, 2050, 2150}) memory.table.note(key(1), now, 100);
  ASSERT_TRUE(memory.table.find(key(1), 2160, 100, written));
  EXPECT_EQ(written.first, 2000);
  EXPECT_EQ(written.last, 2150);
  memory.table.note(key(1), 2251, 100);
  ASSERT_TRUE(memory.table.find(key(1), 2260, 100, written));
  EXPECT_EQ(written.first, 2251);
}

TEST(RecentWrites, ClocksAMomentApart) {
  Memory memory(64);
  RecentWrites::Written written;
  memory.table.note(key(1), 2000, 100);
  memory.table.note(key(1), 1990, 100);
  ASSERT_TRUE(memory.table.find(key(1), 1995, 100, written));
  EXPECT_EQ(written.last, 1995);
}

TEST(RecentWrites, OldOnesMakeRoomAndNoneIsLostUnseen) {
  Memory memory(16);
  RecentWrites::Written written;
  for (int n = 0; n < 16; ++n) memory.table.note(key(n), 5000, 100);
  EXPECT_FALSE(memory.table.find(key(100), 5000, 100, written));
  memory.table.note(key(16), 5050, 100);  // no room: everything counts
  EXPECT_TRUE(memory.table.find(key(100), 5060, 100, written));
  EXPECT_TRUE(memory.table.find(key(16), 5060, 100, written));
  EXPECT_FALSE(memory.table.find(key(100), 5151, 100, written));
  for (int n = 16; n < 32; ++n) memory.table.note(key(n), 5200, 100);
  for (int n = 16; n < 32; ++n) EXPECT_TRUE(memory.table.find(key(n), 5200, 100, written)) << n;
  EXPECT_FALSE(memory.table.find(key(3), 5200, 100, written));
}

TEST(RecentWrites, WithoutATableEverythingWasWritten) {
  RecentWrites::Written written;
  EXPECT_TRUE(RecentWrites().find(key(1), 777, 100, written));
  EXPECT_EQ(written.last, 777);
  std::vector<std::uint64_t> zeros(1000);
  EXPECT_FALSE(RecentWrites::attach(std::as_writable_bytes(std::span(zeros))).valid());
  EXPECT_FALSE(RecentWrites::create(std::as_writable_bytes(std::span(zeros)).first(40), 1).valid());
  zeros[0] = 0x7765697272637432;
  zeros[1] = 1000000;  // more than there is room for
  EXPECT_FALSE(RecentWrites::attach(std::as_writable_bytes(std::span(zeros))).valid());
}

// What one thread has noted the others find, whatever they write meanwhile.
TEST(RecentWrites, ManyWriters) {
  Memory memory(256);
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      RecentWrites::Written written;
      for (int i = 0; i < 20000; ++i) {
        const std::int64_t now = 10'000 + i / 4;
        const std::uint64_t mine = key(thread * 1000 + i % 50);
        memory.table.note(mine, now, 20);
        if (!memory.table.find(mine, now, 20, written)) ++missed;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(missed, 0);
}

TEST(WrittenKey, TellsNamesApart) {
  EXPECT_NE(written_key("a", "bc"), written_key("ab", "c"));
  EXPECT_NE(written_key("a", ""), written_key("", "a"));
  EXPECT_EQ(written_key("a", "b"), written_key("a", "b"));
}

}  // namespace
}  // namespace weir::shmem
