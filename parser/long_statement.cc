#include "parser/long_statement.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "parser/long_words.h"
#include "parser/names.h"

namespace weir::parser {
namespace {

constexpr std::size_t kMaxNames = 60; // functions, relations and types together; operators apart
constexpr std::size_t kMaxName = 63;  // bytes: longer ones are cut by the server

} // namespace

void LongStatement::take(StreamToken token, std::string_view text) {
  if (unknown_)
    return;
  const bool point = std::exchange(point_, false) && token != StreamToken::Number;
  if (text.size() > kMaxName || point || (odd_with_ && token != StreamToken::Word))
    return give_up();
  const bool colon = std::exchange(colon_, false);
  const std::size_t depth = frames_.size();
  if (!wrapped(token, text)) {
    switch (token) {
    case StreamToken::Word:
      word(text);
      break;
    case StreamToken::Name:
      name(text);
      break;
    case StreamToken::EscapedName:
      return give_up();
    case StreamToken::String:
      literal();
      break;
    case StreamToken::Number:
      number(text == "$");
      break;
    case StreamToken::Operator:
      operator_(text);
      break;
    case StreamToken::Symbol:
      symbol(text.front(), colon);
      break;
    }
  }
  if (frames_.size() <= depth)
    frame().fresh =
        frame().fresh && token == StreamToken::Word && word_ == "as" && wrap_ == Wrap::Prepare;
}

// COPY and PREPARE have a grammar of their own around the statement in them.
bool LongStatement::wrapped(StreamToken token, std::string_view text) {
  const bool is_word = token == StreamToken::Word;
  const bool is_open = token == StreamToken::Symbol && text == "(";
  const auto go_on = [&](bool right, Wrap next) {
    if (!right)
      give_up();
    wrap_ = next;
    return true;
  };
  switch (wrap_) {
  case Wrap::None:
    if (last_ != Last::Begin || !is_word)
      return false;
    if (lower(text) == "copy")
      return last_ = Last::Keyword, go_on(true, Wrap::CopyBegin);
    if (lower(text) == "prepare")
      return last_ = Last::Keyword, go_on(true, Wrap::PrepareName);
    return false;
  case Wrap::CopyBegin:
    go_on(is_open, Wrap::CopyQuery);
    return open(), true;
  case Wrap::CopyTo:
    return go_on(is_word && lower(text) == "to", Wrap::CopyStdout);
  case Wrap::CopyStdout:
    return go_on(is_word && lower(text) == "stdout", Wrap::CopyOptions);
  case Wrap::CopyOptions:
    return true;
  case Wrap::PrepareName:
    statement_.identifier = is_word ? lower(text) : std::string(text);
    return go_on(is_word || token == StreamToken::Name, Wrap::PrepareTypes);
  case Wrap::PrepareTypes:
    return prepare_types(token, text);
  case Wrap::CopyQuery:
  case Wrap::Prepare:
    return false;
  }
  return false;
}

// PREPARE name (types) AS
bool LongStatement::prepare_types(StreamToken token, std::string_view text) {
  if (frames_.size() > 1)
    return false;
  if (token == StreamToken::Symbol && text == "(" && last_ == Last::Keyword) {
    open();
    expect_ = Expect::Type;
    return true;
  }
  if (token != StreamToken::Word || lower(text) != "as")
    return give_up(), true;
  wrap_ = Wrap::Prepare;
  frame().fresh = true;
  word_ = "as";
  last_ = Last::Begin;
  return true;
}

void LongStatement::word(std::string_view written) {
  const std::string now = lower(written);
  const bool adjacent = last_ == Last::Keyword || last_ == Last::Word;
  earliest_word_ = adjacent ? std::move(earlier_word_) : std::string();
  earlier_word_ = adjacent ? std::move(word_) : std::string();
  word_ = now;
  before_ = last_;
  if (contains_temp(now))
    return give_up();
  if (std::exchange(odd_with_, false)) {
    if (now == "ordinality")
      return; // an alias may follow
    if (now != "time" && now != "ties")
      return give_up();
  }
  if (after_point_)
    return name_part(now, false);
  finish_chain();
  if (frame().with != With::No)
    return with_word(now);
  const bool named = last_ == Last::Keyword && earlier_word_ == "as" &&
                     frame().hold != Hold::Cast && wrap_ != Wrap::PrepareTypes;
  const bool alias = frame().after_item && !is_reserved(now) && now != "join" && now != "values";
  if (named || alias) {
    frame().after_item = false;
    word_operators(now); // NATURAL
    name_part(now, false);
    chain_is_alias_ = true;
    return;
  }
  if (verb(now) || unknown_)
    return;
  if (frames_.size() == 1 && frame().verb == StatementKind::Unknown)
    return give_up();
  if (clause(now)) {
    last_ = Last::Keyword;
    return;
  }
  if (!unknown_)
    name_part(now, false);
}

void LongStatement::name(std::string_view text) {
  if (contains_temp(text))
    return give_up();
  if (after_point_)
    return name_part(std::string(text), true);
  finish_chain();
  if (frame().with == With::Name)
    return begin_cte(std::string(text));
  if (frame().with != With::No)
    return give_up();
  const bool named = last_ == Last::Keyword && word_ == "as" && frame().hold != Hold::Cast;
  const bool alias = std::exchange(frame().after_item, false);
  name_part(std::string(text), true);
  chain_is_alias_ = named || alias;
}

void LongStatement::begin_cte(std::string name) {
  frame().cte = std::move(name);
  frame().with = With::As;
  last_ = Last::Name;
  if (frame().recursive)
    ctes_.push_back(frame().cte);
}

// In a list of WITH queries, outside of them.
void LongStatement::with_word(const std::string& word) {
  last_ = Last::Keyword;
  switch (frame().with) {
  case With::Name:
    if (word == "recursive" && earlier_word_ == "with") {
      frame().recursive = true;
      return;
    }
    return begin_cte(word);
  case With::As:
    if (word != "as")
      give_up();
    frame().with = With::Body;
    return;
  case With::Body:
    if (word != "not" && word != "materialized")
      give_up();
    return;
  case With::After:
    frame().with = With::No;
    frame().fresh = frame().verb == StatementKind::Unknown;
    if (word == "with" || !verb(word))
      give_up();
    return;
  case With::No:
    return;
  }
}

// Words that begin a statement or query, where one may begin.
bool LongStatement::verb(const std::string& word) {
  using Kind = StatementKind;
  Frame& here = frame();
  last_ = Last::Keyword;
  const bool into_query = here.verb == Kind::Insert && !here.selected;
  if (word == "with") {
    if (here.fresh || into_query) {
      here.with = With::Name;
      here.inner_with = into_query;
      here.inner_ctes = ctes_.size();
    } else {
      odd_with_ = true;
    }
    return true;
  }
  if (word == "select" || word == "values" || word == "table") {
    if (word == "values" && earlier_word_ == "default")
      return true;
    if (!here.fresh && !here.open_set && !into_query)
      return give_up(), true;
    here.open_set = false;
    if (into_query)
      here.selected = true;
    else
      set_verb(Kind::Select);
    expect_ = word == "table" ? Expect::Relation : Expect::Nothing;
    return true;
  }
  const bool update = word == "update";
  if (update && is_any_of({"do", "for", "key"}, earlier_word_))
    return true;
  if (!update && word != "insert" && word != "delete" && word != "merge") {
    last_ = before_;
    return false;
  }
  const bool whole = frames_.size() == 1 || here.hold == Hold::Cte ||
                     (wrap_ == Wrap::CopyQuery && frames_.size() == 2);
  if (!here.fresh || !whole || word == "merge")
    return give_up(), true;
  set_verb(update ? Kind::Update : word == "insert" ? Kind::Insert : Kind::Delete);
  expect_ = update ? Expect::Target : Expect::Nothing;
  return true;
}

void LongStatement::set_verb(StatementKind kind) {
  frame().verb = kind;
  if (frame().hold != Hold::Cte)
    frame().hold = Hold::Any;
  if (cte_depth_ > 0) {
    statement_.modifying_cte |= kind != StatementKind::Select;
    return;
  }
  if (statement_.kind != StatementKind::Unknown)
    return;
  if (wrap_ == Wrap::CopyQuery)
    kind = kind == StatementKind::Select ? StatementKind::CopyOut : StatementKind::CopyOther;
  statement_.kind = wrap_ == Wrap::Prepare ? StatementKind::Prepare : kind;
}

// True: a keyword, and not also a name.
bool LongStatement::clause(const std::string& word) {
  if (is_feared(word))
    return give_up(), true;
  word_operators(word);
  Frame& here = frame();
  if (word == "only" || word == "lateral")
    return true;
  if (is_reserved(word)) {
    expect_ = Expect::Nothing;
    here.after_item = false;
  }
  if (ends_relations(word))
    here.from_list = false;
  const bool scope_ends = word == "returning" || (word == "conflict" && earlier_word_ == "on");
  if (scope_ends && std::exchange(here.inner_with, false))
    ctes_.resize(here.inner_ctes);
  if (is_any_of({"union", "except", "intersect"}, word))
    here.open_set = true;
  here.window = word == "window" || (here.window && word != "order");
  if (word == "returning" && here.hold == Hold::Call)
    give_up(); // RETURNING type
  if (word == "as" && here.hold == Hold::Cast)
    expect_ = Expect::Type;
  if (word == "join" && after_operand(before_, earlier_word_)) {
    expect_ = Expect::Relation;
    here.after_item = false;
    return true;
  }
  relation_clause(word);
  return is_reserved(word);
}

// INTO, FROM, USING: names follow.
void LongStatement::relation_clause(const std::string& word) {
  Frame& here = frame();
  if (word == "into") {
    if (earlier_word_ != "insert")
      return give_up();
    expect_ = Expect::Target;
  } else if (word == "from" && here.verb == StatementKind::Delete && earlier_word_ == "delete") {
    expect_ = Expect::Target;
  } else if (word == "from" && here.verb != StatementKind::Unknown) {
    if (earlier_word_ == "distinct" && is_any_of({"is", "not"}, earliest_word_))
      return;
    expect_ = Expect::Relation;
    here.from_list = true;
  } else if (word == "using" && here.verb == StatementKind::Delete &&
             !std::exchange(here.listed, true)) {
    expect_ = Expect::Relation;
    here.from_list = true;
  }
}

void LongStatement::add_operators(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names)
    add_once(statement_.operators, {"", std::string(name)});
}

// Operators that words stand for.
void LongStatement::word_operators(const std::string& word) {
  if (is_any_of({"case", "using", "natural", "distinct", "nullif"}, word))
    add_operators({"="});
  else if (word == "in")
    add_operators({"=", "<>"});
  else if (word == "between")
    add_operators({"<", "<=", ">", ">="});
  else if (word == "like")
    add_operators({"~~", "!~~"});
  else if (word == "ilike")
    add_operators({"~~*", "!~~*"});
  else if (word == "similar")
    add_operators({"~", "!~"});
}

void LongStatement::name_part(std::string text, bool quoted) {
  if (after_point_) {
    after_point_ = false;
    chain_.schema = std::move(chain_.name); // of database.schema.name the last two count
    chain_.name = std::move(text);
  } else {
    // A column and its type.
    const bool neighbours = last_ == Last::Word || last_ == Last::Name || last_ == Last::Close;
    if (frame().hold == Hold::Columns && neighbours)
      return give_up();
    chain_ = {"", std::move(text)};
    in_chain_ = true;
    chain_is_alias_ = false;
  }
  chain_quoted_ = quoted;
  last_ = quoted ? Last::Name : Last::Word;
}

void LongStatement::add_once(std::vector<Name>& list, Name name) {
  if (std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(std::move(name));
}

void LongStatement::add_type(const Name& name) {
  const bool plain = !chain_quoted_ && name.schema.empty();
  const std::string_view meant =
      plain ? grammar_type(name.name, earlier_word_) : std::string_view();
  add_once(statement_.types, meant.empty() ? name : Name{"pg_catalog", std::string(meant)});
}

// The name that was read is whole: what is it?
void LongStatement::finish_chain() {
  if (!std::exchange(in_chain_, false))
    return;
  if (after_point_)
    return give_up();
  if (std::exchange(chain_is_alias_, false))
    return;
  switch (std::exchange(expect_, Expect::Nothing)) {
  case Expect::Target:
    add_once(statement_.written_relations, chain_);
    frame().after_item = true;
    break;
  case Expect::Relation:
    if (!chain_.schema.empty() || std::find(ctes_.begin(), ctes_.end(), chain_.name) == ctes_.end())
      add_once(statement_.relations, chain_);
    frame().after_item = true;
    break;
  case Expect::Type:
    add_type(chain_);
    break;
  case Expect::Nothing:
    break;
  }
}

// Has a value just ended, so that what follows can only be an operator?
bool LongStatement::after_operand(Last last, const std::string& word) const {
  switch (last) {
  case Last::Word:
  case Last::Name:
  case Last::String:
  case Last::Number:
  case Last::Close:
    return true;
  case Last::Keyword:
    return is_reserved_value(word);
  default:
    return false;
  }
}

Statement LongStatement::finish() {
  using Kind = StatementKind;
  finish_chain();
  const Statement& made = statement_;
  const bool whole = !unknown_ && frames_.size() == 1 && frame().with == With::No && !odd_with_;
  const bool wrapped = wrap_ == Wrap::None || wrap_ == Wrap::CopyOptions || wrap_ == Wrap::Prepare;
  const bool reads =
      made.kind != Kind::Insert && made.kind != Kind::Update && made.kind != Kind::Delete;
  const bool target = reads || !made.written_relations.empty();
  const bool few = made.relations.size() + made.written_relations.size() + made.functions.size() +
                           made.types.size() <=
                       kMaxNames &&
                   made.operators.size() <= kMaxNames;
  if (!whole || !wrapped || !target || !few)
    return {};
  return std::move(statement_);
}

} // namespace weir::parser
