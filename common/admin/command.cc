#include "common/admin/command.h"

#include <algorithm>
#include <string>

#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

constexpr std::size_t kLongestShown = 64;  // of a client's text in an error of ours

struct Known {
  std::string_view name;
  ShowCommand command;
};
constexpr Known kKnown[] = {
#define COMMAND(enumerator, name, help) {name, ShowCommand::enumerator},
#define LATER(name, help) {name, ShowCommand::NotYet},
#include "common/admin/commands.def"
#undef COMMAND
#undef LATER
};

// As PostgreSQL's lexer: not the locale's idea of a blank.
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view text, std::string_view lower_word) {
  return text.size() == lower_word.size() &&
         std::equal(text.begin(), text.end(), lower_word.begin(), [](char a, char b) { return lower(a) == b; });
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

// The first word of TEXT, up to a blank, which is taken off. At most LIMIT + 1 bytes of it are looked at.
std::string_view take_word(std::string_view& text, std::size_t limit) {
  skip_blanks(text);
  std::size_t size = 0;
  while (size < text.size() && size <= limit && !is_blank(text[size])) ++size;
  const std::string_view word = text.substr(0, size);
  text.remove_prefix(size);
  return word;
}

// Without blanks around it and without the semicolons at its end.
std::string_view trim(std::string_view text) {
  skip_blanks(text);
  while (!text.empty() && (is_blank(text.back()) || text.back() == ';')) text.remove_suffix(1);
  return text;
}

// True if a second statement may begin in it.
bool has_several(std::string_view argument) {
  char quote = 0;
  for (const char c : argument) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ';') {
      return true;
    }
  }
  return false;
}

std::optional<Command> pgpool_command(std::string_view rest) {
  const std::string_view verb = take_word(rest, 5);
  Command command;
  if (same_word(verb, "show")) {
    command.kind = CommandKind::PgpoolShow;
  } else if (same_word(verb, "set")) {
    command.kind = CommandKind::PgpoolSet;
  } else if (same_word(verb, "reset")) {
    command.kind = CommandKind::PgpoolReset;
  } else {
    return std::nullopt;
  }
  command.argument = trim(rest);
  if (command.argument.empty() || command.argument.find('\0') != std::string_view::npos) return std::nullopt;
  if (has_several(command.argument)) return std::nullopt;
  return command;
}

std::optional<Command> pool_show(std::string_view rest) {
  const std::string_view name = trim(rest);
  for (const Known& known : kKnown) {
    if (same_word(name, known.name)) return Command{CommandKind::PoolShow, known.command, name};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ShowCommand> show_command(std::string_view name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return known.command;
  }
  return std::nullopt;
}

std::optional<Command> parse_command(std::string_view text) {
  const std::string_view first = take_word(text, 6);
  if (same_word(first, "show")) return pool_show(text);
  if (same_word(first, "pgpool")) return pgpool_command(text);
  return std::nullopt;
}

Error not_available(const Command& command) {
  const std::string_view words = command.kind == CommandKind::PgpoolShow    ? "PGPOOL SHOW"
                                 : command.kind == CommandKind::PgpoolSet   ? "PGPOOL SET"
                                 : command.kind == CommandKind::PgpoolReset ? "PGPOOL RESET"
                                                                            : "SHOW";
  std::string message(words);
  if (command.kind == CommandKind::PoolShow) message.append(" ").append(command.argument.substr(0, kLongestShown));
  return make_error(sqlstate::kFeatureNotSupported, message + " is not available yet", {},
                    "SHOW POOL_STATUS shows all parameters.");
}

}  // namespace weir::admin
