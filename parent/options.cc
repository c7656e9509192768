#include "parent/options.h"
#include "parent/password_key.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace weir::parent {
namespace {

constexpr const char* kVersion = "pgweir version 0.1.0";
constexpr const char* kDefaultFile = "/etc/pgweir/pgweir.conf";

}  // namespace

ParsedOptions parse_options(const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  CLI::App app("pgweir: a proxy in front of a PostgreSQL streaming-replication cluster", "pgweir");
  std::string check;
  std::string show;
  std::string dialect;
  std::string mode = "smart";
  std::vector<std::string> words;
  bool version = false;
  bool clear_oidmaps = false;
  bool debug_assertions = false;
  options.config_file = kDefaultFile;
  app.set_help_flag("-h,--help", "print this help");
  app.add_option("-f,--config-file", options.config_file, "configuration file")->capture_default_str();
  app.add_option("-a,--hba-file", options.hba_file, "pool_hba.conf (comes later)");
  app.add_option("-F,--pcp-file", options.pcp_file, "pcp.conf (comes later)");
  app.add_option("-k,--key-file", options.key_file, "key file that decrypts AES secrets; or a file of users instead of pool_passwd");
  app.add_flag("-n,--dont-detach", options.foreground, "stay in the foreground and log to standard error");
  app.add_flag("-D,--discard-status", options.discard_status, "forget the state of the nodes of the last run");
  app.add_flag("-C,--clear-oidmaps", clear_oidmaps, "accepted; there is no query cache yet");
  app.add_flag("-d,--debug", options.debug, "log debugging messages");
  app.add_flag("-x,--debug-assertions", debug_assertions, "accepted");
  app.add_option("-m,--mode", mode, "how to stop: smart (wait for clients), fast, immediate")
      ->check(CLI::IsMember({"s", "smart", "f", "fast", "i", "immediate"}));
  app.add_option("--check-config", check, "say what is wrong with FILE and exit")->type_name("FILE");
  auto* show_option = app.add_option("--show-config", show, "print every parameter with value and source")->type_name("FILE")->expected(0, 1);
  app.add_option("--dialect", dialect, "pgpool or pgbouncer")->check(CLI::IsMember({"pgpool", "pgbouncer"}));
  app.add_flag("-v,--version", version, "print the version");
  app.add_option("command", words, "stop or reload");
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    options.action = Options::Action::Help;
    parsed.text = app.help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    parsed.error = error.what();
    return parsed;
  }
  options.stop_mode = mode[0];
  if (version) {
    options.action = Options::Action::Version;
    parsed.text = std::string(kVersion) + "\n";
  } else if (!check.empty()) {
    options.action = Options::Action::CheckConfig;
    options.config_file = check;
  } else if (show_option->count() > 0) {
    options.action = Options::Action::ShowConfig;
    if (!show.empty()) options.config_file = show;
  } else if (dialect == "pgbouncer" || (!words.empty() && words[0].ends_with(".ini"))) {
    parsed.error = "PgBouncer's command line and file form come later; use: pgweir -f FILE";
  } else if (words.size() > 1) {
    parsed.error = "one command only: stop or reload";
  } else if (!words.empty()) {
    if (words[0] == "stop") {
      options.action = Options::Action::Stop;
    } else if (words[0] == "reload") {
      options.action = Options::Action::Reload;
    } else {
      parsed.error = "unknown command \"" + words[0] + "\": there are stop and reload";
    }
  }
  return parsed;
}

std::map<std::string, std::string> overrides_of(const Options& options) {
  std::map<std::string, std::string> overrides;
  if (!options.key_file.empty() && is_list_of_users(options.key_file)) overrides.emplace("pool_passwd", options.key_file);
  if (options.debug) overrides.emplace("log_min_messages", "debug1");
  return overrides;
}

}  // namespace weir::parent
