#include "common/admin/console_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

constexpr std::size_t kLongestShown = 64;  // of a client's text in an error of ours
constexpr std::size_t kLongestName = 63;   // of a database or user, as servers have it
constexpr char kSetForm[] = "SET USER name = 'key=value ...', SET DATABASE name = '...' or SET POOL user.database = '...'; a name with other characters than letters, digits, _ and - in double quotes.";

struct Show {
  std::string_view name;
  ConsoleShow show;
  Asked asked;
  std::string_view help;
};
constexpr Show kShows[] = {
#define SHOW(enumerator, name, needs, help) {name, ConsoleShow::enumerator, Asked::needs, help},
#define SHOW_LATER(...)
#define COMMAND_LATER(...)
#include "common/admin/console_commands.def"
#undef SHOW
#undef SHOW_LATER
#undef COMMAND_LATER
};
constexpr std::string_view kShowsLater[] = {
#define SHOW(...)
#define SHOW_LATER(name) name,
#define COMMAND_LATER(...)
#include "common/admin/console_commands.def"
#undef SHOW
#undef SHOW_LATER
#undef COMMAND_LATER
};
constexpr std::string_view kCommandsLater[] = {
#define SHOW(...)
#define SHOW_LATER(...)
#define COMMAND_LATER(name) name,
#include "common/admin/console_commands.def"
#undef SHOW
#undef SHOW_LATER
#undef COMMAND_LATER
};

// What drivers ask for and set when they connect. An empty answer: it is only set.
struct SessionParameter {
  std::string_view name;
  std::string_view value;
};
constexpr SessionParameter kSessionParameters[] = {
    {"client_encoding", "UTF8"},          {"default_transaction_isolation", "read committed"},
    {"transaction_isolation", "read committed"}, {"standard_conforming_strings", "on"},
    {"datestyle", "ISO"},                 {"timezone", "GMT"},
    {"extra_float_digits", "1"},          {"application_name", ""},
    {"default_transaction_read_only", "off"}, {"client_min_messages", "notice"},
    {"statement_timeout", "0"},           {"search_path", ""},
};

template <std::size_t N>
bool is_one_of(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

const SessionParameter* session_parameter(std::string_view name) {
  const auto* it = std::find_if(std::begin(kSessionParameters), std::end(kSessionParameters), [&](const auto& p) { return p.name == name; });
  return it == std::end(kSessionParameters) ? nullptr : it;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
bool ends_name(char c) { return is_blank(c) || c == '"' || c == '\'' || c == '.' || c == '=' || c == ';'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Not cut within a character of UTF-8.
std::string_view shown(std::string_view text) {
  if (text.size() <= kLongestShown) return text;
  text = text.substr(0, kLongestShown);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80U) text.remove_suffix(1);
  if (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0) text.remove_suffix(1);
  return text;
}

tl::unexpected<Error> invalid(std::string_view text, std::string hint = {}) {
  return fail(make_error(sqlstate::kSyntaxError, fmt::format("invalid command '{}', use SHOW HELP;", shown(text)), {}, std::move(hint)));
}

tl::unexpected<Error> later(std::string_view what) {
  return fail(make_error(sqlstate::kFeatureNotSupported, fmt::format("{} is not available yet", what), {}, "SHOW HELP lists what there is."));
}

class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { skip_blanks(); }
  bool at_end() const { return text_.empty(); }
  bool at(char c) const { return !text_.empty() && text_.front() == c; }

  bool take(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    skip_blanks();
    return true;
  }
  // In lower case; empty if there is none.
  std::string word() { return lower(take_while([](char c) { return is_word(c); })); }
  // WORD and nothing that goes on with it.
  bool take_word(std::string_view wanted) {
    Words ahead = *this;
    if (ahead.word() != wanted) return false;
    *this = ahead;
    return true;
  }
  // As it is written, or what stands in double quotes; nothing if there is no name.
  std::optional<std::string> name() {
    if (at('"')) return quoted('"');
    const std::string_view found = take_while([](char c) { return !ends_name(c); });
    return found.empty() ? std::nullopt : std::optional<std::string>(found);
  }
  std::optional<std::string> quoted(char quote) {
    if (!at(quote)) return std::nullopt;
    std::string out;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      if (text_[i] != quote) {
        out += text_[i];
      } else if (i + 1 < text_.size() && text_[i + 1] == quote) {
        out += text_[i++];
      } else {
        text_.remove_prefix(i + 1);
        skip_blanks();
        return out;
      }
    }
    return std::nullopt;
  }

 private:
  template <typename Belongs>
  std::string_view take_while(Belongs belongs) {
    std::size_t size = 0;
    while (size < text_.size() && belongs(text_[size])) ++size;
    const std::string_view found = text_.substr(0, size);
    text_.remove_prefix(size);
    skip_blanks();
    return found;
  }
  void skip_blanks() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  }

  std::string_view text_;
};

std::string_view without_end(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (!text.empty() && text.back() == ';') text.remove_suffix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

Result<ConsoleCommand> parse_show(Words words, std::string_view text, bool select) {
  std::string name = words.at('"') ? lower(words.quoted('"').value_or("")) : words.word();
  if (!select && name == "transaction" && words.take_word("isolation") && words.take_word("level")) name = "transaction_isolation";
  if (!select && name == "time" && words.take_word("zone")) name = "timezone";
  if (name.empty() || !words.at_end()) return invalid(text);
  ConsoleCommand command;
  command.name = name;
  const auto* known = std::find_if(std::begin(kShows), std::end(kShows), [&](const Show& show) { return show.name == name; });
  if (known != std::end(kShows)) {
    command.kind = ConsoleCommand::Kind::Show;
    command.show = known->show;
    return command;
  }
  if (is_one_of(kShowsLater, name)) {
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return later("SHOW " + name);
  }
  const SessionParameter* parameter = select ? nullptr : session_parameter(name);
  if (parameter == nullptr) return invalid(text);
  command.kind = ConsoleCommand::Kind::ShowParameter;
  command.value = parameter->value;
  return command;
}

Status check_name(std::string_view what, std::string_view name) {
  if (name.empty()) return fail(make_error(sqlstate::kSyntaxError, fmt::format("the name of the {} is empty", what), {}, kSetForm));
  if (name.size() > kLongestName) {
    return fail(make_error(sqlstate::kNameTooLong, fmt::format("the name of the {} is longer than {} bytes", what, kLongestName), {}, "No server has such a name."));
  }
  return {};
}

// Behind SET USER, DATABASE or POOL.
Result<ConsoleCommand> parse_limits(Words words, std::string_view text, config::Section section) {
  ConsoleCommand command;
  command.kind = ConsoleCommand::Kind::SetLimits;
  command.section = section;
  auto first = words.name();
  if (!first) return invalid(text, kSetForm);
  if (section == config::Section::Databases) command.database = std::move(*first);
  if (section != config::Section::Databases) command.user = std::move(*first);
  if (section == config::Section::Pools) {
    auto second = words.take('.') ? words.name() : std::nullopt;
    if (!second) return invalid(text, kSetForm);
    command.database = std::move(*second);
  }
  if (!words.take('=')) words.take_word("to");
  auto limits = words.quoted('\'');
  if (!limits || !words.at_end()) return invalid(text, kSetForm);
  if (section != config::Section::Databases) WEIR_TRY(check_name("user", command.user));
  if (section != config::Section::Users) WEIR_TRY(check_name("database", command.database));
  config::RuntimeLimits checked;
  WEIR_TRY(config::parse_runtime_limits(section, *limits, checked));
  command.limits = std::move(*limits);
  return command;
}

Result<ConsoleCommand> parse_set(Words words, std::string_view text) {
  words.take_word("session");
  words.take_word("local");
  const Words behind_set = words;
  const std::string word = words.word();
  const bool is_parameter = words.at('=');  // user is also the name of a parameter
  if (!is_parameter && word == "user") return parse_limits(words, text, config::Section::Users);
  if (!is_parameter && word == "database") return parse_limits(words, text, config::Section::Databases);
  if (!is_parameter && word == "pool") return parse_limits(words, text, config::Section::Pools);
  Words parameter = behind_set;
  std::optional<std::string> name = parameter.name();
  if (name) *name = lower(*name);
  if (name && *name == "time" && parameter.take_word("zone")) name = "timezone";
  const bool zone = name && *name == "timezone";
  if (!name || !(parameter.take('=') || parameter.take_word("to") || zone) || parameter.at_end()) return invalid(text, kSetForm);
  if (session_parameter(*name) == nullptr) return later("SET of a parameter");
  ConsoleCommand command;
  command.kind = ConsoleCommand::Kind::Ignored;
  command.name = *name;
  return command;
}

}  // namespace

Asked asked_by(ConsoleShow show) { return kShows[static_cast<std::size_t>(show)].asked; }

std::string_view show_name(ConsoleShow show) { return kShows[static_cast<std::size_t>(show)].name; }

std::string console_help() {
  std::string text = "\n";
  for (const Show& show : kShows) {
    std::string name(show.name);
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    text += fmt::format("\tSHOW {}: {}\n", name, show.help);
  }
  text += "\tSET USER name = 'max_user_connections=N pool_size=N ...'\n";
  text += "\tSET DATABASE name = 'max_db_connections=N pool_size=N ...'\n";
  text += "\tSET POOL user.database = 'pool_size=N ...'\n";
  text += "\t(N: 0 blocks, -1 is the configured value again)\n";
  return text;
}

Result<ConsoleCommand> parse_console(std::string_view whole) {
  const std::string_view text = without_end(whole);
  Words words(text);
  if (words.at_end()) return ConsoleCommand{};
  const std::string verb = words.word();
  if (verb == "show") return parse_show(words, text, false);
  if (verb == "select") return parse_show(words, text, true);
  if (verb == "set") return parse_set(words, text);
  if (is_one_of(kCommandsLater, verb)) {
    std::string name = verb;
    for (char& c : name) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    return later(name);
  }
  const bool begin = verb == "begin" || verb == "start";
  if (begin || verb == "commit" || verb == "rollback" || verb == "end") {
    ConsoleCommand command;
    command.kind = ConsoleCommand::Kind::Block;
    command.name = begin ? "BEGIN" : verb == "rollback" ? "ROLLBACK" : "COMMIT";
    words.take_word("transaction");
    words.take_word("work");
    if (words.at_end()) return command;
  }
  return invalid(text);
}

}  // namespace weir::admin
