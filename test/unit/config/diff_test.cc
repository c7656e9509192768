#include "common/config/diff.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/config/loader.h"

namespace weir::config {
namespace {

std::shared_ptr<const Config> config_of(const std::string& text) {
  const LoadOutcome outcome = load_with({"main.conf", {}, {}}, [&](const std::string&) { return text; });
  EXPECT_NE(outcome.config, nullptr) << text;
  return outcome.config;
}

TEST(diff, nothing) {
  const std::string text = "port = 5\nbackend_hostname0 = 'h'\nbackend_port0 = 1\n";
  EXPECT_TRUE(diff(*config_of(text), *config_of("# moved\n" + text)).empty());
}

TEST(diff, parameters) {
  const auto changes = diff(*config_of("sr_check_password = 'old'\n"),
                            *config_of("port = 5\nclient_idle_limit = 5min\nsr_check_password = 'new'\n"));
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].name, "port");
  EXPECT_EQ(changes[0].before, "9999");
  EXPECT_EQ(changes[0].after, "5");
  EXPECT_TRUE(changes[0].needs_restart);
  EXPECT_EQ(changes[1].name, "client_idle_limit");
  EXPECT_EQ(changes[1].after, "300s");
  EXPECT_FALSE(changes[1].needs_restart);
  EXPECT_EQ(changes[2].name, "sr_check_password");
  EXPECT_EQ(changes[2].before + changes[2].after, "**********") << "a secret is not told";
}

TEST(diff, nodes) {
  const std::string one = "backend_hostname0 = 'a'\nbackend_port0 = 1\n";
  const char* const others[] = {"backend_weight0 = 2\n",
                                "backend_flag0 = 'DISALLOW_TO_FAILOVER'\n",
                                "backend_flag0 = 'ALWAYS_PRIMARY'\n",
                                "backend_data_directory0 = '/d'\n",
                                "backend_application_name0 = 'x'\n",
                                "connect_timeout0 = 1\n",
                                "health_check_timeout0 = 1\n",
                                "health_check_max_retries0 = 1\n",
                                "health_check_retry_delay0 = 9\n",
                                "backend_hostname0 = 'b'\n",
                                "backend_port0 = 2\n"};
  for (const char* other : others) {
    const auto changes = diff(*config_of(one), *config_of(one + other));
    ASSERT_EQ(changes.size(), 1u) << other;
    EXPECT_EQ(changes[0].name, "backend node 0");
    EXPECT_NE(changes[0].before, changes[0].after);
    EXPECT_FALSE(changes[0].needs_restart);
  }
  const auto added = diff(*config_of(one), *config_of(one + "backend_hostname2 = 'h'\nbackend_port2 = 3\n"));
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].name, "backend node 2");
  EXPECT_EQ(added[0].before, "unused");
}

TEST(diff, startup_parameters_are_kept) {
  const Config kept = keep_startup_parameters(*config_of("port = 1\nmax_pool = 1\n"),
                                              *config_of("port = 2\nmax_pool = 2\nbackend_hostname0 = 'h'\nbackend_port0 = 1\n"));
  EXPECT_EQ(kept.port, 1);
  EXPECT_EQ(kept.max_pool, 2);
  EXPECT_EQ(kept.backends.size(), 1u);
}

TEST(diff, lines_of_sections) {
  Config before;
  before.sections["databases"]["app"] = {{"user", "u"}, {"password", "one"}};
  before.sections["users"]["old"] = {{"pool_size", "1"}};
  Config after;
  after.sections["databases"]["app"] = {{"user", "u"}, {"password", "two"}};
  after.sections["pools"]["u.app"] = {{"pool_size", "2"}};
  const std::vector<Change> changes = diff(before, after);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].name, "[databases] app");
  EXPECT_EQ(changes[0].before, "user=u password=*****") << "secrets are not told";
  EXPECT_EQ(changes[0].after, "user=u password=*****");
  EXPECT_EQ(changes[1].name, "[pools] u.app");
  EXPECT_EQ(changes[1].before, "not there");
  EXPECT_EQ(changes[1].after, "pool_size=2");
  EXPECT_EQ(changes[2].name, "[users] old");
  EXPECT_EQ(changes[2].after, "not there");
  EXPECT_FALSE(changes[0].needs_restart);
  EXPECT_TRUE(diff(after, after).empty());
}

}  // namespace
}  // namespace weir::config
