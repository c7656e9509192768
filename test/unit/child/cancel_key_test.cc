#include "child/cancel_key.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace weir::child {
namespace {

using Kind = CancelRoute::Kind;

TEST(CancelKey, layout_with_peers) {
  struct {
    std::uint64_t random;
    int peer;
    CancelKey key;
  } const cases[] = {
      {0, 1, {0x00010000, 3}},
      {0, 0x1234, {0x00341200, 3}},
      {0, 65535, {0x00ffff00, 3}},
      {~std::uint64_t{0}, 1, {0x7f0100ff, 0xffffffff}},
      {0x8123456789abcdefULL, 2, {0x01020067, 0x89abcdef}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(peer_key(c.random, c.peer), c.key) << c.peer;
    EXPECT_EQ(peer_of(c.key), c.peer);
    EXPECT_EQ(hops_left(c.key), 3);
    EXPECT_GT(static_cast<std::int32_t>(c.key.pid), 0);
  }
}

TEST(CancelKey, layout_without) {
  EXPECT_EQ(local_key(0, 0, 7), (CancelKey{1, 7}));
  EXPECT_EQ(local_key(3, 5, 7), (CancelKey{(3U << 20U) + 6, 7}));
}

TEST(CancelKey, where_it_goes) {
  config::SectionSettings line;
  line.host = "h";
  const std::map<int, config::SectionSettings> peers{{1, line}, {2, line}};
  const CancelKey to_two = peer_key(99, 2);
  struct {
    const char* name;
    CancelKey key;
    int own;
    Kind kind;
  } const cases[] = {
      {"no peers at all", to_two, 0, Kind::Own},
      {"ours", to_two, 2, Kind::Own},
      {"ours, at its last hop", {to_two.pid, to_two.secret & ~3U}, 2, Kind::Own},
      {"another's", to_two, 1, Kind::Peer},
      {"another's, at its last hop", {to_two.pid, to_two.secret & ~3U}, 1, Kind::NoHopsLeft},
      {"nobody's", peer_key(99, 3), 1, Kind::NoSuchPeer},
      {"of no peer", {1, 3}, 1, Kind::NoSuchPeer},
      {"of zeros", {0, 0}, 1, Kind::NoHopsLeft},
      {"of ones", {0xffffffff, 0xffffffff}, 1, Kind::NoSuchPeer},
  };
  for (const auto& c : cases) EXPECT_EQ(route_of(c.key, c.own, peers).kind, c.kind) << c.name;
}

// However the tables of the peers point at one another, a request ends.
TEST(CancelKey, circles_end) {
  config::SectionSettings line;
  const std::map<int, config::SectionSettings> peers{{3, line}};
  CancelKey key = peer_key(12345, 3);
  int hops = 0;
  for (CancelRoute route = route_of(key, 1, peers); route.kind == Kind::Peer; route = route_of(key, 1 + hops % 2, peers)) {
    EXPECT_TRUE(is_same_client(key, route.key));
    EXPECT_EQ(hops_left(route.key), hops_left(key) - 1);
    key = route.key;
    ++hops;
  }
  EXPECT_EQ(hops, 3);
}

TEST(CancelKey, clients_are_told_apart) {
  EXPECT_TRUE(rc::check("whatever is at random tells", [] {
    const auto random = *rc::gen::arbitrary<std::uint64_t>();
    const auto other = *rc::gen::arbitrary<std::uint64_t>();
    const int peer = *rc::gen::inRange(1, 65536);
    const std::uint64_t mask = ~std::uint64_t{3} & 0x7f0000ffffffffffULL;
    RC_ASSERT(is_same_client(peer_key(random, peer), peer_key(other, peer)) == ((random & mask) == (other & mask)));
    RC_ASSERT(peer_of(peer_key(random, peer)) == peer);
  }));
}

}  // namespace
}  // namespace weir::child
