// Literals, operators and parentheses of a long statement: see long_statement.h.
#include <cstddef>
#include <utility>

#include "parser/long_statement.h"
#include "parser/long_words.h"

namespace weir::parser {
namespace {

constexpr std::size_t kMaxFrames = 100; // parentheses in each other

} // namespace

void LongStatement::literal() {
  if (last_ == Last::Close || after_point_ || frame().with != With::No || chain_is_alias_)
    return give_up(); // a type with numbers in parentheses
  typed();
  finish_chain();
  last_ = Last::String;
}

// A value stands right behind a name: its type, unless the word is of another kind.
void LongStatement::typed() {
  if (!in_chain_ || (last_ == Last::Word && chain_.schema.empty() && takes_string()))
    return;
  const Name type = chain_;
  finish_chain();
  add_type(type);
}

// The word that was read last is no type, though a string follows.
bool LongStatement::takes_string() const {
  if (is_operator_word(word_))
    return earlier_word_ == "not" || after_operand(before_, earlier_word_);
  return word_ == "by" && is_any_of({"group", "order", "partition"}, earlier_word_);
}

// The parser takes "type $1" too, which the server refuses.
void LongStatement::number(bool parameter) {
  if (frame().with != With::No || after_point_)
    return give_up();
  if (parameter)
    typed();
  finish_chain();
  last_ = Last::Number;
}

void LongStatement::operator_(std::string_view text) {
  if (frame().with != With::No || (after_point_ && text != "*"))
    return give_up();
  if (std::exchange(after_point_, false)) { // t.*
    in_chain_ = false;
    last_ = Last::Close;
    return;
  }
  finish_chain();
  const bool everything = text == "*" && !after_operand(last_, word_);
  last_ = everything ? Last::Close : Last::Operator;
  if (everything || text == "=>")
    return;
  // A sign at the end is one of its own, but for such operators as can't be mistaken.
  while (text.size() > 1 && (text.back() == '+' || text.back() == '-') &&
         text.find_first_of("~!@#^&|`?%") == std::string_view::npos) {
    add_once(statement_.operators, {"", std::string(1, text.back())});
    text.remove_suffix(1);
  }
  add_once(statement_.operators, {"", text == "!=" ? std::string("<>") : std::string(text)});
}

void LongStatement::symbol(char c, bool colon) {
  if (c == '(')
    return open();
  if (c == '.' && in_chain_ && !after_point_) {
    after_point_ = true;
    return;
  }
  if (c == '.' && !after_point_ && !after_operand(last_, word_)) {
    point_ = true; // .5
    return;
  }
  finish_chain();
  switch (c) {
  case ')':
    return close();
  case ',':
    return comma();
  case '[':
    last_ = Last::Symbol;
    break;
  case ']':
    last_ = Last::Close;
    break;
  case ':':
    colon_ = !colon;
    if (colon)
      expect_ = Expect::Type;
    last_ = Last::Symbol;
    break;
  default:
    return give_up();
  }
  if (frame().with != With::No)
    give_up();
}

// Is the word before a parenthesis no function?
bool LongStatement::no_call() const {
  if (chain_quoted_ || !chain_.schema.empty())
    return false;
  if (is_never_called(word_))
    return true;
  if (word_ == "over" || word_ == "filter")
    return before_ == Last::Close;
  if (is_operator_word(word_))
    return earlier_word_ == "not" || after_operand(before_, earlier_word_) ||
           (word_ == "set" && earlier_word_ == "update");
  return (word_ == "by" && is_any_of({"group", "order", "partition"}, earlier_word_)) ||
         (word_ == "conflict" && earlier_word_ == "on") ||
         (word_ == "sets" && earlier_word_ == "grouping") ||
         (word_ == "zone" && earlier_word_ == "time") ||
         (word_ == "varying" && !grammar_type(word_, earlier_word_).empty());
}

LongStatement::Hold LongStatement::held(Frame& inner) {
  Frame& here = frame();
  const bool keyword = last_ == Last::Keyword;
  if (here.with == With::As && !keyword)
    return Hold::Columns;
  if (here.with == With::Body)
    return Hold::Cte;
  if (here.with != With::No)
    return give_up(), Hold::Any;
  if (keyword && word_ == "as" && !here.window && wrap_ != Wrap::PrepareTypes)
    return give_up(), Hold::Any; // columns with their types
  if (!in_chain_) {
    if (expect_ == Expect::Target)
      give_up();
    inner.in_from = expect_ == Expect::Relation;
    return keyword && word_ == "cast" ? Hold::Cast : Hold::Any;
  }
  if (is_feared(chain_.name))
    return give_up(), Hold::Any; // however it is written
  if (chain_is_alias_ || expect_ == Expect::Target || expect_ == Expect::Type) {
    const bool columns = expect_ != Expect::Type;
    finish_chain();
    here.after_item = false;
    return columns ? Hold::Columns : Hold::Any;
  }
  in_chain_ = false;
  const bool relation = std::exchange(expect_, Expect::Nothing) == Expect::Relation;
  if (no_call())
    return Hold::Any;
  inner.in_from = relation;
  add_once(statement_.functions, chain_);
  return Hold::Call;
}

void LongStatement::open() {
  if (after_point_ || frames_.size() >= kMaxFrames)
    return give_up();
  Frame inner;
  inner.hold = held(inner);
  inner.ctes = ctes_.size();
  if (inner.hold == Hold::Cte)
    ++cte_depth_;
  if (!inner.in_from)
    expect_ = Expect::Nothing;
  frame().fresh = false;
  frame().after_item = false;
  frames_.push_back(std::move(inner));
  last_ = Last::Symbol;
}

void LongStatement::close() {
  if (frames_.size() == 1 || frame().with != With::No)
    return give_up();
  const Frame inner = std::move(frames_.back());
  frames_.pop_back();
  ctes_.resize(inner.ctes);
  expect_ = Expect::Nothing;
  last_ = Last::Close;
  Frame& here = frame();
  here.after_item = inner.in_from;
  if (inner.hold == Hold::Cte) {
    --cte_depth_;
    if (!here.recursive)
      ctes_.push_back(here.cte);
    here.with = With::After;
  }
  if (frames_.size() > 1 || wrap_ == Wrap::PrepareTypes)
    return;
  if (here.verb == StatementKind::Unknown && here.with == With::No)
    here.verb = inner.verb; // (SELECT ...) UNION ...
  if (wrap_ == Wrap::CopyQuery)
    wrap_ = Wrap::CopyTo;
}

void LongStatement::comma() {
  Frame& here = frame();
  last_ = Last::Symbol;
  if (here.with == With::After) {
    here.with = With::Name;
  } else if (here.with != With::No) {
    give_up();
  }
  here.after_item = false;
  expect_ = here.from_list                ? Expect::Relation
            : wrap_ == Wrap::PrepareTypes ? Expect::Type
                                          : Expect::Nothing;
}

} // namespace weir::parser
