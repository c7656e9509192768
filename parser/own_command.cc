#include "parser/own_command.h"

#include <algorithm>
#include <string>

#include "parser/lexical.h"
#include "parser/names.h"

namespace weir::parser {
namespace {

std::string lower_word(std::string_view word) {
  std::string out(word);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The tokens that count. A text is most often no command at all, so nothing is read ahead.
class Reader {
 public:
  explicit Reader(std::string_view text) : lexer_(text) { next(); }

  const Token& token() const { return token_; }
  void next() {
    do {
      token_ = lexer_.next();
    } while (token_.kind == TokenKind::Blank || token_.kind == TokenKind::Comment);
  }
  // The word that comes next, in lower case; empty if it is none.
  std::string word() const {
    constexpr std::size_t kLongest = 63;
    const bool is_word = token_.kind == TokenKind::Word && token_.text.size() <= kLongest;
    return is_word ? lower_word(token_.text) : std::string();
  }
  bool is_semicolon() const { return token_.kind == TokenKind::Symbol && token_.text == ";"; }
  bool at_end() {
    while (is_semicolon()) next();
    return token_.kind == TokenKind::End;
  }

 private:
  Lexer lexer_;
  Token token_;
};

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// The byte that up to MOST digits of BASE at TEXT stand for; they are taken off.
std::optional<char> byte_of(std::string_view& text, int base, std::size_t most) {
  int value = 0;
  std::size_t count = 0;
  while (count < most && count < text.size() && digit_of(text[count]) < base) value = value * base + digit_of(text[count++]);
  text.remove_prefix(count);
  value &= 0xff;
  if (count == 0 || value == 0) return std::nullopt;
  return static_cast<char>(value);
}

// What stands behind a backslash in E'…', which is taken off TEXT.
std::optional<char> escaped(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const char c = text.front();
  if (c >= '0' && c <= '7') return byte_of(text, 8, 3);
  text.remove_prefix(1);
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'x': return byte_of(text, 16, 2);
    case 'u':
    case 'U': return std::nullopt;
    default: return c;
  }
}

// The text between the quotes of a complete literal.
std::optional<std::string> unquote(std::string_view text, bool escapes) {
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '\'') {
      if (text.empty() || text.front() != '\'') return std::nullopt;
      text.remove_prefix(1);
      out += '\'';
    } else if (c == '\\' && escapes) {
      const auto byte = escaped(text);
      if (!byte) return std::nullopt;
      out += *byte;
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> value_of(std::string_view literal) {
  if (literal.size() >= 4 && literal.front() == '$') {
    const std::size_t tag = literal.find('$', 1);
    if (tag == std::string_view::npos || literal.size() < 2 * (tag + 1)) return std::nullopt;
    return std::string(literal.substr(tag + 1, literal.size() - 2 * (tag + 1)));
  }
  const bool escapes = !literal.empty() && (literal.front() == 'E' || literal.front() == 'e');
  if (escapes) literal.remove_prefix(1);
  if (literal.size() < 2 || literal.front() != '\'' || literal.back() != '\'') return std::nullopt;
  return unquote(literal.substr(1, literal.size() - 2), escapes);
}

Statement own(std::string identifier, std::string argument) {
  Statement statement;
  statement.kind = StatementKind::PoolShow;
  statement.identifier = std::move(identifier);
  statement.argument = std::move(argument);
  return statement;
}

std::optional<Statement> read_show(Reader& reader) {
  std::string name = reader.word();
  reader.next();
  if (is_pool_show(name)) return reader.at_end() ? std::optional(own(std::move(name), {})) : std::nullopt;
  if (name != "route" || reader.token().kind != TokenKind::String) return std::nullopt;
  auto text = value_of(reader.token().text);
  reader.next();
  if (!text || !reader.at_end()) return std::nullopt;
  return own(std::move(name), std::move(*text));
}

std::optional<Statement> read_pgpool(Reader& reader) {
  std::string argument = reader.word();
  if (argument != "show" && argument != "set" && argument != "reset") return std::nullopt;
  const char* end = reader.token().text.data() + reader.token().text.size();
  const std::size_t verb = argument.size();
  reader.next();
  while (reader.token().kind != TokenKind::End && !reader.is_semicolon()) {
    const std::string_view text = reader.token().text;
    if (reader.token().kind == TokenKind::Broken) return std::nullopt;
    if (text.data() != end) argument += ' ';
    argument += text;
    end = text.data() + text.size();
    reader.next();
  }
  if (argument.size() == verb || !reader.at_end()) return std::nullopt;
  return own("pgpool", std::move(argument));
}

bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c != '\\' && static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

bool begins_own_command(std::string_view text) {
  const std::string first = Reader(text).word();
  return first == "show" || first == "pgpool";
}

std::optional<Statement> read_own_command(std::string_view text, bool plain_only) {
  Reader reader(text);
  const std::string first = reader.word();
  if (first != "show" && first != "pgpool") return std::nullopt;
  if (plain_only && !is_plain(text)) return std::nullopt;
  reader.next();
  return first == "show" ? read_show(reader) : read_pgpool(reader);
}

}  // namespace weir::parser
