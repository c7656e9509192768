// Splits SQL text into tokens as the server's scanner does with standard_conforming_strings on.
// Coarse on purpose: it tells where literals, quoted names and comments begin and end, which is
// what everything that does not parse needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::parser {

enum class TokenKind : std::uint8_t {
  End,
  Blank,     // a run of blanks
  Comment,   // to the end of the line, or nested /* */
  Word,      // identifier or keyword
  Name,      // "quoted", U&"quoted"
  Number,    // digits with point and exponent; a leading point is a symbol of its own
  String,    // '...', E'...', B'...', X'...', N'...', U&'...', $tag$...$tag$
  Parameter, // $1
  Symbol,    // one character
  Broken,    // a literal, name or comment without end: reaches to the end of the text
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text; // lives as long as the lexer's text
};

// Blanks of the server's scanner.
bool is_blank(char c);
bool is_word_start(char c); // letters, '_' and all bytes from 0x80
bool is_word_part(char c);  // those, digits and '$'

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

private:
  Token take(TokenKind kind, std::size_t length);
  Token word();
  Token number();
  Token dollar();
  Token quoted(TokenKind kind, std::size_t prefix, bool escapes);

  std::string_view text_; // what is left
};

// Length of the comment at the start of TEXT, 0 if there is none; CLOSED tells whether it ends in
// the text. A line comment always does; its line end is not part of it.
std::size_t comment_length(std::string_view text, bool& closed);

// TEXT without blanks, comments and semicolons at its end. What begins at its start stays.
std::string_view without_tail(std::string_view text);

} // namespace weir::parser
