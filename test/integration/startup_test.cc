// The first packets of a connection: good ones, old ones, hostile ones.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

const Parameters kApp{{"user", "app"}, {"database", "app"}};

class StartupTest : public ::testing::Test {
protected:
  // Serves a client, with the same processes as before.
  void expect_unharmed() {
    RawClient client(weir_.port());
    client.login();
    EXPECT_EQ(outline(client.ask(query("SELECT v FROM plain WHERE id = 1"))),
              "T D:row 1 C:SELECT 1 Z:I");
    EXPECT_EQ(weir_.processes_named("child"), children_);
  }
  void SetUp() override {
    expect_soon("two children", [this] { return weir_.processes_named("child").size() == 2; });
    children_ = weir_.processes_named("child");
  }

  Pgweir weir_{Cluster::shared(), {{"authentication_timeout", "2"}}};
  std::vector<pid_t> children_;
};

TEST_F(StartupTest, plain_login) {
  RawClient client(weir_.port());
  client.login();
  const std::string kinds = outline(client.welcome);
  EXPECT_EQ(kinds.substr(0, 2), "R ") << kinds;
  EXPECT_EQ(kinds.substr(kinds.size() - 5), "K Z:I") << kinds;
  EXPECT_NE(client.backend_pid, 0U);
}

TEST_F(StartupTest, ssl_and_gss_requests_are_declined) {
  for (const auto& requests : {std::vector<std::string>{ssl_request()},
                               {gss_request()},
                               {gss_request(), ssl_request()},
                               {ssl_request(), gss_request()}}) {
    RawClient client(weir_.port());
    for (const std::string& request : requests) {
      client.send(request);
      EXPECT_EQ(client.read_byte(), 'N');
    }
    client.login();
    EXPECT_EQ(outline(client.ask(query("SELECT 1"))), "T D:1 C:SELECT 1 Z:I");
  }
  // libpq that insists gets libpq's own words.
  Connection insisting(weir_.conninfo() + " sslmode=require");
  EXPECT_FALSE(insisting.ok());
  EXPECT_NE(insisting.error().find("does not support SSL"), std::string::npos) << insisting.error();
}

TEST_F(StartupTest, newer_minor_version_is_negotiated_down) {
  RawClient client(weir_.port());
  client.send(startup(kApp, 196610)); // 3.2
  auto answer = client.read_to_ready();
  ASSERT_FALSE(answer.empty());
  ASSERT_EQ(answer[0].tag, 'v') << outline(answer);
  EXPECT_EQ(answer[0].body.substr(0, 4), int32(196608));
  EXPECT_EQ(answer.back().tag, 'Z');
  EXPECT_EQ(outline(client.ask(query("SELECT 1"))), "T D:1 C:SELECT 1 Z:I");

  // An unknown protocol option of 3.0 is named.
  RawClient option(weir_.port());
  Parameters parameters = kApp;
  parameters.emplace_back("_pq_.future", "1");
  option.send(startup(parameters));
  answer = option.read_to_ready();
  ASSERT_FALSE(answer.empty());
  ASSERT_EQ(answer[0].tag, 'v') << outline(answer);
  EXPECT_EQ(answer[0].body, int32(196608) + int32(1) + cstring("_pq_.future"));
  EXPECT_EQ(answer.back().tag, 'Z');
}

TEST_F(StartupTest, other_major_versions_are_refused) {
  for (const std::uint32_t version : {131072U, 262144U, 0U, 65536U}) {
    RawClient client(weir_.port());
    client.send(startup(kApp, version));
    const auto answer = client.read_to_ready();
    ASSERT_EQ(answer.size(), 1U) << outline(answer);
    EXPECT_EQ(answer[0].tag, 'E');
    EXPECT_EQ(answer[0].field('C'), "0A000") << version;
    EXPECT_TRUE(client.wait_closed());
  }
  expect_unharmed();
}

TEST_F(StartupTest, missing_and_unknown_names) {
  const auto sqlstate = [this](const Parameters& parameters) {
    RawClient client(weir_.port());
    client.send(startup(parameters));
    const auto answer = client.read_to_ready();
    EXPECT_TRUE(client.wait_closed());
    return answer.empty() ? "closed" : answer.back().field('C');
  };
  EXPECT_EQ(sqlstate({{"database", "app"}}), "28000");
  EXPECT_EQ(sqlstate({{"user", ""}, {"database", "app"}}), "28000");
  EXPECT_EQ(sqlstate({{"user", "app"}, {"database", "no_such_database"}}), "3D000");
  EXPECT_EQ(sqlstate({{"user", "no_such_role"}, {"database", "app"}}), "28000");
  EXPECT_EQ(sqlstate({{"user", "app"}, {"database", "app"}, {"options", "-c no_such_thing=1"}}),
            "42704");
  EXPECT_EQ(sqlstate({{"user", "app"}, {"database", "app"}, {"work_mem", "much"}}), "22023");
  // Without a database its name is the user's.
  RawClient client(weir_.port());
  client.send(startup({{"user", "app"}}));
  EXPECT_EQ(client.read_to_ready().back().tag, 'Z');
  expect_unharmed();
}

TEST_F(StartupTest, wrong_lengths_end_the_connection) {
  for (const std::string& packet :
       {int32(0xffffffffLL) + std::string(100, 'x'), // 4 GB
        int32(0x7fffffffLL) + int32(196608),         // 2 GB
        int32(100000) + int32(196608) + std::string(100, 'x'), int32(0), int32(4),
        int32(7) + std::string(3, 'x'), int32(-5) + std::string(20, 'x'),
        int32(9) + int32(196608) + std::string(1, 'u'), // no terminator
        int32(13) + int32(196608) + std::string("user\0", 5),
        int32(12) + int32(80877102) + int32(1),              // a cancel request that ends early
        int32(100) + int32(80877103) + std::string(92, 'x'), // an SSLRequest with a body
        std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        std::string("\x16\x03\x01\x02\x00\x01", 6) + std::string(512, '\x01'), std::string(8, '\0'),
        std::string(20000, '\xff')}) {
    RawClient client(weir_.port());
    client.send(packet);
    client.half_close();
    EXPECT_TRUE(client.wait_closed());
  }
  expect_unharmed();
}

// Parameters that are no use to anybody but are well formed.
TEST_F(StartupTest, many_parameters) {
  Parameters parameters = kApp;
  for (int i = 0; i < 100; ++i)
    parameters.emplace_back("my.parameter" + std::to_string(i), std::string(50, 'v'));
  RawClient client(weir_.port());
  client.send(startup(parameters));
  const auto answer = client.read_to_ready();
  ASSERT_FALSE(answer.empty());
  EXPECT_EQ(answer.back().tag, 'Z') << outline(answer);
  EXPECT_EQ(outline(client.ask(query("SHOW my.parameter99"))),
            "T D:" + std::string(40, 'v') + " C:SHOW Z:I");
}

TEST_F(StartupTest, random_bytes) {
  std::mt19937 random(20240601);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 400, '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(random());
    // Half of them with a believable length and version.
    if (i % 2 == 0)
      bytes = int32(static_cast<std::int64_t>(bytes.size()) + 8) + int32(196608) + bytes;
    RawClient client(weir_.port());
    client.send(bytes);
    client.half_close();
    ASSERT_TRUE(client.wait_closed()) << "seed step " << i;
  }
  expect_unharmed();
}

TEST_F(StartupTest, split_at_every_position) {
  const std::string bytes = startup(kApp) + query("SELECT 1");
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    RawClient client(weir_.port());
    client.send(std::string_view(bytes).substr(0, cut));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(1)); // or the two parts would travel as one
    client.send(std::string_view(bytes).substr(cut));
    const auto welcome = client.read_to_ready();
    ASSERT_FALSE(welcome.empty()) << "cut at " << cut;
    ASSERT_EQ(welcome.back().tag, 'Z') << "cut at " << cut;
    ASSERT_EQ(outline(client.read_to_ready()), "T D:1 C:SELECT 1 Z:I") << "cut at " << cut;
  }
}

TEST_F(StartupTest, silence_ends_by_authentication_timeout) {
  std::vector<std::string> starts{"", int32(50), int32(50) + int32(196608) + "user", ssl_request()};
  std::vector<RawClient> clients;
  for (const std::string& start : starts) {
    clients.emplace_back(weir_.port());
    clients.back().send(start);
  }
  expect_unharmed(); // meanwhile others are served
  for (RawClient& client : clients)
    EXPECT_TRUE(client.wait_closed(std::chrono::seconds(20)));
  expect_unharmed();
}

TEST_F(StartupTest, silence_in_the_password_dialogue_ends_too) {
  weir_.add_file("pool_passwd", "weir_scram:scram secret\n");
  RawClient client(weir_.port());
  client.send(startup({{"user", "weir_scram"}, {"database", "app"}}));
  const auto request = client.read();
  ASSERT_TRUE(request.has_value());
  EXPECT_TRUE(client.wait_closed(std::chrono::seconds(20)));
  expect_unharmed();
}

TEST_F(StartupTest, many_half_open_connections_hinder_nobody) {
  std::vector<RawClient> idle;
  for (int i = 0; i < 200; ++i)
    idle.emplace_back(weir_.port());
  expect_unharmed();
  for (RawClient& client : idle)
    EXPECT_TRUE(client.wait_closed(std::chrono::seconds(30)));
}

TEST_F(StartupTest, cancel_requests_for_nobody) {
  for (int i = 0; i < 20; ++i) {
    RawClient client(weir_.port());
    client.send(cancel_request(static_cast<std::uint32_t>(i * 977), int32(i)));
    EXPECT_TRUE(client.wait_closed());
  }
  expect_unharmed();
}

TEST_F(StartupTest, unix_socket) {
  RawClient client(weir_.socket_path());
  client.login();
  EXPECT_EQ(outline(client.ask(query("SELECT 1"))), "T D:1 C:SELECT 1 Z:I");
  Connection libpq(weir_.socket_conninfo());
  EXPECT_TRUE(libpq.ok()) << libpq.error();
}

} // namespace
} // namespace weir::test
