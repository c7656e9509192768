#include "common/shmem/published.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {
namespace {

// A value that shows at once when it is made of two: all words are the same number.
struct Sample {
  std::array<std::uint64_t, 31> words{};
  static Sample of(std::uint64_t number) {
    Sample sample;
    sample.words.fill(number);
    return sample;
  }
  bool whole() const {
    for (const std::uint64_t word : words) {
      if (word != words[0]) return false;
    }
    return true;
  }
};

template <std::size_t N>
void expect_round_trip() {
  struct Bytes {
    std::array<unsigned char, N> bytes;
  };
  Published<Bytes> published;
  for (unsigned round = 1; round <= 5; ++round) {
    Bytes in{};
    for (std::size_t i = 0; i < N; ++i) in.bytes[i] = static_cast<unsigned char>(i * 7 + round);
    published.publish(in);
    Bytes out{};
    ASSERT_TRUE(published.read(out));
    EXPECT_EQ(out.bytes, in.bytes) << N << " bytes, round " << round;
  }
}

TEST(Published, takes_values_of_any_size) {
  expect_round_trip<1>();
  expect_round_trip<7>();
  expect_round_trip<8>();
  expect_round_trip<9>();
  expect_round_trip<16>();
  expect_round_trip<240>();
}

TEST(Published, zeroed_memory_holds_a_zeroed_value) {
  const Shared<Published<Sample>> shared;
  Sample seen = Sample::of(5);
  ASSERT_TRUE(shared->read(seen));
  EXPECT_EQ(seen.words, Sample::of(0).words);
}

TEST(Published, a_reader_never_sees_parts_of_two_values) {
  const Shared<Published<Sample>> shared;
  const Shared<std::atomic<bool>> stop;
  Fork writer([&] {
    for (std::uint64_t number = 1; !*stop; ++number) shared->publish(Sample::of(number));
  });
  std::uint64_t last = 0;
  int changes = 0;
  for (const Deadline deadline; !deadline.over() && changes < 5'000;) {
    Sample seen;
    if (!shared->read(seen)) continue;
    ASSERT_TRUE(seen.whole());
    ASSERT_GE(seen.words[0], last) << "an older value after a newer one";
    if (seen.words[0] != last) ++changes;
    last = seen.words[0];
  }
  *stop = true;
  EXPECT_TRUE(writer.ended_well());
  EXPECT_GT(changes, 100) << "reader and writer did not run side by side";
}

TEST(Published, a_writer_killed_midway_costs_readers_nothing) {
  const Shared<Published<Sample>> shared;
  for (std::uint64_t good = 1; good <= 4; ++good) {  // both copies are scribbled on in turn
    shared->publish(Sample::of(good));
    Fork writer([&] { shared->publish(Sample::of(1000 + good), die); });
    ASSERT_TRUE(writer.was_killed());
    int tries = 0;
    Sample seen;
    ASSERT_TRUE(shared->read(seen, [&] { ++tries; }));
    EXPECT_EQ(tries, 1);
    EXPECT_EQ(seen.words, Sample::of(good).words);
  }
  shared->publish(Sample::of(77));
  Sample seen;
  ASSERT_TRUE(shared->read(seen));
  EXPECT_EQ(seen.words, Sample::of(77).words);
}

// The reader is in the middle of a copy; meanwhile the writer publishes once, begins that very copy, dies, and the
// parent repairs.
TEST(Published, repair_does_not_make_a_torn_copy_look_whole) {
  const Shared<Published<Sample>> shared;
  shared->publish(Sample::of(1));
  int tries = 0;
  Sample seen;
  ASSERT_TRUE(shared->read(seen, [&] {
    if (++tries > 1) return;
    Fork writer([&] {
      shared->publish(Sample::of(2));
      shared->publish(Sample::of(3), die);
    });
    ASSERT_TRUE(writer.was_killed());
    shared->repair();
  }));
  EXPECT_TRUE(seen.whole());
  EXPECT_EQ(seen.words[0], 2U);
  EXPECT_EQ(tries, 2);
}

TEST(Published, repair_keeps_the_last_good_value) {
  const Shared<Published<Sample>> shared;
  shared->repair();
  shared->publish(Sample::of(8));
  Fork writer([&] { shared->publish(Sample::of(9), die); });
  ASSERT_TRUE(writer.was_killed());
  for (int i = 0; i < 3; ++i) {
    shared->repair();
    Sample seen;
    ASSERT_TRUE(shared->read(seen));
    EXPECT_EQ(seen.words, Sample::of(8).words);
  }
}

TEST(Published, a_writer_that_is_always_quicker_is_given_up_on) {
  Published<Sample> published;
  published.publish(Sample::of(1));
  std::uint64_t number = 1;
  Sample seen = Sample::of(42);
  EXPECT_FALSE(published.read(seen, [&] {
    published.publish(Sample::of(++number));
    published.publish(Sample::of(++number));
  }));
  EXPECT_EQ(seen.words, Sample::of(42).words) << "the last good copy is the reader's to keep";
  EXPECT_EQ(number, 201U) << "tries are bounded";
  EXPECT_TRUE(published.read(seen));
  EXPECT_EQ(seen.words[0], 201U);
}

TEST(Published, one_new_value_meanwhile_disturbs_nobody) {
  Published<Sample> published;
  published.publish(Sample::of(1));
  int tries = 0;
  Sample seen;
  ASSERT_TRUE(published.read(seen, [&] {
    ++tries;
    published.publish(Sample::of(2));
  }));
  EXPECT_EQ(tries, 1);
  EXPECT_EQ(seen.words, Sample::of(1).words);
}

}  // namespace
}  // namespace weir::shmem
