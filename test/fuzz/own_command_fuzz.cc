// Any text -> a statement of pgweir's own or none; what is one is one for classify() too, unless the
// grammar has it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "parser/classify.h"
#include "parser/own_command.h"

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::parser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto own = read_own_command(text);
  const auto plain = read_own_command(text, true);
  require(!plain || (own && own->identifier == plain->identifier && own->argument == plain->argument));
  if (!own)
    return 0;
  require(own->kind == StatementKind::PoolShow && own->argument.size() <= text.size());
  require(own->identifier != "pgpool" || !own->argument.empty());
  const auto again = read_own_command(" /* a */" + std::string(text) + "\n;;");
  require(again && again->identifier == own->identifier && again->argument == own->argument);
  if (text.find('\0') != std::string_view::npos || size > 1000)
    return 0;
  const StatementFacts facts = classify(text);
  require(facts.statements.size() == 1);
  const Statement& found = facts.statements.front();
  require(found.kind == StatementKind::PoolShow && found.identifier == own->identifier &&
          found.argument == own->argument);
  return 0;
}
