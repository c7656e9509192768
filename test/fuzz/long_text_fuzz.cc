// A text that streams by is taken for what it is: the pieces do not matter, and whatever the parser knows of a text that
// both can look at, the words have told as well: each statement in its order with its kind, its settings, every name that
// may run code, and that there is nothing to fear. Words are also tried alone, where short texts would be parsed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "parser/classify.h"
#include "parser/long_text.h"

namespace {

using namespace weir::parser;

[[noreturn]] void wrong(const char* what, std::string_view text) {
  std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

StatementFacts look(std::string_view text, std::size_t piece) {
  LongText scan;
  for (std::size_t at = 0; at < text.size(); at += piece)
    scan.feed(text.substr(at, piece));
  return scan.finish();
}

bool same(const StatementFacts& a, const StatementFacts& b) {
  return a.statements == b.statements &&
         std::equal(a.runs.begin(), a.runs.end(), b.runs.begin(), b.runs.end(),
                    [](const StatementRun& x, const StatementRun& y) { return x.index == y.index && x.count == y.count; });
}

// Names that the grammar itself puts in are PostgreSQL's own.
bool has(const std::vector<Name>& list, const Name& name) {
  return name.schema == "pg_catalog" || std::any_of(list.begin(), list.end(), [&](const Name& other) { return other.name == name.name; });
}


void compare(const Statement& told, const Statement& real, std::string_view text) {
  if (real.kind != told.kind || real.identifier != told.identifier || real.transaction != told.transaction || real.all != told.all)
    wrong("another statement", text);
  // Comments are missing in what is replayed.
  const auto alike = [](SetChange x, SetChange y) {
    x.replay.clear();
    y.replay.clear();
    return x == y;
  };
  if (!std::equal(real.sets.begin(), real.sets.end(), told.sets.begin(), told.sets.end(), alike))
    wrong("another setting", text);
  const bool fearless = told.opaque_effects || !real.opaque_effects;
  if (!fearless || (real.creates_temp && !told.creates_temp) || (real.modifying_cte && !told.modifying_cte) ||
      (real.select_into && !told.select_into))
    wrong("something to fear", text);
  for (const Name& name : real.relations) {
    if (!has(told.relations, name) && !has(told.functions, name))
      wrong("a relation", text);
  }
  const auto all = [&](const std::vector<Name>& names, const std::vector<Name>& among, const char* what) {
    if (!std::all_of(names.begin(), names.end(), [&](const Name& name) { return has(among, name); }))
      wrong(what, text);
  };
  all(real.written_relations, told.written_relations, "a target");
  all(real.functions, told.functions, "a function");
  all(real.operators, told.operators, "an operator");
  all(real.types, told.types, "a type");
}

// All statements by their words alone, as if none were short enough for the parser.
void words_alone(std::string_view text) {
  struct Words : StreamSink {
    LongStatement statement;
    void on_token(StreamToken token, std::string_view token_text) override { statement.take(token, token_text); }
  } words;
  StreamLexer lexer(words);
  lexer.feed(text);
  if (!lexer.finish())
    return;
  const Statement told = words.statement.finish();
  if (told.kind == StatementKind::Unknown)
    return;
  const StatementFacts parsed = classify(text);
  if (parsed.statements.at(0).kind == StatementKind::Unknown)
    return; // no statement at all, or one of another grammar: the server refuses it
  if (parsed.statements.size() != 1)
    wrong("another number of statements", text);
  if (parsed.statements[0].opaque_effects || parsed.statements[0].creates_temp || parsed.statements[0].select_into)
    wrong("something to fear", text);
  compare(told, parsed.statements[0], text);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096)
    return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  words_alone(text);
  const StatementFacts told = look(text, size);
  if (!same(told, look(text, 1)) || !same(told, look(text, 7)))
    wrong("the pieces matter", text);
  if (told.statements.at(0).kind == StatementKind::Unknown)
    return 0;
  const StatementFacts parsed = classify(text);
  if (parsed.statements.at(0).kind == StatementKind::Unknown)
    return 0;
  StatementCursor cursor;
  for (const Statement& real : parsed.statements) {
    const Statement* next = cursor.next(told);
    if (next == nullptr)
      wrong("too few statements", text);
    compare(*next, real, text);
  }
  if (cursor.next(told) != nullptr)
    wrong("too many statements", text);
  return 0;
}
