#include <bsd/unistd.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/base/log.h"
#include "common/config/loader.h"
#include "common/config/parameter.h"
#include "parent/control.h"
#include "parent/daemonize.h"
#include "parent/options.h"
#include "parent/password_key.h"
#include "parent/server.h"

namespace {

using weir::parent::Options;

int show_config(const weir::config::Config& config) {
  for (const auto& parameter : weir::config::parameters()) {
    const auto source = config.sources.find(std::string(parameter.name));
    std::printf("%s = '%s'  # %s\n", std::string(parameter.name).c_str(), weir::config::show_parameter(config, parameter).c_str(),
                source == config.sources.end() ? "default" : source->second.c_str());
  }
  return 0;
}

void print_errors(const weir::config::LoadOutcome& outcome) {
  for (const auto& error : outcome.errors) {
    const std::string where = error.line > 0 ? fmt::format("{}:{}", error.file, error.line) : error.file;
    std::fprintf(stderr, "%s: %s\n", where.c_str(), error.message.c_str());
  }
}

int check_config(weir::config::LoadOutcome outcome) {
  for (const std::string& notice : outcome.notices) std::fprintf(stderr, "%s: notice: %s\n", outcome.config->file.c_str(), notice.c_str());
  if (const auto error = weir::config::nothing_to_serve(*outcome.config)) {
    outcome.errors.push_back(*error);
    print_errors(outcome);
    return 1;
  }
  return 0;
}

int run(std::shared_ptr<const weir::config::Config> config, const weir::config::LoadOutcome& outcome, const Options& options) {
  const int ready_pipe = options.foreground ? -1 : weir::parent::daemonize();
  weir::parent::Server server(std::move(config), ready_pipe, weir::parent::read_password_key(options.key_file));
  if (const weir::Status prepared = server.prepare(); !prepared) {
    std::fprintf(stderr, "pgweir: %s\n", prepared.error().one_line().c_str());
    return 1;
  }
  // From here on nobody may be left to read what a detached process writes: its log goes to syslog, or use -n.
  if (!options.foreground) weir::parent::release_standard_error();
  for (const std::string& notice : outcome.notices) weir::log::info("{}", notice);
  return server.run();
}

}  // namespace

int main(int argc, char** argv, char** envp) {
  setproctitle_init(argc, argv, envp);
  const auto parsed = weir::parent::parse_options({argv + 1, argv + argc});
  if (!parsed.error.empty()) {
    std::fprintf(stderr, "pgweir: %s\nTry \"pgweir --help\".\n", parsed.error.c_str());
    return 1;
  }
  const Options& options = parsed.options;
  if (options.action == Options::Action::Help || options.action == Options::Action::Version) {
    std::fputs(parsed.text.c_str(), stdout);
    return 0;
  }
  // Whoever is detached leaves the folder that a relative name is meant in.
  std::error_code ignored;
  const auto whole = std::filesystem::absolute(options.config_file, ignored);
  const auto outcome = weir::config::load({ignored ? options.config_file : whole.string(), weir::config::pgweir_environment(), weir::parent::overrides_of(options)});
  if (outcome.config == nullptr) {
    print_errors(outcome);
    return 1;
  }
  switch (options.action) {
    case Options::Action::CheckConfig: return check_config(outcome);
    case Options::Action::ShowConfig: return show_config(*outcome.config);
    case Options::Action::Stop:
    case Options::Action::Reload: return weir::parent::control(*outcome.config, options);
    default: return run(outcome.config, outcome, options);
  }
}
