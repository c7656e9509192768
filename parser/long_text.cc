#include "parser/long_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "parser/lexical.h"
#include "parser/names.h"

namespace weir::parser {
namespace {

constexpr std::size_t kMaxToken = 200; // names are cut at 63 bytes
constexpr std::size_t kMaxNames = 60;  // of each sort

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Words that a parenthesis may follow without a call.
constexpr auto kNoCall = std::to_array<std::string_view>({
    "and",      "or",       "not",    "in",       "any",      "some",     "all",     "exists",
    "values",   "select",   "from",   "where",    "using",    "on",       "as",      "over",
    "filter",   "within",   "group",  "by",       "having",   "limit",    "offset",  "union",
    "except",   "intersect", "when",  "then",     "else",     "case",     "between", "like",
    "ilike",    "is",       "row",    "array",    "returning", "set",     "conflict", "partition",
    "distinct", "lateral",  "join",   "coalesce", "nullif",   "default"});
constexpr auto kGrammarCalls = std::to_array<std::string_view>({"greatest", "least", "only", "unique"});

// What these do hangs on more than names.
constexpr auto kFeared = std::to_array<std::string_view>({
    "with",   "cast",      "xmlparse", "set_config", "setseed",   "tablesample", "operator",
    "collate", "overlay",  "prepare",  "treat",      "json_table", "xmltable",   "into"});

// A string may follow these; behind any other word it is a typed literal or a special string.
constexpr auto kBeforeString = std::to_array<std::string_view>({
    "and",   "or",    "not",      "in",      "like",   "ilike",     "to",      "between", "then", "else",
    "when",  "case",  "select",   "values",  "is",     "from",      "by",      "as",      "where", "set",
    "escape", "returning", "limit", "offset", "on",    "having",    "distinct", "all",    "using", "similar"});

// Clauses that end a list of relations.
constexpr auto kEndsFrom = std::to_array<std::string_view>({
    "where", "group",  "having",    "window",    "union", "except", "intersect", "order",
    "limit", "offset", "returning", "fetch",     "for",   "set",    "on"});

constexpr auto kOperators = std::to_array<std::string_view>({
    "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "||", "::", "->", "->>", "@>"});

bool feared(std::string_view word) {
  return one_of(kFeared, word) || word.starts_with("dblink") || word.ends_with("_to_xml") ||
         word.ends_with("_to_xmlschema") || word.starts_with("xml");
}

// A name follows these.
bool announces(std::string_view word) {
  constexpr auto kWords = std::to_array<std::string_view>({"into", "from", "update", "join", "using", "only", "lateral", "table"});
  return one_of(kWords, word);
}

bool is_operator(char c) {
  constexpr std::string_view kChars = "+-*/<>=~!@#%^&|`?:";
  return kChars.find(c) != std::string_view::npos;
}

void add(std::vector<Name>& list, Name name) {
  if (std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(std::move(name));
}

} // namespace

void LongText::feed(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size() && !unknown_; ++i) {
    // Most of a long text is strings.
    if (state_ == State::String) {
      const std::size_t quote = bytes.find('\'', i);
      if (quote == std::string_view::npos)
        return;
      i = quote;
    }
    step(bytes[i]);
  }
}

void LongText::step(char c) {
  switch (state_) {
  case State::Word:
    if (is_word_part(c)) {
      if (token_.size() >= kMaxToken)
        return give_up();
      token_ += c;
      return;
    }
    if (c == '\'')
      return give_up(); // E'...', X'...', a typed literal; nobody writes IN'...'
    state_ = State::Normal;
    end_word();
    break;
  case State::Number:
    // $1, and no dollar quote.
    if (std::exchange(previous_, '\0') == '$' && (c < '0' || c > '9'))
      return give_up();
    if (c == '$')
      return give_up();
    if (is_word_part(c) || c == '.')
      return;
    state_ = State::Normal;
    break;
  case State::String:
    if (c == '\'')
      state_ = State::StringQuote;
    return;
  case State::StringQuote:
    if (c == '\'') {
      state_ = State::String;
      return;
    }
    state_ = State::Normal;
    after_string_ = true;
    break;
  case State::Name:
    if (c == '"') {
      state_ = State::NameQuote;
      return;
    }
    if (token_.size() >= kMaxToken)
      return give_up();
    token_ += c;
    return;
  case State::NameQuote:
    if (c == '"') {
      token_ += '"';
      state_ = State::Name;
      return;
    }
    state_ = State::Normal;
    end_name();
    break;
  case State::Dash:
    if (c == '-') {
      state_ = State::LineComment;
      return;
    }
    token_ = "-";
    state_ = State::Operator;
    break;
  case State::Slash:
    if (c == '*') {
      state_ = State::BlockComment;
      comment_depth_ = 1;
      previous_ = 0;
      return;
    }
    token_ = "/";
    state_ = State::Operator;
    break;
  case State::LineComment:
    if (c == '\n' || c == '\r')
      state_ = State::Normal;
    return;
  case State::BlockComment:
    return block_comment(c);
  case State::Operator:
  case State::Normal:
    break;
  }
  if (state_ == State::Operator) {
    if (c == '-' && !token_.empty()) {
      end_operator(); // it may begin a comment
    } else if (c == '/' || (c == '*' && token_ == "/")) {
      return give_up();
    } else if (is_operator(c)) {
      token_ += c;
      if (token_.size() > 8)
        give_up();
      return;
    } else {
      end_operator();
    }
    state_ = State::Normal;
  }
  if (!unknown_)
    normal(c);
}

void LongText::block_comment(char c) {
  if (previous_ == '/' && c == '*') {
    ++comment_depth_;
    previous_ = 0;
  } else if (previous_ == '*' && c == '/') {
    previous_ = 0;
    if (--comment_depth_ == 0)
      state_ = State::Normal;
  } else {
    previous_ = c;
  }
}

void LongText::normal(char c) {
  if (is_blank(c))
    return;
  if (c == '-') {
    finish_chain();
    state_ = State::Dash;
    return;
  }
  if (c == '/') {
    state_ = State::Slash;
    return;
  }
  if (ended_ && c != ';')
    return give_up(); // a second statement
  if (is_word_start(c)) {
    token_.assign(1, c);
    state_ = State::Word;
  } else if (c >= '0' && c <= '9') {
    finish_chain();
    state_ = State::Number;
  } else if (c == '\'') {
    // Behind a name that no string can follow: a typed literal.
    if (in_chain_ && (chain_quoted_ || !chain_.schema.empty() || !one_of(kBeforeString, chain_.name)))
      add(statement_.types, chain_);
    finish_chain();
    if (after_string_)
      return give_up(); // 'a' continued on the next line
    state_ = State::String;
    return;
  } else if (c == '"') {
    token_.clear();
    state_ = State::Name;
  } else if (c == '$') {
    finish_chain();
    previous_ = '$';
    state_ = State::Number;
  } else if (is_operator(c)) {
    finish_chain();
    token_.assign(1, c);
    state_ = State::Operator;
  } else {
    symbol(c);
  }
  after_string_ = false;
}

void LongText::end_operator() {
  if (!one_of(kOperators, token_))
    return give_up();
  if (token_ == "::") {
    expect_ = Expect::Type;
  } else if (token_ == "->" || token_ == "->>" || token_ == "@>" || token_ == "||") {
    add(statement_.operators, {"", token_});
  }
  token_.clear();
}

void LongText::end_word() {
  name_part(lower(std::exchange(token_, {})), false);
}

void LongText::end_name() { name_part(std::exchange(token_, {}), true); }

void LongText::name_part(std::string text, bool quoted) {
  if (text.find("pg_temp") != std::string::npos)
    return give_up();
  if (after_point_) {
    after_point_ = false;
    chain_.schema = chain_.name; // of database.schema.name the last two count
    chain_.name = std::move(text);
    chain_quoted_ = quoted;
    return;
  }
  finish_chain();
  if (!quoted) {
    keyword(text);
    if (unknown_)
      return;
  }
  chain_ = {"", std::move(text)};
  chain_quoted_ = quoted;
  in_chain_ = true;
}

// Words count by themselves, and as names too where a name is awaited.
void LongText::keyword(const std::string& word) {
  using Kind = StatementKind;
  if (statement_.kind == Kind::Unknown) {
    if (word == "insert")
      statement_.kind = Kind::Insert;
    else if (word == "update")
      statement_.kind = Kind::Update;
    else if (word == "delete")
      statement_.kind = Kind::Delete;
    else if (word == "select" || word == "values")
      statement_.kind = Kind::Select;
    else
      return give_up();
    if (word == "update")
      expect_ = Expect::Target;
    return;
  }
  const bool first_into = word == "into" && statement_.kind == Kind::Insert && statement_.written_relations.empty() && depth_ == 0;
  if (first_into || (word == "from" && statement_.kind == Kind::Delete && statement_.written_relations.empty() && depth_ == 0)) {
    expect_ = Expect::Target;
    return;
  }
  if (feared(word) || word == "temp" || word == "temporary")
    return give_up();
  if (word == "insert" || word == "delete" || word == "merge")
    return give_up();
  if (word == "only" || word == "lateral")
    return;
  if (word == "from" || word == "join" || word == "using" || word == "table") {
    expect_ = Expect::Relation;
    from_list_ = true;
  } else if (one_of(kEndsFrom, word)) {
    from_list_ = false;
  }
}

// The name that was read is whole: what is it?
void LongText::finish_chain() {
  if (!std::exchange(in_chain_, false))
    return;
  after_point_ = false;
  if (expect_ == Expect::Nothing)
    return;
  const std::string& word = chain_.name;
  const bool plain = !chain_quoted_ && chain_.schema.empty();
  // The word that announces a name is not the name.
  if (plain && announces(word))
    return;
  if (plain && expect_ == Expect::Relation && (word == "select" || word == "values")) {
    expect_ = Expect::Nothing; // FROM (SELECT
    return;
  }
  switch (std::exchange(expect_, Expect::Nothing)) {
  case Expect::Target:
    add(statement_.written_relations, chain_);
    break;
  case Expect::Relation:
    add(statement_.relations, chain_);
    break;
  case Expect::Type:
    add(statement_.types, chain_);
    break;
  case Expect::Nothing:
    break;
  }
}

void LongText::symbol(char c) {
  switch (c) {
  case '.':
    if (in_chain_)
      after_point_ = true;
    else
      give_up();
    return;
  case '(': {
    const bool announced = expect_ == Expect::Target;
    const bool plain = !chain_quoted_ && chain_.schema.empty();
    const bool name = in_chain_;
    const Name called = chain_;
    if (name && feared(called.name))
      return give_up(); // however it is written
    const bool relation = expect_ == Expect::Relation;
    if (name && plain && called.name == "as")
      return give_up(); // a list of columns with their types
    finish_chain();
    if (name && !announced && !(plain && (one_of(kNoCall, called.name) || one_of(kGrammarCalls, called.name))))
      add(statement_.functions, called);
    // JOIN (a JOIN b ...: the name is still to come.
    if (relation && name && !(plain && announces(called.name)))
      expect_ = Expect::Nothing;
    ++depth_;
    return;
  }
  case ')':
    finish_chain();
    if (depth_ == 0)
      return give_up();
    --depth_;
    // Clauses inside may have ended the list of relations that goes on behind.
    from_list_ = from_list_ || !statement_.relations.empty();
    return;
  case ',':
    finish_chain();
    if (from_list_)
      expect_ = Expect::Relation;
    return;
  case ';':
    finish_chain();
    ended_ = true;
    return;
  case '[':
  case ']':
    finish_chain();
    return;
  default:
    give_up();
  }
}

StatementFacts LongText::finish() {
  if (!unknown_)
    step('\n');
  if (!unknown_)
    finish_chain();
  const bool whole = state_ == State::Normal || state_ == State::LineComment;
  const bool target = statement_.kind == StatementKind::Select || statement_.written_relations.size() == 1;
  const bool few = statement_.relations.size() + statement_.functions.size() + statement_.types.size() <= kMaxNames;
  StatementFacts facts;
  if (unknown_ || !whole || depth_ != 0 || !target || !few) {
    facts.statements.emplace_back();
  } else {
    facts.statements.push_back(std::move(statement_));
  }
  facts.exact_text_only = true;
  return facts;
}

} // namespace weir::parser
