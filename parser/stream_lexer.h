// Tokens of SQL text that streams by and may be cut anywhere, as the server's scanner finds them
// with standard_conforming_strings on and an encoding in which no byte of a longer character looks
// like ASCII. Beside them it keeps the beginning of what is no comment, so that a text that is long
// for its comments alone can be parsed after all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::parser {

enum class StreamToken : std::uint8_t {
  Word,        // as written
  Name,        // "quoted", without quotes
  EscapedName, // U&"...": what it says is not told
  String,      // told at its first quote, without text, of whatever form; a continued one once
  Number,      // told at its beginning, without text; "$": a parameter
  Operator,    // a run of operator characters up to a comment
  Symbol,      // one character
};

class StreamSink {
public:
  // TEXT lives for the call.
  virtual void on_token(StreamToken token, std::string_view text) = 0;

protected:
  ~StreamSink() = default;
};

class StreamLexer {
public:
  static constexpr std::size_t kMaxToken =
      200; // longer words and names are cut: names have 63 bytes
  static constexpr std::size_t kMaxKept = 16U << 10U; // bytes

  explicit StreamLexer(StreamSink& sink) : sink_(sink) {}

  void feed(std::string_view bytes);
  // The end of the text; false if it is in the middle of a literal, name or comment, or was broken.
  bool finish();
  // It is not what the server's scanner accepts, or not sure to be taken alike by all its versions.
  bool broken() const { return broken_; }

  // What was read since restart_kept(), with blanks and comments in place of which one blank stands
  // (a line end if there was one); useless unless kept_whole().
  std::string_view kept() const { return kept_; }
  bool kept_whole() const { return kept_whole_; }
  void restart_kept();

private:
  enum class State : std::uint8_t {
    Normal,
    Word,
    UnicodePrefix, // u& : of a literal or name, if a quote follows
    Number,
    String,
    Backslash,   // in E'...'
    StringQuote, // a quote in a string: its end, or the first of two
    Name,
    NameQuote,
    Tag,    // of $tag$
    Dollar, // in $tag$...$tag$
    LineComment,
    BlockComment,
    Operator,
  };

  std::size_t skip(std::string_view bytes);
  void step(char c);
  bool in_literal(char c);
  bool in_token(char c);
  bool on_word(char c);
  bool on_number(char c);
  bool on_operator(char c);
  void on_tag(char c);
  void on_dollar(char c);
  void on_block_comment(char c);
  void normal(char c);
  void begin_string(bool escapes);
  void end_token(StreamToken token);
  void end_operator(std::size_t length);
  void keep(std::string_view bytes);
  void keep(char c) { keep(std::string_view(&c, 1)); }
  void grow(char c);

  StreamSink& sink_;
  State state_ = State::Normal;
  std::string token_;       // of a word, name or operator; the delimiter of a dollar quote
  std::size_t matched_ = 0; // of that delimiter
  char previous_ = 0;       // in a comment or number
  char blank_ = 0;          // that stands for what was left out
  std::uint32_t comment_depth_ = 0;
  bool escapes_ = false; // in a string
  bool escaped_name_ = false;
  bool after_string_ =
      false; // nothing but blanks and line comments since; a line end makes it go on
  bool broken_ = false;
  std::string kept_;
  bool kept_whole_ = true;
};

} // namespace weir::parser
