#include "parser/lexical.h"

namespace weir::parser {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// Length of the $tag$ at the start of TEXT; 0: it is none.
std::size_t dollar_tag(std::string_view text) {
  std::size_t i = 1;
  if (i < text.size() && is_word_start(text[i])) {
    while (i < text.size() && is_word_part(text[i]) && text[i] != '$')
      ++i;
  }
  return i < text.size() && text[i] == '$' ? i + 1 : 0;
}

} // namespace

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_word_part(char c) {
  return is_word_start(c) || is_digit(c) || c == '$';
}

std::size_t comment_length(std::string_view text, bool& closed) {
  closed = true;
  if (text.starts_with("--")) {
    const std::size_t end = text.find_first_of("\r\n");
    return end == std::string_view::npos ? text.size() : end;
  }
  if (!text.starts_with("/*"))
    return 0;
  std::size_t depth = 1;
  std::size_t i = 2;
  while (i + 1 < text.size()) {
    if (text[i] == '/' && text[i + 1] == '*') {
      ++depth;
      i += 2;
    } else if (text[i] == '*' && text[i + 1] == '/') {
      i += 2;
      if (--depth == 0)
        return i;
    } else {
      ++i;
    }
  }
  closed = false;
  return text.size();
}

Token Lexer::take(TokenKind kind, std::size_t length) {
  const Token token{kind, text_.substr(0, length)};
  text_.remove_prefix(length);
  return token;
}

Token Lexer::quoted(TokenKind kind, std::size_t prefix, bool escapes) {
  const char quote = text_[prefix];
  std::size_t i = prefix + 1;
  while (i < text_.size()) {
    if (escapes && text_[i] == '\\') {
      i += 2;
    } else if (text_[i] != quote) {
      ++i;
    } else if (i + 1 < text_.size() && text_[i + 1] == quote) {
      i += 2;
    } else {
      return take(kind, i + 1);
    }
  }
  return take(TokenKind::Broken, text_.size());
}

Token Lexer::word() {
  // One letter glued to a quote is a kind of literal; a longer word is a word.
  if (text_.size() > 1 && text_[1] == '\'' && is_one_of(text_[0], "eEbBxXnN")) {
    return quoted(TokenKind::String, 1, text_[0] == 'e' || text_[0] == 'E');
  }
  if (text_.size() > 2 && is_one_of(text_[0], "uU") && text_[1] == '&') {
    if (text_[2] == '\'')
      return quoted(TokenKind::String, 2, false);
    if (text_[2] == '"')
      return quoted(TokenKind::Name, 2, false);
  }
  std::size_t i = 1;
  while (i < text_.size() && is_word_part(text_[i]))
    ++i;
  return take(TokenKind::Word, i);
}

Token Lexer::number() {
  const auto digits = [this](std::size_t i) {
    while (i < text_.size() && is_digit(text_[i]))
      ++i;
    return i;
  };
  std::size_t i = digits(1);
  if (i < text_.size() && text_[i] == '.')
    i = digits(i + 1);
  if (i < text_.size() && is_one_of(text_[i], "eE")) {
    std::size_t exponent = i + 1;
    if (exponent < text_.size() && is_one_of(text_[exponent], "+-"))
      ++exponent;
    if (exponent < text_.size() && is_digit(text_[exponent]))
      i = digits(exponent);
  }
  return take(TokenKind::Number, i);
}

Token Lexer::dollar() {
  if (text_.size() > 1 && is_digit(text_[1])) {
    std::size_t i = 1;
    while (i < text_.size() && is_digit(text_[i]))
      ++i;
    return take(TokenKind::Parameter, i);
  }
  const std::size_t tag = dollar_tag(text_);
  if (tag == 0)
    return take(TokenKind::Symbol, 1);
  const std::size_t end = text_.find(text_.substr(0, tag), tag);
  if (end == std::string_view::npos)
    return take(TokenKind::Broken, text_.size());
  return take(TokenKind::String, end + tag);
}

Token Lexer::next() {
  if (text_.empty())
    return {};
  const char c = text_[0];
  if (is_word_start(c))
    return word();
  if (is_blank(c)) {
    std::size_t i = 1;
    while (i < text_.size() && is_blank(text_[i]))
      ++i;
    return take(TokenKind::Blank, i);
  }
  if (is_digit(c))
    return number();
  if (c == '\'')
    return quoted(TokenKind::String, 0, false);
  if (c == '"')
    return quoted(TokenKind::Name, 0, false);
  if (c == '$')
    return dollar();
  if (c == '-' || c == '/') {
    bool closed = false;
    const std::size_t length = comment_length(text_, closed);
    if (length > 0)
      return take(closed ? TokenKind::Comment : TokenKind::Broken, length);
  }
  return take(TokenKind::Symbol, 1);
}

std::string_view without_tail(std::string_view text) {
  Lexer lexer(text);
  std::size_t end = 0;
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    if (token.kind == TokenKind::Blank || token.kind == TokenKind::Comment || token.text == ";")
      continue;
    end = static_cast<std::size_t>(token.text.data() - text.data()) + token.text.size();
  }
  return text.substr(0, end);
}

} // namespace weir::parser
