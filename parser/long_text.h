// What a text that is too long to be parsed does, as far as its words tell: it is looked at while it
// streams by, and nothing of it is kept. One INSERT, UPDATE, DELETE, SELECT or VALUES with all names
// that may be relations, functions or types in it (rather too many than too few), or unknown. The
// facts serve to find out what the statement may have done to its session; they are not good enough
// to send it to a standby, and are marked so.
//
// Valid with standard_conforming_strings on and an encoding in which no byte of a longer character
// looks like ASCII.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "parser/facts.h"

namespace weir::parser {

class LongText {
public:
  // The next bytes of the text, which may be cut anywhere.
  void feed(std::string_view bytes);
  // The facts, once all bytes were fed. Kind Unknown: it could be anything.
  StatementFacts finish();

private:
  enum class State : std::uint8_t {
    Normal,
    Word,
    Number,
    String,
    StringQuote, // a quote in a string: its end, or the first of two
    Name,
    NameQuote,
    Dash,
    LineComment,
    Slash,
    BlockComment,
    Operator,
  };
  // What the next name is.
  enum class Expect : std::uint8_t { Nothing, Target, Relation, Type };

  void step(char c);
  void normal(char c);
  void block_comment(char c);
  void end_word();
  void end_name();
  void end_operator();
  void name_part(std::string text, bool quoted);
  void keyword(const std::string& word);
  void symbol(char c);
  void finish_chain();
  void give_up() { unknown_ = true; }

  State state_ = State::Normal;
  Expect expect_ = Expect::Nothing;
  std::string token_; // of a word, a name or an operator
  char previous_ = 0; // in a comment
  std::uint32_t comment_depth_ = 0;
  std::uint32_t depth_ = 0; // of parentheses
  bool unknown_ = false;
  bool ended_ = false;     // a semicolon was seen: only blanks and comments may follow
  bool from_list_ = false; // a comma is followed by another relation
  bool after_string_ = false;
  bool in_chain_ = false; // a name was read that may go on with a point, or be a call
  bool after_point_ = false;
  bool chain_quoted_ = false;
  Name chain_;
  Statement statement_;
};

} // namespace weir::parser
