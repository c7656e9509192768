#include "common/config/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "common/config/indexed.h"
#include "common/config/parameter.h"
#include "common/config/sections.h"

extern char** environ;

namespace weir::config {
namespace {

constexpr int kMaxIncludes = 10;

class Load {
 public:
  Load(const LoadRequest& request, const ReadFile& read) : request_(request), read_(read) {}

  LoadOutcome run() {
    config_.file = request_.path;
    config_.directory = std::filesystem::absolute(request_.path).parent_path().string();
    config_.overrides = request_.overrides;
    for (const Parameter& parameter : parameters()) {
      if (!set_parameter(config_, parameter, parameter.default_text)) error(request_.path, 0, fmt::format("the default of {} is wrong", parameter.name));
    }
    file(request_.path, 0, "", 0);
    for (const auto& [name, value] : request_.environment) environment(name, value);
    for (const auto& [name, value] : request_.overrides) parameter_entry(name, value, "command line", 0, "command line");
    indexed_.apply(config_);
    finish();
    if (!outcome_.errors.empty()) return std::move(outcome_);
    outcome_.config = std::make_shared<const Config>(std::move(config_));
    return std::move(outcome_);
  }

 private:
  void error(const std::string& file, int line, std::string message) { outcome_.errors.push_back({file, line, std::move(message)}); }

  void file(const std::string& path, int depth, const std::string& from, int from_line) {
    if (depth > kMaxIncludes) return error(from, from_line, fmt::format("include is nested more than {} deep", kMaxIncludes));
    const auto text = read_(path);
    if (!text) return error(from.empty() ? path : from, from_line, fmt::format("cannot read the configuration file \"{}\"", path));
    ConfText lexed = lex_conf(*text);
    for (ConfError& e : lexed.errors) error(path, e.line, std::move(e.message));
    for (const ConfEntry& entry : lexed.entries) {
      if (!entry.section.empty()) {
        section_entry(path, entry);
      } else if (entry.name == "include") {
        const std::filesystem::path included(entry.value);
        file(included.is_absolute() ? included.string() : (std::filesystem::path(path).parent_path() / included).string(), depth + 1, path, entry.line);
      } else {
        parameter_entry(entry.name, entry.value, path, entry.line, fmt::format("{}:{}", path, entry.line));
      }
    }
  }

  void section_entry(const std::string& path, const ConfEntry& entry) {
    std::string message;
    if (!add_section_entry(config_.sections, entry, message)) error(path, entry.line, std::move(message));
    later_sections_.insert(entry.section);
  }

  void environment(const std::string& name, const std::string& value) {
    constexpr std::string_view kPrefix = "PGWEIR_";
    if (!name.starts_with(kPrefix)) return;
    std::string parameter = name.substr(kPrefix.size());
    std::transform(parameter.begin(), parameter.end(), parameter.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // Other things of pgweir's (ports of the demo) are called PGWEIR_ as well: only what is a parameter counts.
    if (find_parameter(parameter) == nullptr && !Indexed::is_indexed(parameter)) return;
    parameter_entry(parameter, value, "environment variable " + name, 0, "environment");
  }

  void parameter_entry(const std::string& name, const std::string& value, const std::string& where, int line, const std::string& source) {
    if (const Parameter* parameter = find_parameter(name)) {
      if (const Status status = set_parameter(config_, *parameter, value); !status) {
        return error(where, line, fmt::format("{}: {}", name, status.error().message));
      }
      config_.sources.insert_or_assign(std::string(parameter->name), source);
      set_.insert(parameter);
      return;
    }
    std::string message;
    switch (indexed_.set(name, value, message)) {
      case Indexed::Outcome::Set: config_.sources.insert_or_assign(name, source); return;
      case Indexed::Outcome::Later: later_names_.insert(name); return;
      case Indexed::Outcome::Bad: return error(where, line, fmt::format("{}: {}", name, message));
      case Indexed::Outcome::Unknown: break;
    }
    std::string nearest = Indexed::nearest(name);
    if (nearest.empty()) nearest = nearest_parameter(name);
    error(where, line, fmt::format("unknown parameter \"{}\"{}", name, nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest)));
  }

  void finish() {
    const Config defaults = default_config();
    for (const Parameter* parameter : set_) {
      // Saying again what is the default asks for nothing that is missing.
      if (raw_parameter(config_, *parameter) == raw_parameter(defaults, *parameter)) continue;
      if (parameter->effect == Effect::Later) outcome_.notices.push_back(fmt::format("parameter {} is not yet in effect", parameter->name));
      if (parameter->effect == Effect::Retired) outcome_.notices.push_back(fmt::format("parameter {} has no effect: {}", parameter->name, parameter->documentation));
    }
    if (config_.pool_mode != "session") outcome_.notices.push_back(fmt::format("pool_mode = {} is not yet in effect: connections are pooled by session", config_.pool_mode));
    for (const std::string& name : later_names_) outcome_.notices.push_back(fmt::format("parameter {} is not yet in effect", name));
    for (const std::string& section : later_sections_) outcome_.notices.push_back(fmt::format("section [{}] is not yet in effect", section));
    const bool any = std::any_of(config_.backends.begin(), config_.backends.end(), [](const BackendConfig& b) { return b.port != 0; });
    if (!any) outcome_.notices.push_back("there is no backend node yet: set backend_hostname0 and backend_port0");
    if (config_.listen_addresses.empty() && config_.unix_socket_directories.empty()) error(request_.path, 0, "listen_addresses and unix_socket_directories are both empty: nobody could connect");
  }

  static Config default_config() {
    Config config;
    for (const Parameter& parameter : parameters()) static_cast<void>(set_parameter(config, parameter, parameter.default_text));
    return config;
  }

  const LoadRequest& request_;
  const ReadFile& read_;
  Config config_;
  Indexed indexed_;
  LoadOutcome outcome_;
  std::set<const Parameter*> set_;
  std::set<std::string> later_names_;
  std::set<std::string> later_sections_;
};

}  // namespace

std::string Config::resolve_path(std::string_view name) const {
  if (name.empty() || name.front() == '/') return std::string(name);
  return (std::filesystem::path(directory) / name).string();
}

LoadOutcome load_with(const LoadRequest& request, const ReadFile& read) { return Load(request, read).run(); }

LoadOutcome load(const LoadRequest& request) {
  return load_with(request, [](const std::string& path) -> std::optional<std::string> {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  });
}

LoadOutcome reload(const Config& config) { return load({config.file, pgweir_environment(), config.overrides}); }

std::map<std::string, std::string> pgweir_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (text.starts_with("PGWEIR_") && equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace weir::config
