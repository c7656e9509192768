#include "parent/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "parent/password_key.h"

namespace weir::parent {
namespace {

constexpr const char* kVersion = "pgweir version 0.1.0";
constexpr const char* kDefaultFile = "/etc/pgweir/pgweir.conf";

// What the options say before it is known what they mean together.
struct Words {
  std::string check;
  std::string show;
  std::string dialect;
  std::string mode = "smart";
  std::vector<std::string> commands;
  bool version = false;
  bool manual = false;
  bool clear_oidmaps = false;
  bool debug_assertions = false;
};

// The one table of options: parsing, --help and the manual page come from it.
void declare(CLI::App& app, Options& options, Words& words) {
  options.config_file = kDefaultFile;
  app.set_help_flag("-h,--help", "print this help");
  app.add_option("-f,--config-file", options.config_file, "configuration file")->type_name("FILE")->capture_default_str();
  app.add_option("-a,--hba-file", options.hba_file, "pool_hba.conf (comes later)")->type_name("FILE");
  app.add_option("-F,--pcp-file", options.pcp_file, "pcp.conf (comes later)")->type_name("FILE");
  app.add_option("-k,--key-file", options.key_file, "key file that decrypts AES secrets; or a file of users instead of pool_passwd")->type_name("FILE");
  app.add_flag("-n,--dont-detach", options.foreground, "stay in the foreground and log to standard error");
  app.add_flag("-D,--discard-status", options.discard_status, "forget the state of the nodes of the last run");
  app.add_flag("-C,--clear-oidmaps", words.clear_oidmaps, "accepted; there is no query cache yet");
  app.add_flag("-d,--debug", options.debug, "log debugging messages");
  app.add_flag("-x,--debug-assertions", words.debug_assertions, "accepted");
  app.add_option("-m,--mode", words.mode, "how to stop: smart (wait for clients), fast, immediate")
      ->check(CLI::IsMember({"s", "smart", "f", "fast", "i", "immediate"}))
      ->type_name("MODE");
  app.add_option("--check-config", words.check, "say what is wrong with FILE and exit")->type_name("FILE");
  app.add_option("--show-config", words.show, "print every parameter with value and source")->type_name("FILE")->expected(0, 1);
  app.add_option("--dialect", words.dialect, "pgpool or pgbouncer")->check(CLI::IsMember({"pgpool", "pgbouncer"}))->type_name("NAME");
  app.add_flag("-v,--version", words.version, "print the version");
  app.add_flag("--manual", words.manual, "print the manual page")->group("");
  app.add_option("command", words.commands, "stop or reload")->type_name("");
}

CLI::App new_app() { return CLI::App("pgweir: a proxy in front of a PostgreSQL streaming-replication cluster", "pgweir"); }

std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '-') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string options_manual() {
  Options options;
  Words words;
  CLI::App app = new_app();
  declare(app, options, words);
  std::string out =
      ".\\\" Made from the table of options in parent/options.cc\n"
      ".TH PGWEIR 1\n.SH NAME\npgweir \\- proxy in front of a PostgreSQL streaming\\-replication cluster\n.SH SYNOPSIS\n"
      ".B pgweir\n[\\-f FILE] [\\-n] [\\-k FILE] [\\-d]\n.br\n.B pgweir\n[\\-f FILE] [\\-m smart|fast|immediate] stop\n.br\n"
      ".B pgweir\n[\\-f FILE] reload\n.br\n.B pgweir\n\\-\\-check\\-config FILE\n.br\n.B pgweir\n\\-\\-show\\-config [FILE]\n"
      ".SH DESCRIPTION\nPools connections, sends plain reads to the standbys by weight and everything else to the primary.\n"
      "Without a command it starts, detached unless \\-n is given, and returns when clients can connect.\n"
      "A start that fails exits with 1 and one line that says why.\n.SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_positional()) continue;
    out += ".TP\n.B " + roff(option->get_name(false, true)) + (option->get_type_name().empty() ? "" : " " + option->get_type_name()) + "\n" +
           roff(option->get_description()) + "\n";
  }
  out +=
      ".SH COMMANDS\n.TP\n.B stop\nEnds the pgweir that runs with this configuration, and waits for its end.\n.TP\n.B reload\n"
      "Makes it read its configuration again: everything takes effect, or nothing.\n"
      ".SH SIGNALS\nTERM stops smartly, INT fast, QUIT immediately; HUP reloads.\n"
      ".SH ENVIRONMENT\n.TP\n.B PGWEIR_NAME\nSets the parameter NAME, over the file.\n.TP\n.B PGPOOLKEYFILE\nKey file, if \\-k is not given.\n"
      ".SH SEE ALSO\n.BR pgweir.conf (5)\n";
  return out;
}

ParsedOptions parse_options(const std::vector<std::string>& arguments) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  Words given;
  CLI::App app = new_app();
  declare(app, options, given);
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
  options.stop_mode = given.mode[0];
  if (given.manual) {
    options.action = Options::Action::Help;
    parsed.text = options_manual();
  } else if (given.version) {
    options.action = Options::Action::Version;
    parsed.text = std::string(kVersion) + "\n";
  } else if (!given.check.empty()) {
    options.action = Options::Action::CheckConfig;
    options.config_file = given.check;
  } else if (app.get_option("--show-config")->count() > 0) {
    options.action = Options::Action::ShowConfig;
    if (!given.show.empty()) options.config_file = given.show;
  } else if (given.dialect == "pgbouncer" || (!given.commands.empty() && given.commands[0].ends_with(".ini"))) {
    parsed.error = "PgBouncer's command line and file form come later; use: pgweir -f FILE";
  } else if (given.commands.size() > 1) {
    parsed.error = "one command only: stop or reload";
  } else if (!given.commands.empty()) {
    if (given.commands[0] == "stop") {
      options.action = Options::Action::Stop;
    } else if (given.commands[0] == "reload") {
      options.action = Options::Action::Reload;
    } else {
      parsed.error = "unknown command \"" + given.commands[0] + "\": there are stop and reload";
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
