#include "parser/long_text.h"

#include <algorithm>
#include <utility>

#include "parser/classify.h"
#include "parser/names.h"

namespace weir::parser {
namespace {

// Bounds of what one text may cost.
constexpr std::size_t kMaxParsed = 4 * kMaxText; // bytes given to the parser
constexpr std::size_t kMaxStatements = 200;      // that are not alike
constexpr std::size_t kMaxRuns = 4000;
constexpr std::size_t kMaxNames = 300;

void join(std::vector<Name>& to, std::vector<Name>& from, std::size_t& names) {
  for (Name& name : from) {
    if (std::find(to.begin(), to.end(), name) != to.end())
      continue;
    to.push_back(std::move(name));
    ++names;
  }
}

} // namespace

void LongText::feed(std::string_view bytes) {
  if (!unknown_)
    lexer_.feed(bytes);
}

void LongText::on_token(StreamToken token, std::string_view text) {
  if (unknown_)
    return;
  if (token == StreamToken::Symbol) {
    if (text == ";" && depth_ == 0)
      return end_statement(false);
    if (text == "(")
      ++depth_;
    if (text == ")" && depth_-- == 0) {
      unknown_ = true;
      return;
    }
  }
  if (token == StreamToken::Word && (!begun_ || creates_)) {
    const std::string word = lower(text);
    creates_ = creates_ || word == "create";
    // BEGIN ATOMIC: semicolons are part of the statement.
    if (word == "atomic")
      unknown_ = true;
  }
  begun_ = true;
  words_.take(token, text);
}

void LongText::end_statement(bool last) {
  const bool alone = last && facts_.statements.empty();
  if (begun_) {
    // The parser tells more, the words cost less.
    Statement statement = alone ? parsed() : Statement{};
    if (statement.kind == StatementKind::Unknown)
      statement = words_.finish();
    if (statement.kind == StatementKind::Unknown && !alone)
      statement = parsed();
    add(std::move(statement));
  }
  begun_ = creates_ = false;
  words_ = LongStatement();
  lexer_.restart_kept();
}

// Without its comments it may not be long. Kind Unknown: it is, or is not understood.
Statement LongText::parsed() {
  std::string_view text = lexer_.kept();
  if (!lexer_.kept_whole() || parsed_ + text.size() > kMaxParsed)
    return {};
  parsed_ += text.size();
  if (text.ends_with(';'))
    text.remove_suffix(1);
  StatementFacts facts = classify(text);
  // What pgweir would have answered itself went to a server.
  if (facts.statements.size() != 1 || facts.statements.front().kind == StatementKind::PoolShow)
    return {};
  return std::move(facts.statements.front());
}

// Of these it does not matter which of them did what.
bool LongText::merges(const Statement& statement) {
  Statement plain = kind_and_names(statement);
  plain.now_like = statement.now_like;
  plain.row_locks = statement.row_locks;
  return plain == statement;
}

void LongText::add(Statement statement) {
  auto& list = facts_.statements;
  const bool merged = merges(statement);
  auto same = std::find_if(list.begin(), list.end(), [&](const Statement& other) {
    return merged ? other.kind == statement.kind && merges(other) : other == statement;
  });
  if (same == list.end()) {
    names_ += statement.relations.size() + statement.written_relations.size() +
              statement.functions.size() + statement.operators.size() + statement.types.size();
    list.push_back(std::move(statement));
    same = std::prev(list.end());
  } else if (merged) {
    join(same->relations, statement.relations, names_);
    join(same->written_relations, statement.written_relations, names_);
    join(same->functions, statement.functions, names_);
    join(same->operators, statement.operators, names_);
    join(same->types, statement.types, names_);
    same->now_like = same->now_like || statement.now_like;
    same->row_locks = same->row_locks || statement.row_locks;
  }
  const auto index = static_cast<std::uint32_t>(same - list.begin());
  if (facts_.runs.empty() || facts_.runs.back().index != index)
    facts_.runs.push_back({index, 0});
  ++facts_.runs.back().count;
  unknown_ = same->kind == StatementKind::Unknown || list.size() > kMaxStatements ||
             facts_.runs.size() > kMaxRuns || names_ > kMaxNames;
}

StatementFacts LongText::finish() {
  if (!unknown_)
    unknown_ = !lexer_.finish() || depth_ != 0;
  if (!unknown_)
    end_statement(true);
  if (unknown_ || facts_.statements.empty()) {
    facts_ = StatementFacts{};
    facts_.statements.emplace_back();
    if (!unknown_)
      facts_.statements.back().kind = StatementKind::Empty;
  }
  if (facts_.runs.size() == facts_.statements.size() && facts_.runs.size() == 1 &&
      facts_.runs.front().count == 1)
    facts_.runs.clear();
  facts_.exact_text_only = true;
  return std::move(facts_);
}

} // namespace weir::parser
