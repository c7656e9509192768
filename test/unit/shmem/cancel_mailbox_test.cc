#include "common/shmem/cancel_mailbox.h"

#include <gtest/gtest.h>

#include <set>

#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {

// Dies where a process may die, or stops there.
struct CancelMailboxTest {
  static void die_before_it_counts(CancelMailbox& box) {
    if (box.mutex_.try_lock() == RobustMutex::Outcome::Busy) _exit(1);
    box.notes_[box.count_].pid = 0xdead;
    die();
  }
  static void hold(CancelMailbox& box) {
    if (box.mutex_.try_lock() == RobustMutex::Outcome::Busy) _exit(1);
  }
  static void let_go(CancelMailbox& box) { box.mutex_.unlock(); }
  static void scribble_count(CancelMailbox& box) { box.count_ = 0xffffffff; }
};

namespace {

using SharedBox = Shared<CancelMailbox>;

TEST(CancelMailbox, hands_over_in_order_and_once) {
  const SharedBox box(SharedBox::Start::Construct);
  EXPECT_TRUE(box->drain().empty());
  EXPECT_TRUE(box->post({1, 11, 111}));
  EXPECT_TRUE(box->post({2, 22, 222}));
  const auto notes = box->drain();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].pid, 1U);
  EXPECT_EQ(notes[0].secret, 11U);
  EXPECT_EQ(notes[0].received_ms, 111);
  EXPECT_EQ(notes[1].pid, 2U);
  EXPECT_TRUE(box->drain().empty());
}

TEST(CancelMailbox, a_full_box_takes_no_more_until_drained) {
  const SharedBox box(SharedBox::Start::Construct);
  for (std::uint32_t i = 0; i < CancelMailbox::kCapacity; ++i) ASSERT_TRUE(box->post({i, i}));
  EXPECT_FALSE(box->post({999, 0}));
  const auto notes = box->drain();
  ASSERT_EQ(notes.size(), CancelMailbox::kCapacity);
  EXPECT_EQ(notes.back().pid, CancelMailbox::kCapacity - 1);
  EXPECT_TRUE(box->post({999, 0}));
}

TEST(CancelMailbox, a_poster_that_dies_takes_nobody_elses_note_along) {
  const SharedBox box(SharedBox::Start::Construct);
  ASSERT_TRUE(box->post({7, 70}));
  Fork poster([&] { CancelMailboxTest::die_before_it_counts(*box); });
  ASSERT_TRUE(poster.was_killed());
  EXPECT_TRUE(box->post({8, 80}));
  const auto notes = box->drain();
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].pid, 7U);
  EXPECT_EQ(notes[1].pid, 8U);
}

TEST(CancelMailbox, nobody_waits_for_a_stopped_holder) {
  const SharedBox box(SharedBox::Start::Construct);
  ASSERT_TRUE(box->post({7, 70}));
  Fork holder([&] {
    CancelMailboxTest::hold(*box);
    raise(SIGSTOP);
    CancelMailboxTest::let_go(*box);
  });
  int status = 0;
  ASSERT_EQ(waitpid(holder.pid(), &status, WUNTRACED), holder.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_FALSE(box->post({8, 80}));
  EXPECT_TRUE(box->drain().empty());
  kill(holder.pid(), SIGCONT);
  EXPECT_TRUE(holder.ended_well());
  EXPECT_EQ(box->drain().size(), 1U);
}

TEST(CancelMailbox, a_wrong_count_reads_nothing_outside) {
  const SharedBox box(SharedBox::Start::Construct);
  CancelMailboxTest::scribble_count(*box);
  EXPECT_FALSE(box->post({1, 1}));
  EXPECT_EQ(box->drain().size(), CancelMailbox::kCapacity);
  EXPECT_TRUE(box->post({1, 1}));
}

TEST(CancelMailbox, many_posters_at_once) {
  constexpr std::uint32_t kEach = 1000;
  const SharedBox box(SharedBox::Start::Construct);
  const auto post_all = [&](std::uint32_t first) {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      while (!box->post({first + i, ~(first + i)})) usleep(10);
    }
  };
  Fork a([&] { post_all(1'000'000); });
  Fork b([&] { post_all(2'000'000); });
  Fork c([&] { post_all(3'000'000); });
  std::set<std::uint32_t> seen;
  const auto take = [&] {
    for (const CancelNote& note : box->drain()) {
      EXPECT_EQ(note.secret, ~note.pid);
      EXPECT_TRUE(seen.insert(note.pid).second) << "twice";
    }
  };
  for (const Deadline deadline; !deadline.over() && seen.size() < 3 * kEach;) {
    take();
    usleep(10);
  }
  EXPECT_TRUE(a.ended_well() && b.ended_well() && c.ended_well());
  EXPECT_EQ(seen.size(), 3 * kEach);
}

}  // namespace
}  // namespace weir::shmem
