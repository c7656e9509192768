#include "lb/explain.h"

#include <algorithm>
#include <utility>

#include "lb/judge.h"

namespace weir::lb {
namespace {

using parser::Name;
using parser::Statement;

class Names {
 public:
  Names(const Judge& judge, std::size_t limit) : judge_(judge), limit_(limit) {}

  void add(NameUse use, const std::vector<Name>& names) {
    for (const Name& name : names) {
      if (facts_.size() == limit_) return;
      const bool told = std::any_of(facts_.begin(), facts_.end(),
                                    [&](const NameFact& fact) { return fact.use == use && fact.name == name; });
      if (told) continue;
      const Judgement judgement = judge_.judge(use, name);
      facts_.push_back({use, name, judgement.verdict, judgement.reason});
    }
  }
  std::vector<NameFact> take() { return std::move(facts_); }

 private:
  const Judge& judge_;
  const std::size_t limit_;
  std::vector<NameFact> facts_;
};

}  // namespace

std::vector<NameFact> explain_names(const parser::StatementFacts& facts, const ResolveInput& input, const Policy& policy,
                                    const shmem::CatalogView& catalog, std::size_t limit) {
  const Judge judge(input, policy, catalog);
  Names names(judge, limit);
  for (const Statement& statement : facts.statements) {
    names.add(NameUse::Read, statement.relations);
    names.add(NameUse::Written, statement.written_relations);
    names.add(NameUse::Function, statement.functions);
    names.add(NameUse::Operator, statement.operators);
    names.add(NameUse::Type, statement.types);
  }
  return names.take();
}

std::string_view use_text(NameUse use) {
  switch (use) {
    case NameUse::Read: return "relation";
    case NameUse::Written: return "written relation";
    case NameUse::Function: return "function";
    case NameUse::Operator: return "operator";
    case NameUse::Type: return "type";
    case NameUse::EventTriggers: return "event triggers";
  }
  return "name";
}

std::vector<std::string_view> explain_session(const SessionRouting& session) {
  std::vector<std::string_view> words;
  const auto add = [&](bool is, std::string_view text) {
    if (is) words.push_back(text);
  };
  add(session.transaction_status == 'T' && !session.block_on_standby, "a transaction is open on the primary");
  add(session.transaction_status == 'T' && session.block_on_standby, "a transaction is open on a standby");
  add(session.transaction_status == 'E', "the open transaction has failed");
  add(session.replication, "it is a replication connection");
  add(session.unsafe_encoding, "its client_encoding is one in which a text cannot be read safely");
  add(session.nonstandard_strings, "standard_conforming_strings is off");
  add(session.may_have_temp, "it may have temporary objects");
  add(session.opaque_state, "it ran something whose effects on its state are not known");
  add(session.open_cursor, "it has an open cursor");
  add(session.listening, "it listens for notifications");
  add(session.unusual_isolation, "its transactions may not be READ COMMITTED READ WRITE by default");
  add(session.serializable_default, "its transactions may be SERIALIZABLE by default");
  add(!session.unverified_writes.empty(), "it wrote to a table whose triggers and defaults are not known yet");
  add(session.unverified_effects, "it used names whose effects are not known yet");
  add(session.pinned, "it is bound to its primary connection");
  return words;
}

std::string_view scope_text(const Target& target) {
  switch (target.scope) {
    case Scope::Primary: return "primary";
    case Scope::AnyReadable: return target.prefer_standby ? "standby" : "any";
    case Scope::SameNode: return "same node";
    case Scope::Node: return "node";
    case Scope::Local: return "local";
  }
  return "primary";
}

}  // namespace weir::lb
