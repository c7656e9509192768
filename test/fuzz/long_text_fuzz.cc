// A text that streams by is taken for what it is: the pieces do not matter, and whatever the parser knows of a text that
// both can look at, the words have told as well: the kind, every name that may run code, and that there is nothing to fear.
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

bool same(const Statement& a, const Statement& b) {
  return a.kind == b.kind && a.relations == b.relations && a.written_relations == b.written_relations &&
         a.functions == b.functions && a.types == b.types && a.operators == b.operators;
}

// Names that the grammar itself puts in are PostgreSQL's own.
bool has(const std::vector<Name>& list, const Name& name) {
  return name.schema == "pg_catalog" || std::any_of(list.begin(), list.end(), [&](const Name& other) { return other.name == name.name; });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096)
    return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Statement told = look(text, size).statements.at(0);
  if (!same(told, look(text, 1).statements.at(0)) || !same(told, look(text, 7).statements.at(0)))
    wrong("the pieces matter", text);
  if (told.kind == StatementKind::Unknown)
    return 0;
  const StatementFacts parsed = classify(text);
  const Statement& real = parsed.statements.at(0);
  if (real.kind == StatementKind::Unknown)
    return 0; // no statement at all, or one of another grammar: the server refuses it
  if (parsed.statements.size() != 1 || real.kind != told.kind)
    wrong("another statement", text);
  if (real.opaque_effects || real.creates_temp || real.modifying_cte || real.select_into || !real.sets.empty())
    wrong("something to fear", text);
  for (const Name& name : real.written_relations) {
    if (!has(told.written_relations, name))
      wrong("a target", text);
  }
  for (const Name& name : real.relations) {
    if (!has(told.relations, name) && !has(told.functions, name))
      wrong("a relation", text);
  }
  for (const Name& name : real.functions) {
    if (!has(told.functions, name))
      wrong("a function", text);
  }
  for (const Name& name : real.types) {
    if (!has(told.types, name))
      wrong("a type", text);
  }
  return 0;
}
