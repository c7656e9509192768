#include "common/admin/pgpool_command.h"

#include <optional>
#include <utility>

#include "common/base/sqlstate.h"

namespace weir::admin {
namespace {

constexpr std::size_t kLongestShown = 64;  // of a client's text in an error of ours

// As PostgreSQL's lexer: not the locale's idea of a blank.
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

bool ends_word(char c) { return is_blank(c) || c == '\'' || c == '"' || c == '=' || c == ',' || c == ';'; }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The words one by one.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) { skip_blanks(); }

  bool at_end() const { return text_.empty(); }
  std::string_view rest() const { return text_; }

  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    skip_blanks();
    return true;
  }
  // Up to a blank or a sign; empty if there is none.
  std::string_view word() {
    std::size_t size = 0;
    while (size < text_.size() && !ends_word(text_[size])) ++size;
    const std::string_view found = text_.substr(0, size);
    text_.remove_prefix(size);
    skip_blanks();
    return found;
  }
  // What stands between two QUOTEs, doubled ones made one; nothing if the text does not go on so.
  std::optional<std::string> quoted(char quote) {
    if (text_.empty() || text_.front() != quote) return std::nullopt;
    std::string out;
    for (std::size_t i = 1; i < text_.size(); ++i) {
      if (text_[i] == quote) {
        if (i + 1 == text_.size() || text_[i + 1] != quote) {
          text_.remove_prefix(i + 1);
          skip_blanks();
          return out;
        }
        ++i;
      }
      out += text_[i];
    }
    return std::nullopt;
  }

 private:
  void skip_blanks() {
    while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
  }

  std::string_view text_;
};

tl::unexpected<Error> syntax_error(std::string_view verb, std::string_view at, const char* form) {
  std::string message = "syntax error in PGPOOL ";
  message += verb;
  if (!at.empty()) ((message += " at or near \"") += at.substr(0, kLongestShown)) += '"';
  return fail(make_error(sqlstate::kSyntaxError, std::move(message), {}, form));
}

std::optional<std::string> take_name(Words& words) {
  if (auto name = words.quoted('"')) return name->empty() ? std::nullopt : std::move(name);
  std::string name = lower(words.word());
  return name.empty() ? std::nullopt : std::optional(std::move(name));
}

Result<PgpoolCommand> parse_one_name(Words& words, PgpoolCommand::Kind kind, std::string_view verb, const char* form) {
  PgpoolCommand command;
  command.kind = kind;
  const std::string_view at = words.rest();
  auto name = take_name(words);
  if (!name) return syntax_error(verb, at, form);
  if (!words.at_end()) return syntax_error(verb, words.rest(), form);
  command.name = std::move(*name);
  const bool quoted = at.front() == '"';
  if (kind == PgpoolCommand::Kind::Reset && command.name == "all" && !quoted) command.kind = PgpoolCommand::Kind::ResetAll;
  return command;
}

Result<PgpoolCommand> parse_set(Words& words) {
  constexpr const char* kForm = "PGPOOL SET name TO value";
  PgpoolCommand command;
  command.kind = PgpoolCommand::Kind::Set;
  const std::string_view at = words.rest();
  auto name = take_name(words);
  if (!name) return syntax_error("SET", at, kForm);
  if (*name == "cache" && lower(words.rest()).starts_with("delete")) {
    return fail(make_error(sqlstate::kFeatureNotSupported, "PGPOOL SET CACHE DELETE is not available yet"));
  }
  command.name = std::move(*name);
  const std::string_view sign = words.rest();
  if (!words.take('=') && lower(words.word()) != "to") return syntax_error("SET", sign, kForm);
  bool first = true;
  do {
    const std::string_view value_at = words.rest();
    auto value = words.quoted('\'');
    if (!value) {
      const std::string_view word = words.word();
      if (word.empty()) return syntax_error("SET", value_at, kForm);
      if (first && words.at_end() && lower(word) == "default") {
        command.kind = PgpoolCommand::Kind::SetDefault;
        return command;
      }
      value = std::string(word);
    }
    if (!std::exchange(first, false)) command.value += ',';
    command.value += *value;
  } while (words.take(','));
  if (!words.at_end()) return syntax_error("SET", words.rest(), kForm);
  return command;
}

}  // namespace

Result<PgpoolCommand> parse_pgpool(std::string_view text) {
  Words words(text);
  const std::string verb = lower(words.word().substr(0, kLongestShown));
  using Kind = PgpoolCommand::Kind;
  if (verb == "show") return parse_one_name(words, Kind::Show, "SHOW", "PGPOOL SHOW name, or ALL");
  if (verb == "reset") return parse_one_name(words, Kind::Reset, "RESET", "PGPOOL RESET name, or ALL");
  if (verb == "set") return parse_set(words);
  return syntax_error("command", verb, "PGPOOL SHOW, PGPOOL SET or PGPOOL RESET");
}

}  // namespace weir::admin
