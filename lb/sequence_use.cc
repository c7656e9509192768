#include "lb/sequence_use.h"

namespace weir::lb {
namespace {

using parser::Statement;
using parser::StatementKind;

constexpr SequenceUse kBoth{true, true, false};

SequenceUse use_of_kind(const Statement& statement, bool told) {
  switch (statement.kind) {
    case StatementKind::Unknown:
    case StatementKind::Call:
    case StatementKind::Do:
    case StatementKind::Load: return kBoth;
    case StatementKind::Execute: return told ? SequenceUse{} : kBoth;
    case StatementKind::Ddl:  // a column that is added to rows
    case StatementKind::OtherWrite: return {true, false, false};
    default: return statement.opaque_effects ? kBoth : SequenceUse{};
  }
}

// By name alone: a function of that name in another schema is treated alike. A default that a table gets is not CALLED yet.
void add_function(const parser::Name& function, bool called, SequenceUse& use) {
  if (function.name == "nextval" || function.name == "setval") use.draws = true;
  if (function.name != "currval" && function.name != "lastval") return;
  use.asks = true;
  use.named = use.named || called;
}

}  // namespace

SequenceUse sequence_use(const parser::StatementFacts& facts, const Resolved& resolved, bool told) {
  SequenceUse use;
  if (resolved.user_functions || resolved.draws || !resolved.unverified.empty()) use = kBoth;
  for (const Statement& statement : facts.statements) {
    const SequenceUse one = use_of_kind(statement, told);
    use.draws = use.draws || one.draws;
    use.asks = use.asks || one.asks;
    for (const parser::Name& function : statement.functions) add_function(function, statement.kind != StatementKind::Ddl, use);
  }
  // A view, say, that is no plain read: its query may ask.
  if (resolved.verdict != Verdict::Plain && resolved.reads_beyond) use.asks = true;
  return use;
}

}  // namespace weir::lb
