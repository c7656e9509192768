#include "common/admin/census.h"

#include <gtest/gtest.h>

namespace weir::admin {
namespace {

SocketFacts client() {
  SocketFacts c;
  c.database = "shop";
  c.user = "app";
  c.replication = "none";
  c.state = SocketState::Waiting;
  c.address = "10.0.0.1";
  c.port = 40000;
  c.local_address = "10.0.0.2";
  c.local_port = 9999;
  c.connected_at = 1'700'000'000;
  c.requested_at = 1'700'000'001;
  c.wait_us = 5'000'000'000;
  c.close_needed = true;
  c.self = 0xffffffff00000001U;
  c.link = 7;
  c.remote_pid = -1;
  c.application_name = "psql";
  c.prepared_statements = 3;
  c.id = 12;
  c.child = 100;
  c.node = 2;
  c.held_for = "LISTEN is active";
  c.held_us = 77;
  return c;
}

Census sample() {
  Census census;
  census.clients.push_back(client());
  SocketFacts server = client();
  server.state = SocketState::BeingCanceled;
  server.node = -1;
  server.held_for = "";
  census.servers.push_back(server);
  PoolFacts pool;
  pool.database = "shop";
  pool.user = "app";
  pool.count(PoolCount::ClWaiting) = 4;
  pool.longest_wait_us = 9;
  census.pools.push_back(pool);
  census.logins = 2;
  return census;
}

TEST(Census, is_read_as_it_was_written) {
  std::string text;
  encode_census(text, sample());
  Census read;
  ASSERT_TRUE(decode_census(as_bytes(text), read));
  ASSERT_EQ(read.clients.size(), 1U);
  ASSERT_EQ(read.servers.size(), 1U);
  ASSERT_EQ(read.pools.size(), 1U);
  EXPECT_EQ(read.logins, 2);
  const SocketFacts& c = read.clients[0];
  EXPECT_EQ(c.database + c.user + c.replication + c.address + c.local_address + c.application_name + c.held_for, "shopappnone10.0.0.110.0.0.2psqlLISTEN is active");
  EXPECT_EQ(c.state, SocketState::Waiting);
  EXPECT_EQ(c.wait_us, 5'000'000'000);
  EXPECT_EQ(c.self, 0xffffffff00000001U);
  EXPECT_EQ(c.remote_pid, -1);
  EXPECT_TRUE(c.close_needed);
  EXPECT_EQ(c.held_us, 77);
  EXPECT_EQ(c.port + c.local_port + c.prepared_statements + c.id + c.child + c.node, 40000 + 9999 + 3 + 12 + 100 + 2);
  EXPECT_EQ(read.servers[0].node, -1);
  EXPECT_EQ(read.pools[0].of(PoolCount::ClWaiting), 4);
  std::string again;
  encode_census(again, read);
  EXPECT_EQ(again, text);
}

TEST(Census, sums_over_children) {
  std::string text;
  encode_census(text, sample());
  Census read;
  ASSERT_TRUE(decode_census(as_bytes(text), read));
  ASSERT_TRUE(decode_census(as_bytes(text), read));
  PoolFacts other;
  other.database = "app";
  other.user = "z";
  other.longest_wait_us = 3;
  read.pools.push_back(other);
  merge_pools(read.pools);
  ASSERT_EQ(read.pools.size(), 2U);
  EXPECT_EQ(read.pools[0].database, "app");
  EXPECT_EQ(read.pools[1].of(PoolCount::ClWaiting), 8);
  EXPECT_EQ(read.pools[1].longest_wait_us, 9);
  EXPECT_EQ(read.logins, 4);
}

TEST(Census, cut_anywhere_is_an_error_or_a_shorter_whole) {
  std::string text;
  encode_census(text, sample());
  for (std::size_t size = 1; size < text.size(); ++size) {
    Census read;
    const Status status = decode_census(as_bytes(text).first(size), read);
    const Census whole = sample();
    EXPECT_TRUE(!status || read.clients.size() + read.servers.size() + read.pools.size() < whole.clients.size() + whole.servers.size() + whole.pools.size() ||
                read.logins < whole.logins)
        << size;
    if (!status) {
      EXPECT_EQ(status.error().sqlstate, "XX000");
    }
  }
  Census read;
  EXPECT_FALSE(decode_census(as_bytes(std::string_view("?")), read));
}

}  // namespace
}  // namespace weir::admin
