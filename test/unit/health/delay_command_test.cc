// replication_delay_source_cmd: what it is asked, what its answers mean, and that nobody waits for it.
#include "health/delay_command.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>

#include "common/base/clock.h"

namespace weir::health {
namespace {

config::Config cluster() {
  config::Config config;
  config.backends.resize(4);
  const char* hosts[] = {"one", "two", "it's", ""};
  for (std::size_t i = 0; i < 4; ++i) {
    config.backends[i].hostname = hosts[i];
    config.backends[i].port = i == 3 ? 0 : 5432 + static_cast<int>(i);
  }
  config.replication_delay_source_cmd = "./delays -x";
  return config;
}

TEST(DelayCommandLine, NamesTheStandbysInTheirOrder) {
  const config::Config config = cluster();
  EXPECT_EQ(delay_command_nodes(config, 0), (std::vector<int>{1, 2}));
  EXPECT_EQ(delay_command_nodes(config, 1), (std::vector<int>{0, 2}));
  EXPECT_EQ(delay_command_line(config, {0, 2}), "./delays -x 'one:5432' 'it'\\''s:5434'");
}

TEST(DelayCommandOutput, EachWordIsANode) {
  struct Row {
    const char* output;
    std::vector<std::int64_t> delays;
  };
  for (const Row& row : {Row{"25 50", {25'000, 50'000}}, Row{"25.5\t100.75\n", {25'500, 100'750}}, Row{" 0\n0.0004 ", {0, 0}}, Row{"-1 7", {-1, 7000}},
                         Row{"junk 50.5", {-1, 50'500}}, Row{"-25 50", {-1, 50'000}}, Row{"nan inf", {-1, -1}}, Row{"1e300 1x", {-1, -1}}, Row{"9999999 1", {9'999'999'000, 1000}}}) {
    const auto delays = parse_delays(row.output, 2);
    ASSERT_TRUE(delays.has_value()) << row.output;
    EXPECT_EQ(*delays, row.delays) << row.output;
  }
  for (const char* output : {"", " \n", "25", "1 2 3"}) EXPECT_FALSE(parse_delays(output, 2).has_value()) << output;
}

class DelayCommandRun : public testing::Test {
 protected:
  // Runs the command to its end, its being reaped included.
  void run(const std::string& line, std::chrono::seconds timeout = std::chrono::seconds(60)) {
    Timer poll;
    DelayCommand command(loop_);
    poll.set(loop_, [&] { command.running() || !told_ ? poll.arm(Milliseconds(5)) : loop_.stop(); });
    command.start(line, timeout, [&](std::optional<std::string> output, const std::string& problem) {
      told_ = true;
      output_ = std::move(output);
      problem_ = problem;
    });
    poll.arm(Milliseconds(5));
    loop_.run();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "something is left";
    EXPECT_EQ(errno, ECHILD);
  }
  EventLoop loop_;
  bool told_ = false;
  std::optional<std::string> output_;
  std::string problem_;
};

TEST_F(DelayCommandRun, GivesItsOutput) {
  run("printf '%s|' one \"$0\"; echo");
  EXPECT_EQ(output_, "one|sh|\n");
}

TEST_F(DelayCommandRun, AFailureTellsNothing) {
  run("echo 1 2; exit 3");
  EXPECT_FALSE(output_.has_value());
  EXPECT_EQ(problem_, "it ended with status 3");
}

TEST_F(DelayCommandRun, OneThatTakesTooLongIsKilledWithAllItStarted) {
  const Monotonic begin = monotonic_now();
  run("sleep 1000 & sleep 1000", std::chrono::seconds(1));
  EXPECT_FALSE(output_.has_value());
  EXPECT_NE(problem_.find("longer than 1 s"), std::string::npos);
  EXPECT_LT(monotonic_now() - begin, std::chrono::seconds(60));
}

TEST_F(DelayCommandRun, OneThatNeverStopsPrintingIsKilled) {
  run("yes");
  EXPECT_FALSE(output_.has_value());
  EXPECT_NE(problem_.find("too much"), std::string::npos);
}

TEST_F(DelayCommandRun, OneThatEndsBeforeWhatItStarted) {
  run("sleep 1000 & echo 5", std::chrono::seconds(1));
  EXPECT_FALSE(output_.has_value());
}

}  // namespace
}  // namespace weir::health
