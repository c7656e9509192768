#include "common/config/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "common/base/check.h"
#include "common/config/indexed.h"
#include "common/config/object_pair.h"
#include "common/config/parameter.h"
#include "common/config/pattern.h"
#include "common/config/redirect.h"
#include "common/config/sections.h"

extern char** environ;

namespace weir::config {
namespace {

constexpr std::size_t kMaxIncludes = 10;
constexpr int kMaxFiles = 1000;
constexpr std::size_t kMaxErrors = 100;
constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

std::string directory_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? std::string() : whole.parent_path().string();
}

Config default_config() {
  Config config;
  for (const Parameter& parameter : parameters()) {
    const Status status = set_parameter(config, parameter, parameter.default_text);
    WEIR_CHECK(status.has_value());  // the table is wrong
  }
  return config;
}

class Load {
 public:
  Load(const LoadRequest& request, const ReadFile& read)
      : request_(request), read_(read), defaults_(default_config()), config_(defaults_) {}

  LoadOutcome run() {
    config_.file = request_.path;
    config_.directory = directory_of(request_.path);
    config_.overrides = request_.overrides;
    file(request_.path, "", 0);
    for (const auto& [name, value] : request_.environment) environment(name, value);
    for (const auto& [name, value] : request_.overrides) set(name, value, value, {"command line", 0, "command line"});
    indexed_.apply(config_);
    check_whole();
    add_notices();
    if (errors_ > kMaxErrors) {
      outcome_.errors.push_back({request_.path, 0, fmt::format("and {} more errors", errors_ - kMaxErrors)});
    }
    if (errors_ == 0) outcome_.config = std::make_shared<const Config>(std::move(config_));
    return std::move(outcome_);
  }

 private:
  struct Place {
    std::string file;  // or what stands for it in an error
    int line;
    std::string source;
  };

  void error(const std::string& file, int line, std::string message) {
    if (++errors_ <= kMaxErrors) outcome_.errors.push_back({file, line, std::move(message)});
  }

  // PATH, included in line FROM_LINE of FROM (empty: the main file).
  void file(const std::string& path, const std::string& from, int from_line) {
    const std::string& blamed = from.empty() ? path : from;
    if (open_files_.size() > kMaxIncludes) {
      return error(blamed, from_line, fmt::format("include is nested more than {} deep", kMaxIncludes));
    }
    std::string whole = std::filesystem::path(path).lexically_normal().string();
    if (std::find(open_files_.begin(), open_files_.end(), whole) != open_files_.end()) {
      return error(blamed, from_line, fmt::format("\"{}\" includes itself", path));
    }
    if (++files_ > kMaxFiles)
      return error(blamed, from_line, fmt::format("more than {} files are included", kMaxFiles));
    const Result<std::string> text = read_(path);
    if (!text) {
      return error(blamed, from_line,
                   fmt::format("cannot read the configuration file \"{}\": {}", path, text.error().message));
    }
    open_files_.push_back(std::move(whole));
    ConfText lexed = lex_conf(*text);
    for (ConfError& e : lexed.errors) error(path, e.line, std::move(e.message));
    for (const ConfSection& section : lexed.sections) {
      std::string message;
      if (!is_section(section.name, message)) error(path, section.line, std::move(message));
    }
    for (const ConfEntry& entry : lexed.entries) file_entry(path, entry);
    open_files_.pop_back();
  }

  void file_entry(const std::string& path, const ConfEntry& entry) {
    if (!entry.section.empty()) {
      std::string message;
      if (!is_section(entry.section, message)) return;  // told once, at its first line
      if (!add_section_entry(config_.sections, entry, message)) return error(path, entry.line, std::move(message));
      section_entry(path, entry);
    } else if (entry.name == "include") {
      if (entry.value.empty() || entry.value.find('\0') != std::string::npos) {
        return error(path, entry.line, "include needs the name of a file");
      }
      const std::filesystem::path beside = std::filesystem::path(path).parent_path();
      file((beside / entry.value).string(), path, entry.line);  // an absolute name replaces the folder
    } else {
      set(entry.name, entry.value, entry.list_value, {path, entry.line, fmt::format("{}:{}", path, entry.line)});
    }
  }

  void section_entry(const std::string& path, const ConfEntry& entry) {
    const SettingPairs& line = config_.sections.at(entry.section).at(entry.name);
    for (std::string& wrong : add_settings(config_.settings, entry.section, entry.name, line)) error(path, entry.line, std::move(wrong));
    auto& said = keys_said_[entry.section];
    for (const auto& [key, value] : line) said.insert(key);
  }

  void environment(const std::string& name, const std::string& value) {
    constexpr std::string_view kPrefix = "PGWEIR_";
    if (!name.starts_with(kPrefix)) return;
    std::string parameter = name.substr(kPrefix.size());
    for (char& c : parameter) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (find_parameter(parameter) == nullptr && !Indexed::is_indexed(parameter)) {
      if (!of_a_script(name)) ignored_variables_.push_back(name);
      return;
    }
    set(parameter, value, value, {"environment variable " + name, 0, "environment"});
  }

  // Names of pgweir's own that its scripts and tests read.
  static bool of_a_script(std::string_view name) {
    static constexpr std::string_view kNames[] = {"PGWEIR_PORT", "PGWEIR_PCP_PORT", "PGWEIR_HTTP_PORT", "PGWEIR_DEMO_DIR", "PGWEIR_DEMO_PG_PORT"};
    return name.starts_with("PGWEIR_TEST_") || std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  }

  void set(const std::string& name, const std::string& value, const std::string& list_value, const Place& place) {
    const Parameter* parameter = find_parameter(name);
    if (parameter == nullptr) return set_indexed(name, value, place);
    const bool list = parameter->kind == Kind::LIST || parameter->kind == Kind::QUERIES;
    if (const Status status = set_parameter(config_, *parameter, with_unit_of_name(*parameter, name, list ? list_value : value)); !status) {
      return error(place.file, place.line, fmt::format("{}: {}", name, status.error().message));
    }
    config_.sources.insert_or_assign(std::string(parameter->name), place.source);
    set_.insert(parameter);
  }

  void set_indexed(std::string name, const std::string& value, const Place& place) {
    std::string message;
    const Indexed::Outcome outcome = indexed_.set(name, value, message);
    if (outcome == Indexed::Outcome::Bad) return error(place.file, place.line, fmt::format("{}: {}", name, message));
    if (outcome == Indexed::Outcome::Unknown) return unknown(name, place);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (outcome == Indexed::Outcome::Later) later_names_.insert(name);
    places_.insert_or_assign(name, place);
    config_.sources.insert_or_assign(std::move(name), place.source);
  }

  void unknown(const std::string& name, const Place& place) {
    if (errors_ >= kMaxErrors) return error(place.file, place.line, {});  // looking for a near name takes its time
    std::string nearest = Indexed::nearest(name);
    if (nearest.empty()) nearest = nearest_parameter(name);
    const std::string hint = nearest.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", nearest);
    error(place.file, place.line, fmt::format("unknown parameter \"{}\"{}", name, hint));
  }

  void check_whole() {
    if (config_.listen_addresses.empty() && config_.unix_socket_directories.empty()) {
      error(request_.path, 0, "listen_addresses and unix_socket_directories are both empty: nobody could connect");
    }
    check_pairs();
    check_patterns();
    check_nodes();
  }

  // Entries that cannot be read, with the place that gave the whole list.
  void check_patterns() {
    using List = std::vector<std::string> Config::*;
    static constexpr std::pair<const char*, List> kPatterns[] = {
        {"read_only_function_list", &Config::read_only_function_list},
        {"write_function_list", &Config::write_function_list},
        {"primary_routing_query_pattern_list", &Config::primary_routing_query_pattern_list}};
    static constexpr std::pair<const char*, List> kRedirects[] = {
        {"app_name_redirect_preference_list", &Config::app_name_redirect_preference_list},
        {"database_redirect_preference_list", &Config::database_redirect_preference_list},
        {"user_redirect_preference_list", &Config::user_redirect_preference_list}};
    for (const auto& [name, list] : kPatterns) {
      for (const std::string& text : config_.*list) {
        const auto pattern = Pattern::compile(text);
        if (!pattern) error_in(name, fmt::format("\"{}\" is no regular expression: {}", text, pattern.error().message));
      }
    }
    for (const std::string& text : config_.dml_adaptive_object_relationship_list) {
      const auto pair = parse_object_pair(text);
      if (!pair) error_in("dml_adaptive_object_relationship_list", pair.error().message);
    }
    for (const auto& [name, list] : kRedirects) {
      for (const std::string& text : config_.*list) {
        if (text.empty()) continue;
        const auto entry = parse_redirect(text);
        if (!entry) {
          error_in(name, entry.error().message);
        } else if (entry->to == RedirectEntry::To::Node && !there_is_node(entry->node)) {
          notice(fmt::format("{}: there is no node {} as \"{}\" says", name, entry->node, text));
        }
      }
    }
  }

  bool there_is_node(int id) const {
    const auto index = static_cast<std::size_t>(id);
    return index < config_.backends.size() && config_.backends[index].port != 0;
  }

  // A value that is wrong, found when all are known: with the place that NAME has it from.
  void error_in(const std::string& name, const std::string& message) {
    const auto source = config_.sources.find(name);
    const std::string place = source != config_.sources.end() ? source->second : request_.path;
    const std::size_t colon = place.rfind(':');
    int line = 0;
    const char* end = place.data() + place.size();
    const bool in_file = colon != std::string::npos && std::from_chars(place.data() + colon + 1, end, line).ptr == end;
    error(in_file ? place.substr(0, colon) : place, in_file ? line : 0, fmt::format("{}: {}", name, message));
  }

  // An empty host name is a socket directory as Pgpool-II has it; one that is not there was forgotten.
  void check_nodes() {
    for (std::size_t id = 0; id < config_.backends.size(); ++id) {
      if (config_.backends[id].port == 0 || indexed_.has_host(static_cast<int>(id))) continue;
      const auto port = places_.find(fmt::format("backend_port{}", id));
      const Place place = port != places_.end() ? port->second : Place{request_.path, 0, ""};
      error(place.file, place.line, fmt::format("backend_port{0} is set, backend_hostname{0} is not (write '' for the socket in /tmp)", id));
    }
  }

  // What is wrong only because of two parameters together.
  void check_pairs() {
    if (config_.max_client_conn > 0 && config_.reserved_connections >= config_.max_client_conn) {
      error(request_.path, 0,
            fmt::format("reserved_connections ({}) is not less than max_client_conn ({}): nobody could connect",
                        config_.reserved_connections, config_.max_client_conn));
    }
  }

  void notice(std::string text) { outcome_.notices.push_back(std::move(text)); }

  void add_notices() {
    for (const Parameter& parameter : parameters()) {
      if (!set_.contains(&parameter)) continue;
      // Saying again what is the default asks for nothing that is missing.
      if (raw_value(config_, parameter) == raw_value(defaults_, parameter)) continue;
      if (parameter.effect == Effect::Later) notice(fmt::format("parameter {} is not yet in effect", parameter.name));
      if (parameter.effect == Effect::Retired) {
        notice(fmt::format("parameter {} has no effect: {}", parameter.name, parameter.documentation));
      }
    }
    for (const std::string& name : later_names_) notice(fmt::format("parameter {} is not yet in effect", name));
    for (std::string& text : section_notices(keys_said_)) notice(std::move(text));
    const bool limited = config_.delay_threshold > 0 || config_.delay_threshold_by_time > 0;
    if (limited && config_.sr_check_period == 0) {
      notice("sr_check_period is 0, so delays are not known, and the delay threshold keeps all reads on the primary");
    }
    for (const std::string& name : ignored_variables_) {
      notice(fmt::format("environment variable {} is ignored: there is no parameter of that name", name));
    }
  }

  // Secrets differ although both are shown as *****.
  static std::string raw_value(const Config& config, const Parameter& parameter) {
    if (parameter.kind == Kind::SECRET) return config.*std::get<std::string Config::*>(parameter.field);
    return raw_parameter(config, parameter);
  }

  const LoadRequest& request_;
  const ReadFile& read_;
  const Config defaults_;
  Config config_;
  Indexed indexed_;
  LoadOutcome outcome_;
  std::size_t errors_ = 0;
  int files_ = 0;
  std::vector<std::string> open_files_;  // from the main file to the one that is read
  std::set<const Parameter*> set_;
  std::map<std::string, Place> places_;  // of numbered parameters
  std::vector<std::string> ignored_variables_;
  std::set<std::string> later_names_;
  std::map<std::string, std::set<std::string>> keys_said_;  // of the sections that have lines
};

tl::unexpected<Error> unreadable(std::string why) { return fail(make_error("F0000", std::move(why))); }

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (error) return unreadable(error.message());
  if (std::filesystem::is_directory(status)) return unreadable("it is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(std::generic_category().message(errno));
  std::string text;
  std::array<char, 65536> chunk{};
  while (file.read(chunk.data(), chunk.size()) || file.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) return unreadable("it is larger than 16 MB");  // it may be a device
  }
  return text;
}

}  // namespace

std::string Config::resolve_path(std::string_view name) const {
  if (name.empty() || name.front() == '/') return std::string(name);
  return (std::filesystem::path(directory) / name).string();
}

std::optional<ConfError> nothing_to_serve(const Config& config) {
  const bool node = std::any_of(config.backends.begin(), config.backends.end(), [](const BackendConfig& backend) { return backend.port != 0; });
  if (node) return std::nullopt;
  if (const auto databases = config.sections.find("databases"); databases != config.sections.end()) {
    for (const auto& [name, settings] : databases->second) {
      if (std::any_of(settings.begin(), settings.end(), [](const auto& setting) { return setting.first == "host"; })) return std::nullopt;
    }
  }
  return ConfError{config.file, 0, "there is no backend node: backend_hostname0 and backend_port0 are not set"};
}

LoadOutcome load_with(const LoadRequest& request, const ReadFile& read) { return Load(request, read).run(); }

LoadOutcome load(const LoadRequest& request) { return load_with(request, read_file); }

LoadOutcome reload(const Config& config) { return load({config.file, pgweir_environment(), config.overrides}); }

std::map<std::string, std::string> pgweir_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with("PGWEIR_") || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace weir::config
