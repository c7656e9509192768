#include "child/session_snapshot.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::child {
namespace {

SessionSnapshot full() {
  SessionSnapshot snapshot;
  snapshot.user = "anna";
  snapshot.database = "app";
  snapshot.application_name = std::string(300, 'a');  // longer than one byte can tell
  snapshot.peer = "127.0.0.1";
  snapshot.peer_port = 40123;
  snapshot.server_database = "app_of_server";
  snapshot.server_user = "pool";
  snapshot.fixed = {{"geqo", "off"}, {"search_path", "a, b"}};
  snapshot.connected_epoch = 1'790'000'000;
  snapshot.cancel_secret = 0xffffffffU;
  snapshot.number = ~std::uint64_t{0};
  snapshot.pool_mode = config::PoolMode::Statement;
  snapshot.secret_from = SessionSnapshot::SecretFrom::Stored;
  snapshot.secret = "md5";
  snapshot.client_key = std::string("\0\1\2", 3);
  snapshot.state.startup = {{"application_name", ""}};
  snapshot.state.entries = {{"search_path", "SET search_path = a", "a", true, false, 7}, {"role", "RESET ROLE", "", false, true, 9}};
  snapshot.state.in_packets = true;
  snapshot.state.version = 12;
  snapshot.state.startup_stamp = 3;
  snapshot.state.reset_stamp = 4;
  snapshot.state.discard_stamp = 5;
  snapshot.told = {{"TimeZone", "UTC"}};
  snapshot.statements = {{"s1", std::string("P\0\0\0\x10s1\0SELECT 1\0\0\0", 17), {12, 34, true}, 3}, {"", "P", {}, 4}};
  snapshot.generation = 5;
  snapshot.reader_node = -1;
  snapshot.redirect_unit = 0.25;
  snapshot.unusual_isolation = snapshot.reads_kept = true;
  return snapshot;
}

std::string encoded(const SessionSnapshot& snapshot) {
  std::string out;
  encode_snapshot(out, snapshot);
  return out;
}

TEST(SessionSnapshot, ComesBackAsItWas) {
  for (const SessionSnapshot& snapshot : {full(), SessionSnapshot{}}) {
    const auto back = decode_snapshot(as_bytes(encoded(snapshot)));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, snapshot);
  }
}

TEST(SessionSnapshot, OfAnOrdinaryClientIsSmall) {
  SessionSnapshot snapshot;
  snapshot.user = snapshot.database = snapshot.server_database = snapshot.server_user = "bench";
  snapshot.peer = "127.0.0.1";
  snapshot.application_name = "psql";
  snapshot.told = {{"application_name", "psql"}};
  EXPECT_LE(encoded(snapshot).size(), 120U);
}

TEST(SessionSnapshot, PartsOfItAreRefused) {
  const std::string bytes = encoded(full());
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_snapshot(as_bytes(std::string_view(bytes).substr(0, size)))) << size;
  EXPECT_FALSE(decode_snapshot(as_bytes(bytes + '\0')));
}

TEST(SessionSnapshot, ChangedBytesAreRefusedOrRead) {
  const std::string bytes = encoded(full());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int value : {0x00, 0x7f, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(value);
      if (const auto back = decode_snapshot(as_bytes(changed))) {
        EXPECT_LE(back->statements.size(), bytes.size());
      }
    }
  }
}

TEST(SessionSnapshot, CountsOfNothingAreRefused) {
  // A list that says that it has more elements than there are bytes allocates nothing.
  std::string bytes(8, '\0');        // eight empty texts
  bytes += '\0';                     // port
  bytes += "\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
  EXPECT_FALSE(decode_snapshot(as_bytes(bytes)));
}

}  // namespace
}  // namespace weir::child
