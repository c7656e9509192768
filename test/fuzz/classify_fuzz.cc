// Any text has facts, and the cache gives the same ones whatever it has seen.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "parser/classify.h"
#include "parser/facts_cache.h"
#include "test/unit/parser/describe.h"

namespace {

void require(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::parser;
  static FactsCache cache(500, std::size_t{1} << 20U);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const StatementFacts facts = classify(text);
  require(!facts.statements.empty(), "no statement");
  for (const Statement& statement : facts.statements) {
    require(!statement.creates_temp || !statement.written_relations.empty() ||
                statement.mentions_temp,
            "a temp object that nobody names");
    require(!statement.modifying_cte || !statement.written_relations.empty(),
            "a change of nothing");
    for (const SetChange& change : statement.sets) {
      require(!change.replay.empty(), "nothing to replay");
      const StatementFacts again = classify(change.replay);
      require(again.statements.size() == 1 && again.statements[0].sets.size() == 1,
              "a replay that is no SET");
      require(again.statements[0].sets[0].parameter == change.parameter,
              "a replay of another parameter");
      require(again.statements[0].sets[0].scope == change.scope, "a replay of another scope");
      require(again.statements[0].sets[0].literal == change.literal, "a replay of another value");
    }
  }
  require(describe(cache.get(text)->facts) == describe(facts), "the cache disagrees");
  require(describe(cache.get(text)->facts) == describe(facts),
          "the cache disagrees the second time");
  return 0;
}
