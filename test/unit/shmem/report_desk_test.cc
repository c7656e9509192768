#include "common/shmem/report_desk.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <string>

#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {
namespace {

constexpr std::size_t kWords = 8192;

struct Place {
  ReportHead head;
  std::array<ReportDesk::Word, 4> acknowledged;
};

class ReportDeskTest : public testing::Test {
 protected:
  ReportDeskTest() {
    void* memory = mmap(nullptr, kWords * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    words_ = {static_cast<ReportDesk::Word*>(memory), kWords};
  }
  ~ReportDeskTest() override { munmap(static_cast<void*>(words_.data()), words_.size_bytes()); }
  ReportDesk desk() { return {place_->head, place_->acknowledged, words_}; }
  static std::string text(std::size_t size, char c) { return std::string(size, c); }

  Shared<Place> place_;
  std::span<ReportDesk::Word> words_;
};

TEST_F(ReportDeskTest, zeros_are_an_empty_desk) {
  EXPECT_EQ(desk().wish().number, 0U);
  EXPECT_EQ(desk().acknowledged(2), 0U);
  std::string read = "x";
  std::uint32_t holds = 1;
  EXPECT_TRUE(desk().read(read, holds));
  EXPECT_EQ(read, "");
  EXPECT_EQ(holds, 0U);
}

TEST_F(ReportDeskTest, a_wish_and_its_answer) {
  desk().wish(7, 5);
  EXPECT_EQ(desk().wish().number, 7U);
  EXPECT_EQ(desk().wish().wanted, 5U);
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 4096U, 65536U}) {
    EXPECT_TRUE(desk().publish(5, as_bytes(text(size, 'a'))));
    desk().acknowledge(3, 7);
    EXPECT_EQ(desk().acknowledged(3), 7U);
    std::string read;
    std::uint32_t holds = 0;
    EXPECT_TRUE(desk().read(read, holds));
    EXPECT_EQ(read, text(size, 'a'));
    EXPECT_EQ(holds, 5U);
  }
  desk().wish_no_more();
  EXPECT_EQ(desk().wish().number, 0U);
}

TEST_F(ReportDeskTest, what_is_too_long_is_not_there) {
  EXPECT_FALSE(desk().publish(1, as_bytes(text(kWords * 8 + 1, 'a'))));
  std::string read;
  std::uint32_t holds = 1;
  EXPECT_TRUE(desk().read(read, holds));
  EXPECT_EQ(holds, 0U);
}

TEST_F(ReportDeskTest, forgotten_pages_are_zeros_again) {
  EXPECT_TRUE(desk().publish(1, as_bytes(text(40000, 'a'))));
  desk().forget();
  std::string read;
  std::uint32_t holds = 1;
  EXPECT_TRUE(desk().read(read, holds));
  EXPECT_EQ(read, "");
  EXPECT_EQ(words_[100].load(), 0U);
  EXPECT_TRUE(desk().publish(1, as_bytes(text(10, 'b'))));
  EXPECT_TRUE(desk().read(read, holds));
  EXPECT_EQ(read, text(10, 'b'));
}

TEST_F(ReportDeskTest, a_writer_that_died_in_the_middle_is_not_read) {
  place_->head.version.store(5);  // odd: it is being written
  std::string read;
  std::uint32_t holds = 0;
  EXPECT_FALSE(desk().read(read, holds));
  EXPECT_TRUE(desk().publish(1, as_bytes(text(10, 'b'))));
  EXPECT_TRUE(desk().read(read, holds));
  EXPECT_EQ(read, text(10, 'b'));
}

TEST_F(ReportDeskTest, a_reader_never_sees_a_mixture) {
  Fork writer([this] {
    for (unsigned i = 0;; ++i) desk().publish(i % 26, as_bytes(text(1000 + i % 26, static_cast<char>('a' + i % 26))));
  });
  int whole = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (whole < 2000 && std::chrono::steady_clock::now() < end) {
    std::string read;
    std::uint32_t holds = 0;
    if (!desk().read(read, holds) || read.empty()) continue;
    ++whole;
    ASSERT_EQ(read, text(1000 + holds, static_cast<char>('a' + holds)));
  }
  EXPECT_EQ(whole, 2000);
}

}  // namespace
}  // namespace weir::shmem
