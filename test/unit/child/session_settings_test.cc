#include "child/session_settings.h"

#include <gtest/gtest.h>

#include "common/base/sqlstate.h"

namespace weir::child {
namespace {

const config::Parameter& parameter(const char* name) { return *config::find_parameter(name); }

TEST(SessionSettings, over_the_configuration) {
  config::Config base;
  base.client_idle_limit = 7;
  SessionSettings settings;
  EXPECT_EQ(settings.config(), nullptr);
  ASSERT_TRUE(settings.set(base, parameter("log_statement"), "on"));
  ASSERT_TRUE(settings.set(base, parameter("client_idle_limit"), "1min"));
  ASSERT_TRUE(settings.set(base, parameter("client_idle_limit"), "2min"));
  EXPECT_TRUE(settings.config()->log_statement);
  EXPECT_EQ(settings.config()->client_idle_limit, 120);
  ASSERT_TRUE(settings.reset(base, parameter("client_idle_limit")));
  EXPECT_EQ(settings.config()->client_idle_limit, 7);
  EXPECT_TRUE(settings.config()->log_statement);
  ASSERT_TRUE(settings.reset(base, parameter("log_statement")));
  EXPECT_EQ(settings.config(), nullptr);
  EXPECT_TRUE(settings.reset(base, parameter("log_statement")));  // as often as one likes
}

TEST(SessionSettings, a_reload_keeps_what_was_set_and_brings_the_rest) {
  config::Config base;
  SessionSettings settings;
  settings.rebase(base);
  EXPECT_EQ(settings.config(), nullptr);
  ASSERT_TRUE(settings.set(base, parameter("log_statement"), "on"));
  config::Config next;
  next.client_idle_limit = 9;
  settings.rebase(next);
  EXPECT_TRUE(settings.config()->log_statement);
  EXPECT_EQ(settings.config()->client_idle_limit, 9);
  settings.reset_all();
  EXPECT_EQ(settings.config(), nullptr);
}

TEST(SessionSettings, refuses_what_a_session_may_not_set) {
  const config::Config base;
  SessionSettings settings;
  for (const char* name : {"port", "load_balance_mode", "sr_check_password"}) {
    const Status set = settings.set(base, parameter(name), "1");
    ASSERT_FALSE(set) << name;
    EXPECT_EQ(set.error().sqlstate, sqlstate::kCantChangeRuntimeParam);
    EXPECT_EQ(set.error().message, "invalid Context, value for parameter \"" + std::string(name) + "\" cannot be changed");
    EXPECT_FALSE(settings.reset(base, parameter(name)));
  }
  const Status bad = settings.set(base, parameter("log_statement"), "maybe");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().sqlstate, sqlstate::kInvalidParameterValue);
  EXPECT_EQ(bad.error().message, "invalid value for parameter \"log_statement\": \"maybe\"");
  EXPECT_EQ(settings.config(), nullptr);
}

}  // namespace
}  // namespace weir::child
