// What a text that is too long to be parsed does: it is looked at while it streams by, and nothing
// of it is kept. What is long for its comments alone is parsed without them, and so are the
// statements of a string that are short; of a long one its words tell (LongStatement). The facts
// serve to find out what the text may have done to its session; they are not good enough to send it
// to a standby, and are marked so. Unknown where it could be anything.
//
// Valid with standard_conforming_strings on and an encoding in which no byte of a longer character
// looks like ASCII.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parser/facts.h"
#include "parser/long_statement.h"
#include "parser/stream_lexer.h"

namespace weir::parser {

class LongText final : private StreamSink {
public:
  LongText() : lexer_(*this) {}
  LongText(const LongText&) = delete;
  LongText& operator=(const LongText&) = delete;

  // The next bytes of the text, which may be cut anywhere.
  void feed(std::string_view bytes);
  // The facts, once all bytes were fed: those of all statements in the order in which they
  // complete, or a single one of kind Unknown, or Empty.
  StatementFacts finish();

private:
  void on_token(StreamToken token, std::string_view text) override;
  void end_statement(bool last);
  Statement parsed();
  void add(Statement statement);
  static bool merges(const Statement& statement);

  StreamLexer lexer_;
  LongStatement words_;    // of the statement that is read
  bool begun_ = false;     // it has a token
  bool creates_ = false;   // ... and CREATE is its first
  std::size_t depth_ = 0;  // of parentheses
  std::size_t parsed_ = 0; // bytes that the parser has seen
  std::size_t names_ = 0;
  bool unknown_ = false;
  StatementFacts facts_;
};

} // namespace weir::parser
