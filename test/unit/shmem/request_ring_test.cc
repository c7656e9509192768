#include "common/shmem/request_ring.h"

#include <gtest/gtest.h>

#include "test/unit/shmem/shared_object.h"

namespace weir::shmem {

struct RequestRingTest {
  // What push does up to the moment at which the request counts.
  static void die_before_it_counts(RequestRing& ring, Request request) {
    ring.slots_[ring.tail_ % RequestRing::kCapacity] = request;
    die();
  }
  static void scribble_tail(RequestRing& ring) { ring.tail_ = ring.head_ + RequestRing::kCapacity + 1; }
};

namespace {

using Kind = Request::Kind;

TEST(RequestRing, first_in_first_out) {
  const Shared<RequestRing> ring;
  EXPECT_FALSE(ring->pop());
  EXPECT_TRUE(ring->push({Kind::NodeSeen, 1}));
  EXPECT_TRUE(ring->push({Kind::Detach, 2}));
  auto request = ring->pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Kind::NodeSeen);
  EXPECT_EQ(request->node, 1);
  request = ring->pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Kind::Detach);
  EXPECT_EQ(request->node, 2);
  EXPECT_FALSE(ring->pop());
}

TEST(RequestRing, a_full_ring_takes_no_more_and_loses_nothing) {
  const Shared<RequestRing> ring;
  int next_in = 0;
  int next_out = 0;
  for (int round = 0; round < 5; ++round) {
    while (ring->push({Kind::NodeSeen, next_in})) ++next_in;
    EXPECT_EQ(next_in - next_out, static_cast<int>(RequestRing::kCapacity));
    for (int i = 0; i < 10; ++i) {
      const auto request = ring->pop();
      ASSERT_TRUE(request);
      EXPECT_EQ(request->node, next_out++);
    }
  }
}

TEST(RequestRing, producer_in_another_process) {
  constexpr int kAll = 100'000;
  const Shared<RequestRing> ring;
  Fork producer([&] {
    for (int i = 0; i < kAll; ++i) {
      while (!ring->push({i % 2 == 0 ? Kind::Attach : Kind::Detach, i})) usleep(1);
    }
  });
  for (int next = 0; next < kAll;) {
    const auto request = ring->pop();
    if (!request) {
      usleep(1);
      continue;
    }
    ASSERT_EQ(request->node, next);
    ASSERT_EQ(request->kind, next % 2 == 0 ? Kind::Attach : Kind::Detach);
    ++next;
  }
  EXPECT_TRUE(producer.ended_well());
  EXPECT_FALSE(ring->pop());
}

TEST(RequestRing, a_request_of_a_killed_producer_counts_if_it_is_whole) {
  const Shared<RequestRing> ring;
  Fork producer([&] {
    ring->push({Kind::Attach, 1});
    RequestRingTest::die_before_it_counts(*ring, {Kind::Attach, 2});
  });
  ASSERT_TRUE(producer.was_killed());
  Fork next([&] { ring->push({Kind::Attach, 3}); });
  ASSERT_TRUE(next.ended_well());
  auto request = ring->pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->node, 1);
  request = ring->pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->node, 3);
  EXPECT_FALSE(ring->pop());
}

TEST(RequestRing, a_ring_that_went_wrong_starts_again) {
  const Shared<RequestRing> ring;
  ring->push({Kind::Attach, 1});
  RequestRingTest::scribble_tail(*ring);
  EXPECT_FALSE(ring->pop());
  EXPECT_FALSE(ring->pop());
  EXPECT_TRUE(ring->push({Kind::Attach, 2}));
  const auto request = ring->pop();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->node, 2);
}

}  // namespace
}  // namespace weir::shmem
