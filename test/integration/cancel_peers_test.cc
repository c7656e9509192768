// Cancel requests on lent connections, and those that come to another pgweir than the one that they are for.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <poll.h>

#include <fstream>

#include "common/base/unique_fd.h"
#include "test/support/meddler.h"
#include "test/support/pgweir.h"
#include "test/support/process.h"
#include "test/support/raw_client.h"

namespace weir::test {
namespace {

using namespace msg;

// As outline, without the rows' values.
std::string shape(const std::vector<Message>& answer) {
  std::string out;
  for (const Message& message : answer) (out += out.empty() ? "" : " ") += message.tag == 'D' ? "D" : outline({message});
  return out;
}

RawClient login(int port) {
  RawClient client(port);
  client.login();
  return client;
}

void cancel(int port, const RawClient& whom) {
  RawClient asker(port);
  asker.send(cancel_request(whom.backend_pid, whom.backend_secret));
  EXPECT_TRUE(asker.wait_closed());
}

// Until the server runs a statement with MARK.
bool runs(const Cluster& cluster, const std::string& mark) {
  Connection direct(cluster.conninfo(0));
  return wait_until([&] { return direct.value("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%" + mark + "%'") != "0"; });
}

// Sections stand behind all parameters.
void append(const Pgweir& weir, const std::string& lines) { std::ofstream(weir.config_file(), std::ios::app) << lines; }

Settings lending(const Settings& more = {}) {
  Settings all{{"pool_mode", "'transaction'"}, {"num_init_children", "2"}, {"default_pool_size", "1"}, {"load_balance_mode", "off"}, {"query_wait_timeout", "20"}};
  for (const auto& [name, value] : more) all[name] = value;
  return all;
}

TEST(cancel, who_waits_for_a_connection_is_told_at_once) {
  const Cluster& cluster = Cluster::shared();
  Pgweir weir(cluster, lending());
  RawClient first = login(weir.port());
  RawClient second = login(weir.port());
  first.ask(query("BEGIN"));
  EXPECT_EQ(shape(first.ask(query("SELECT 1"))), "T D C:SELECT 1 Z:T");
  second.send(query("SELECT 'waits'"));
  EXPECT_TRUE(second.silent(std::chrono::milliseconds(200)));
  cancel(weir.port(), second);
  EXPECT_EQ(shape(second.read_to_ready(std::chrono::seconds(5))), "E:57014 Z:I");
  EXPECT_EQ(shape(first.ask(query("SELECT 1"))), "T D C:SELECT 1 Z:T") << "whoever has the connection is left alone";
  first.ask(query("COMMIT"));
  EXPECT_EQ(shape(second.ask(query("SELECT 1"))), "T D C:SELECT 1 Z:I");
}

// However a cancel and the end of its query meet, the next one on that connection goes on.
TEST(cancel, never_the_next_user_of_a_connection) {
  const Cluster& cluster = Cluster::shared();
  Pgweir weir(cluster, lending());
  RawClient victim = login(weir.port());
  RawClient next = login(weir.port());
  for (int i = 0; i < 15; ++i) {
    victim.send(query("SELECT pg_sleep(0.00" + std::to_string(i % 10) + ")"));
    next.send(query("SELECT pg_sleep(0.02), 'next'"));
    RawClient asker(weir.port());
    asker.send(cancel_request(victim.backend_pid, victim.backend_secret));
    const auto answer = victim.read_to_ready();
    ASSERT_FALSE(answer.empty());
    EXPECT_EQ(shape(next.read_to_ready()), "T D C:SELECT 1 Z:I") << i;
    // A late one: the client has its answer, and asks for something else.
    asker.wait_closed();
    EXPECT_EQ(shape(victim.ask(query("SELECT pg_sleep(0.01)"))), "T D C:SELECT 1 Z:I") << i;
  }
}

TEST(cancel, those_who_have_gone_and_who_do_nothing) {
  const Cluster& cluster = Cluster::shared();
  Pgweir weir(cluster, lending());
  RawClient gone = login(weir.port());
  const std::uint32_t pid = gone.backend_pid;
  const std::string secret = gone.backend_secret;
  EXPECT_EQ(shape(gone.ask(query("SELECT 1"))), "T D C:SELECT 1 Z:I");
  gone.send(terminate());
  EXPECT_TRUE(gone.wait_closed());
  RawClient other = login(weir.port());
  other.send(query("SELECT pg_sleep(0.3)"));
  RawClient asker(weir.port());
  asker.send(cancel_request(pid, secret));
  EXPECT_TRUE(asker.wait_closed());
  EXPECT_EQ(shape(other.read_to_ready()), "T D C:SELECT 1 Z:I");
  cancel(weir.port(), other);
  EXPECT_EQ(shape(other.ask(query("SELECT pg_sleep(0.1)"))), "T D C:SELECT 1 Z:I");
}

// Two pgweirs behind one address.
class PeersTest : public testing::Test {
protected:
  static std::string peers(int one, int two) {
    return "[peers]\n1 = host=127.0.0.1 port=" + std::to_string(one) + "\n2 = host=localhost port=" + std::to_string(two) + "\n";
  }
};

TEST_F(PeersTest, a_request_finds_its_client_through_the_wrong_door) {
  const Cluster& cluster = Cluster::shared();
  Pgweir one(cluster, lending({{"peer_id", "1"}}), Pgweir::Unstarted{});
  Pgweir two(cluster, lending({{"peer_id", "2"}}), Pgweir::Unstarted{});
  const std::string lines = peers(one.port(), two.port());
  append(one, lines);
  append(two, lines);
  one.start();
  two.start();
  Meddler door(one.port());
  RawClient client = login(door.port());
  EXPECT_EQ(client.backend_pid >> 31U, 0U);
  EXPECT_EQ(client.backend_pid >> 8U & 0xffffU, 0x0100U) << "peer_id, its low byte first";
  EXPECT_EQ(static_cast<unsigned char>(client.backend_secret.back()) & 3U, 3U);
  door.lead_to(two.port());
  for (int i = 0; i < 3; ++i) {
    const std::string mark = "peer_" + std::to_string(i);
    client.send(query("SELECT pg_sleep(60) /* " + mark + " */"));
    ASSERT_TRUE(runs(cluster, mark));
    cancel(door.port(), client);
    EXPECT_EQ(shape(client.read_to_ready(std::chrono::seconds(10))), "T E:57014 Z:I");
  }
  // Through its own door, and of a queued one.
  door.lead_to(one.port());
  RawClient queued = login(one.port());
  client.send(query("SELECT pg_sleep(60) /* peer_own */"));
  ASSERT_TRUE(runs(cluster, "peer_own"));
  queued.send(query("SELECT 1"));
  EXPECT_TRUE(queued.silent(std::chrono::milliseconds(200)));
  cancel(two.port(), queued);
  EXPECT_EQ(shape(queued.read_to_ready(std::chrono::seconds(10))), "E:57014 Z:I");
  cancel(door.port(), client);
  EXPECT_EQ(shape(client.read_to_ready(std::chrono::seconds(10))), "T E:57014 Z:I");
}

// Tables that point at one another: a request ends all the same. So do those that make no sense.
TEST_F(PeersTest, requests_for_nobody_end) {
  const Cluster& cluster = Cluster::shared();
  Pgweir one(cluster, lending({{"peer_id", "1"}}), Pgweir::Unstarted{});
  Pgweir two(cluster, lending({{"peer_id", "2"}}), Pgweir::Unstarted{});
  append(one, "[peers]\n3 = host=127.0.0.1 port=" + std::to_string(two.port()) + "\n4 = host=127.0.0.1 port=" + std::to_string(reserve_port()) + "\n");
  append(two, "[peers]\n3 = host=127.0.0.1 port=" + std::to_string(one.port()) + "\n");
  one.start();
  two.start();
  const auto ask = [&](const std::string& bytes) {
    RawClient asker(one.port());
    asker.send(bytes);
    EXPECT_TRUE(asker.wait_closed());
  };
  ask(cancel_request(0x00030000, std::string("\xff\xff\xff\xff", 4)));
  EXPECT_TRUE(wait_until([&] { return one.logged("handed on too often") || two.logged("handed on too often"); }));
  ask(cancel_request(0x00040000, std::string("\xff\xff\xff\xff", 4)));
  EXPECT_TRUE(wait_until([&] { return one.logged("peer 4 did not take a cancel request"); }));
  ask(cancel_request(0x00050000, std::string("\xff\xff\xff\xff", 4)));
  EXPECT_TRUE(wait_until([&] { return one.logged("for peer 5 is lost"); }));
  ask(cancel_request(0x00030000, std::string(4, '\0')));
  ask(cancel_request(0, std::string(4, '\0')));
  ask(cancel_request(0xffffffff, std::string(4, '\xff')));
  ask(cancel_request(0x00010000, std::string(4, '\x01')));
  ask(cancel_request(0x00030000, std::string(200, 'x')));
  EXPECT_EQ(shape(login(one.port()).ask(query("SELECT 1"))), "T D C:SELECT 1 Z:I");
}

// A peer that takes connections and never answers: who waits behind the one that it has is let go after cancel_wait_timeout.
TEST_F(PeersTest, cancel_wait_timeout) {
  const UniqueFd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(silent.get(), 8), 0);
  ASSERT_EQ(::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  Pgweir weir(Cluster::shared(), lending({{"peer_id", "1"}, {"num_init_children", "1"}, {"cancel_wait_timeout", "1"}}), Pgweir::Unstarted{});
  append(weir, "[peers]\n1 = host=127.0.0.1 port=" + std::to_string(weir.port()) + "\n2 = host=127.0.0.1 port=" + std::to_string(ntohs(address.sin_port)) + " pool_size=1\n");
  weir.start();
  const std::string request = cancel_request(0x00020001, std::string("\0\0\1\3", 4));
  RawClient taken(weir.port());
  taken.send(request);
  const pollfd accepts{silent.get(), POLLIN, 0};
  pollfd polled = accepts;
  ASSERT_EQ(::poll(&polled, 1, 10000), 1);
  const auto since = std::chrono::steady_clock::now();
  RawClient waits(weir.port());
  waits.send(request);
  EXPECT_TRUE(waits.wait_closed(std::chrono::seconds(8)));
  EXPECT_GE(std::chrono::steady_clock::now() - since, std::chrono::milliseconds(900));
  EXPECT_TRUE(weir.logged("it has waited for cancel_wait_timeout"));
}

} // namespace
} // namespace weir::test
