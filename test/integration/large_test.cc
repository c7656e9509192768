// Messages of hundreds of megabytes stream through, and a reader that is slow slows nobody else.
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "test/support/pgweir.h"
#include "test/support/raw_client.h"
#include "test/support/wait.h"

namespace weir::test {
namespace {

using namespace msg; // NOLINT: the builders read as the protocol's own names

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true; // its allocator keeps freed memory: no bound can be told
#else
constexpr bool kSanitized = false;
#endif
constexpr std::size_t kMegabyte = 1U << 20U;
constexpr std::size_t kHuge = (kSanitized ? 60 : 300) * kMegabyte;
constexpr std::chrono::minutes kLong{4}; // a debug build on a busy machine looks at a hundred megabytes
constexpr std::size_t kBig = (kSanitized ? 40 : 200) * kMegabyte;
constexpr long kBoundKib = 24L << 10; // what a child may grow by

// The greatest resident size that a process has had, in KiB.
long peak_kib(pid_t pid) {
  std::istringstream lines(read_file("/proc/" + std::to_string(pid) + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("VmHWM:", 0) == 0)
      return std::stol(line.substr(6));
  }
  return -1;
}

class LargeTest : public ::testing::Test {
protected:
  void SetUp() override {
    expect_soon("the child", [this] { return weir_.processes_named("child").size() == 1; });
    child_ = weir_.processes_named("child").at(0);
    client_.login();
    client_.ask(query("SELECT v FROM plain WHERE id = 1"));
    before_ = peak_kib(child_);
    ASSERT_GT(before_, 0);
  }
  void TearDown() override {
    ASSERT_EQ(weir_.processes_named("child"), std::vector<pid_t>{child_});
    if (!kSanitized) {
      EXPECT_LT(peak_kib(child_) - before_, kBoundKib);
    }
    EXPECT_EQ(outline(client_.ask(query("SELECT 1"))), "T D:1 C:SELECT 1 Z:I");
  }
  // Sends HEAD, then TOTAL bytes of filling, then TAIL.
  void send_large(const std::string& head, std::size_t total, const std::string& tail) {
    ASSERT_TRUE(client_.send(head));
    const std::string block(kMegabyte, 'x');
    for (std::size_t sent = 0; sent < total; sent += block.size()) {
      ASSERT_TRUE(
          client_.send(std::string_view(block).substr(0, std::min(block.size(), total - sent))));
    }
    ASSERT_TRUE(client_.send(tail));
  }

  Pgweir weir_{Cluster::shared(), {{"num_init_children", "1"}, {"log_per_node_statement", "off"}}};
  RawClient client_{weir_.port()};
  pid_t child_ = -1;
  long before_ = 0;
};

TEST_F(LargeTest, copy_in) {
  client_.ask(query("CREATE TEMP TABLE sink (v text)"));
  client_.send(query("COPY sink FROM STDIN"));
  client_.read_to('G');
  // One message of 50 MB, then many small ones.
  const std::size_t one = 50 * kMegabyte;
  send_large("d" + int32(static_cast<std::int64_t>(one) + 1 + 4), one, "\n");
  const std::string row = copy_data(std::string(999, 'y') + "\n");
  std::string block;
  for (int i = 0; i < 1000; ++i)
    block += row;
  std::size_t rows = 0;
  for (std::size_t sent = one; sent < kHuge; sent += block.size(), rows += 1000)
    ASSERT_TRUE(client_.send(block));
  EXPECT_EQ(outline(client_.ask(copy_done())), "C:COPY " + std::to_string(rows + 1) + " Z:I");
  EXPECT_EQ(outline(client_.ask(query("SELECT max(length(v)), count(*) FROM sink"))),
            "T D:" + std::to_string(one) + ":" + std::to_string(rows + 1) + " C:SELECT 1 Z:I");
}

TEST_F(LargeTest, copy_out) {
  client_.send(query("COPY (SELECT repeat('z', 1000) FROM generate_series(1, " +
                     std::to_string(kHuge / 1000) + ")) TO STDOUT"));
  std::size_t rows = 0;
  for (auto message = client_.read(); message && message->tag != 'Z'; message = client_.read())
    rows += message->tag == 'd' ? 1 : 0;
  EXPECT_EQ(rows, kHuge / 1000);
}

TEST_F(LargeTest, query_text) {
  const std::string head = "SELECT length('";
  const std::string tail = "')";
  send_large("Q" + int32(static_cast<std::int64_t>(head.size() + kBig + tail.size()) + 5) + head,
             kBig, tail + '\0');
  EXPECT_EQ(outline(client_.read_to_ready(kLong)), "T D:" + std::to_string(kBig) + " C:SELECT 1 Z:I");
}

TEST_F(LargeTest, parse_text) {
  const std::string head = std::string("big\0", 4) + "SELECT length('";
  const std::string tail = std::string("')\0", 3) + int16(0);
  send_large("P" + int32(static_cast<std::int64_t>(head.size() + kBig + tail.size()) + 4) + head,
             kBig, tail);
  client_.send(bind("", "big") + execute("") + close('S', "big") + sync());
  EXPECT_EQ(outline(client_.read_to_ready(kLong)),
            "1 2 D:" + std::to_string(kBig) + " C:SELECT 1 3 Z:I");
}

TEST_F(LargeTest, bind_parameter) {
  client_.send(parse("", "SELECT length($1::text)"));
  const std::string head =
      std::string("\0\0", 2) + int16(0) + int16(1) + int32(static_cast<std::int64_t>(kBig));
  const std::string tail = int16(0);
  send_large("B" + int32(static_cast<std::int64_t>(head.size() + kBig + tail.size()) + 4) + head,
             kBig, tail);
  client_.send(execute("") + sync());
  EXPECT_EQ(outline(client_.read_to_ready(kLong)), "1 2 D:" + std::to_string(kBig) + " C:SELECT 1 Z:I");
}

TEST_F(LargeTest, result_row) {
  const auto answer = client_.ask(query("SELECT repeat('r', " + std::to_string(kBig) + ")"));
  ASSERT_EQ(answer.size(), 4U) << outline(answer);
  EXPECT_EQ(answer[1].body.size(), kBig + 6);
  EXPECT_EQ(answer[1].body.find_first_not_of('r', 6), std::string::npos);
}

TEST_F(LargeTest, error_after_a_large_message) {
  const std::string head = "SELEC '";
  send_large("Q" + int32(static_cast<std::int64_t>(head.size() + kBig / 4 + 1) + 5) + head,
             kBig / 4, std::string("'\0", 2));
  EXPECT_EQ(outline(client_.read_to_ready(kLong)), "E:42601 Z:I");
}

// The client that does not read holds up its own server only.
TEST_F(LargeTest, slow_reader) {
  RawClient other(weir_.port());
  other.login();
  client_.send(query("SELECT repeat('r', 1000) FROM generate_series(1, " +
                     std::to_string(kBig / 1000) + ")"));
  // Until everything on the way is full: what waits for this client no longer grows.
  int waiting = -1;
  wait_until([&] {
    int now = 0;
    ::ioctl(client_.fd(), FIONREAD, &now);
    const bool full = now > 0 && now == waiting;
    waiting = now;
    (void)other.ask(query("SELECT pg_sleep(0.1)"));
    return full;
  });
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(outline(other.ask(query("SELECT v FROM plain WHERE id = 1"))),
              "T D:row 1 C:SELECT 1 Z:I");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  // A stuck client costs no processor time.
  const long ticks = cpu_ticks(child_);
  (void)other.ask(query("SELECT pg_sleep(1)"));
  EXPECT_LT(cpu_ticks(child_) - ticks, 20);
  std::size_t rows = 0;
  for (auto message = client_.read(); message && message->tag != 'Z'; message = client_.read())
    rows += message->tag == 'D' ? 1 : 0;
  EXPECT_EQ(rows, kBig / 1000);
}

// A client that sends much and reads nothing of a long answer neither blocks for ever nor fills the
// memory.
TEST_F(LargeTest, pipeline_without_reading) {
  RawClient greedy(weir_.port());
  greedy.login();
  std::string batch;
  for (int i = 0; i < 100; ++i)
    batch += parse("", "SELECT repeat('p', 10000)") + bind("", "") + execute("") + sync();
  std::size_t sent = 0;
  std::size_t readies = 0;
  const std::size_t wanted = 50;
  // Sends while it can, and reads only when it cannot.
  while (readies < wanted * 100) {
    if (sent < wanted * batch.size()) {
      const std::size_t n = greedy.send_some(std::string_view(batch).substr(sent % batch.size()));
      sent += n;
      if (n > 0)
        continue;
    }
    const auto message = greedy.read();
    ASSERT_TRUE(message.has_value()) << "stuck after " << readies << " of " << wanted * 100;
    if (message->tag == 'Z')
      ++readies;
  }
}

} // namespace
} // namespace weir::test
