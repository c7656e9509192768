#include "parent/options.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <map>
#include <string>
#include <vector>

#include "test/unit/parent/scratch_file.h"

namespace weir::parent {
namespace {

using Action = Options::Action;
using Words = std::vector<std::string>;

constexpr const char* kDefaultFile = "/etc/pgweir/pgweir.conf";

std::string joined(const Words& words) {
  std::string out = "pgweir";
  for (const std::string& word : words) out += " " + word;
  return out;
}

struct Good {
  Words arguments;
  Action action;
  std::string config_file = kDefaultFile;
  char stop_mode = 's';
  bool foreground = false;
  bool discard_status = false;
  bool debug = false;
};

TEST(Options, WhatIsUnderstood) {
  for (const Good& row : {
           Good{{}, Action::Run},
           Good{{"-n"}, Action::Run, kDefaultFile, 's', true},
           Good{{"--dont-detach"}, Action::Run, kDefaultFile, 's', true},
           Good{{"-f", "a.conf"}, Action::Run, "a.conf"},
           Good{{"-fa.conf"}, Action::Run, "a.conf"},
           Good{{"--config-file=a.conf"}, Action::Run, "a.conf"},
           Good{{"--config-file", "a.conf"}, Action::Run, "a.conf"},
           Good{{"-f", "a b.conf", "-n", "-D", "-d"}, Action::Run, "a b.conf", 's', true, true, true},
           Good{{"-nDd", "-f", "a.conf"}, Action::Run, "a.conf", 's', true, true, true},
           Good{{"-C", "-x"}, Action::Run},
           Good{{"--clear-oidmaps", "--debug-assertions", "--discard-status"}, Action::Run, kDefaultFile, 's', false, true},
           Good{{"-a", "hba", "-F", "pcp", "-k", "key"}, Action::Run},
           Good{{"--dialect", "pgpool"}, Action::Run},
           Good{{"stop"}, Action::Stop},
           Good{{"-m", "fast", "stop"}, Action::Stop, kDefaultFile, 'f'},
           Good{{"-m", "f", "stop"}, Action::Stop, kDefaultFile, 'f'},
           Good{{"stop", "-m", "immediate"}, Action::Stop, kDefaultFile, 'i'},
           Good{{"-m", "i", "stop"}, Action::Stop, kDefaultFile, 'i'},
           Good{{"--mode=smart", "stop"}, Action::Stop},
           Good{{"-m", "s", "stop"}, Action::Stop},
           Good{{"-f", "a.conf", "stop"}, Action::Stop, "a.conf"},
           Good{{"stop", "-f", "a.conf"}, Action::Stop, "a.conf"},
           Good{{"reload"}, Action::Reload},
           Good{{"-f", "a.conf", "reload"}, Action::Reload, "a.conf"},
           Good{{"--check-config", "a.conf"}, Action::CheckConfig, "a.conf"},
           Good{{"-f", "b.conf", "--check-config", "a.conf"}, Action::CheckConfig, "a.conf"},
           Good{{"--show-config"}, Action::ShowConfig},
           Good{{"--show-config", "a.conf"}, Action::ShowConfig, "a.conf"},
           Good{{"-f", "a.conf", "--show-config"}, Action::ShowConfig, "a.conf"},
           Good{{"-v"}, Action::Version},
           Good{{"--version"}, Action::Version},
           Good{{"-v", "stop"}, Action::Version},
           Good{{"-h"}, Action::Help},
           Good{{"--help"}, Action::Help},
           Good{{"-h", "--no-such-option"}, Action::Help},
       }) {
    const ParsedOptions parsed = parse_options(row.arguments);
    EXPECT_EQ(parsed.error, "") << joined(row.arguments);
    EXPECT_EQ(parsed.options.action, row.action) << joined(row.arguments);
    EXPECT_EQ(parsed.options.stop_mode, row.stop_mode) << joined(row.arguments);
    EXPECT_EQ(parsed.options.foreground, row.foreground) << joined(row.arguments);
    EXPECT_EQ(parsed.options.discard_status, row.discard_status) << joined(row.arguments);
    EXPECT_EQ(parsed.options.debug, row.debug) << joined(row.arguments);
    EXPECT_EQ(parsed.options.config_file, row.config_file) << joined(row.arguments);
    EXPECT_EQ(!parsed.text.empty(), row.action == Action::Version || row.action == Action::Help) << joined(row.arguments);
  }
}

TEST(Options, Files) {
  const Options options = parse_options({"-a", "hba", "-F", "pcp", "-k", "key", "-f", "conf"}).options;
  EXPECT_EQ(options.hba_file, "hba");
  EXPECT_EQ(options.pcp_file, "pcp");
  EXPECT_EQ(options.key_file, "key");
  EXPECT_EQ(options.config_file, "conf");
}

struct Bad {
  Words arguments;
  const char* says;  // a part of the message
};

TEST(Options, WhatIsNot) {
  for (const Bad& row : {
           Bad{{"start"}, "\"start\""},
           Bad{{""}, "unknown command"},
           Bad{{"stop", "reload"}, "one command"},
           Bad{{"stop", "stop"}, "one command"},
           Bad{{"STOP"}, "unknown command"},
           Bad{{"-m", "slow", "stop"}, "slow"},
           Bad{{"-m", "FAST", "stop"}, "FAST"},
           Bad{{"-m"}, "--mode"},
           Bad{{"-f"}, "--config-file"},
           Bad{{"--check-config"}, "--check-config"},
           Bad{{"--no-such-option"}, "--no-such-option"},
           Bad{{"-z"}, "-z"},
           Bad{{"-n", "-z"}, "-z"},
           Bad{{"--dialect", "mysql"}, "mysql"},
           Bad{{"--dialect", "pgbouncer"}, "later"},
           Bad{{"pgbouncer.ini"}, "later"},
           Bad{{"-d", "/etc/pgbouncer/pgbouncer.ini"}, "later"},
           Bad{{"a.conf"}, "unknown command"},
       }) {
    const ParsedOptions parsed = parse_options(row.arguments);
    EXPECT_NE(parsed.error, "") << joined(row.arguments);
    EXPECT_NE(parsed.error.find(row.says), std::string::npos) << joined(row.arguments) << ": " << parsed.error;
    EXPECT_EQ(parsed.text, "") << joined(row.arguments);
  }
}

TEST(Options, TextsToPrint) {
  EXPECT_EQ(parse_options({"-v"}).text.substr(0, 15), "pgweir version ");
  EXPECT_EQ(parse_options({"-v"}).text.back(), '\n');
  const std::string help = parse_options({"-h"}).text;
  for (const char* option : {"--config-file", "--dont-detach", "--mode", "--check-config", "--show-config", "--version"}) EXPECT_NE(help.find(option), std::string::npos) << option;
}

TEST(Options, OverridesOfTheConfiguration) {
  using Overrides = std::map<std::string, std::string>;
  const ScratchDirectory scratch;
  const std::string users = scratch.write("users", "alice:md5abc\n");
  const std::string key = scratch.write("key", "a key\n");
  EXPECT_EQ(overrides_of(parse_options({}).options), Overrides{});
  EXPECT_EQ(overrides_of(parse_options({"-d"}).options), (Overrides{{"log_min_messages", "debug1"}}));
  EXPECT_EQ(overrides_of(parse_options({"-k", key}).options), Overrides{});
  EXPECT_EQ(overrides_of(parse_options({"-k", scratch.path("none")}).options), Overrides{});
  EXPECT_EQ(overrides_of(parse_options({"-k", users}).options), (Overrides{{"pool_passwd", users}}));
  EXPECT_EQ(overrides_of(parse_options({"-d", "-k", users}).options), (Overrides{{"pool_passwd", users}, {"log_min_messages", "debug1"}}));
}

// If this fails: pgweir --manual > doc/man/pgweir.1
TEST(Options, ManualPageIsThatOfTheTable) {
  std::ifstream file(WEIR_SOURCE_DIR "/doc/man/pgweir.1", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), options_manual());
}

}  // namespace
}  // namespace weir::parent
