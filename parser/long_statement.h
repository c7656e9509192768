// What one statement that is too long to be parsed does, as far as its words tell: INSERT, UPDATE,
// DELETE, SELECT, VALUES and TABLE, with WITH before or in them, in COPY (...) TO STDOUT, or behind
// PREPARE ... AS. Told are all names that may be relations, functions, operators or types (rather
// too many than too few), so that what the statement may have done to its session can be found out;
// that is not good enough to send it to a standby. What is odd is Unknown. The text itself is not
// kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "parser/facts.h"
#include "parser/stream_lexer.h"

namespace weir::parser {

// Words: long_statement.cc, the rest: long_punctuation.cc.
class LongStatement {
public:
  // The next token, of StreamLexer; semicolons that end the statement are not among them.
  void take(StreamToken token, std::string_view text);
  // Kind Unknown: it could be anything.
  Statement finish();

private:
  // What the next name is.
  enum class Expect : std::uint8_t { Nothing, Target, Relation, Type };
  // What a pair of parentheses holds; the first frame is the statement itself.
  enum class Hold : std::uint8_t { Any, Call, Cast, Columns, Cte };
  // Where a list of WITH queries has got to.
  enum class With : std::uint8_t { No, Name, As, Body, After };
  // What the statement is wrapped in.
  enum class Wrap : std::uint8_t {
    None,
    CopyBegin,
    CopyQuery,
    CopyTo,
    CopyStdout,
    CopyOptions,
    PrepareName,
    PrepareTypes,
    Prepare
  };
  enum class Last : std::uint8_t {
    Begin,
    Keyword,
    Word,
    Name,
    String,
    Number,
    Close,
    Operator,
    Symbol
  };

  struct Frame {
    Hold hold = Hold::Any;
    With with = With::No;
    StatementKind verb = StatementKind::Unknown;
    bool fresh = true;       // nothing was read in it
    bool selected = false;   // INSERT: its query or VALUES has begun
    bool open_set = false;   // UNION or the like: another SELECT may follow
    bool from_list = false;  // a comma is followed by another relation
    bool in_from = false;    // it stands where a relation may
    bool after_item = false; // a relation was read: an alias may follow
    bool listed = false;     // DELETE: its USING was read, others are of joins
    bool window = false;     // WINDOW name AS (...)
    bool recursive = false;
    bool inner_with = false;    // WITH behind INSERT INTO ...
    std::size_t ctes = 0;       // how many were known when it began
    std::size_t inner_ctes = 0; // ... and when the inner WITH did
    std::string cte;            // being defined
  };

  bool wrapped(StreamToken token, std::string_view text);
  bool prepare_types(StreamToken token, std::string_view text);
  void word(std::string_view written);
  void name(std::string_view text);
  void literal();
  void number(bool parameter);
  void typed();
  void operator_(std::string_view text);
  void symbol(char c, bool colon);

  void begin_cte(std::string name);
  void with_word(const std::string& word);
  bool verb(const std::string& word);
  void set_verb(StatementKind kind);
  bool clause(const std::string& word);
  void relation_clause(const std::string& word);
  void word_operators(const std::string& word);
  void add_operators(std::initializer_list<std::string_view> names);
  void name_part(std::string text, bool quoted);
  void add_type(const Name& name);
  static void add_once(std::vector<Name>& list, Name name);
  void finish_chain();
  bool takes_string() const;
  bool no_call() const;
  Hold held(Frame& inner);
  void open();
  void close();
  void comma();
  bool after_operand(Last last, const std::string& word) const;
  Frame& frame() { return frames_.back(); }
  void give_up() { unknown_ = true; }

  std::vector<Frame> frames_{1};
  std::vector<std::string> ctes_; // in scope
  std::size_t cte_depth_ = 0;     // frames that hold WITH queries
  Wrap wrap_ = Wrap::None;
  Expect expect_ = Expect::Nothing;
  Last last_ = Last::Begin;
  Last before_ = Last::Begin; // what stood before the last unquoted word,
  std::string word_;          // which was this one, in lower case;
  std::string earlier_word_;  // and the words right before it, if they were words
  std::string earliest_word_;
  bool unknown_ = false;
  bool in_chain_ = false; // a name was read that may go on with a point, or be a call
  bool after_point_ = false;
  bool chain_quoted_ = false;
  bool chain_is_alias_ = false;
  bool colon_ = false;    // the first of two
  bool point_ = false;    // digits must follow
  bool odd_with_ = false; // WITH that must be followed by TIME ZONE and the like
  Name chain_;
  Statement statement_;
};

} // namespace weir::parser
