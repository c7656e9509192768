// Facts as one line of text, for tables and messages: "Select r=t,app.u f=now o== now_like; Set
// id=work_mem ...". Fields that are empty are left out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/facts.h"

namespace weir::parser {

inline std::string_view kind_name(StatementKind kind) {
  switch (kind) {
#define WEIR_KIND(name)                                                                            \
  case StatementKind::name:                                                                        \
    return #name
    WEIR_KIND(Unknown);
    WEIR_KIND(Empty);
    WEIR_KIND(Select);
    WEIR_KIND(CopyOut);
    WEIR_KIND(CopyOther);
    WEIR_KIND(Show);
    WEIR_KIND(Set);
    WEIR_KIND(Reset);
    WEIR_KIND(SetTransaction);
    WEIR_KIND(Begin);
    WEIR_KIND(Commit);
    WEIR_KIND(Rollback);
    WEIR_KIND(Savepoint);
    WEIR_KIND(Release);
    WEIR_KIND(RollbackTo);
    WEIR_KIND(TwoPhase);
    WEIR_KIND(Insert);
    WEIR_KIND(Update);
    WEIR_KIND(Delete);
    WEIR_KIND(Merge);
    WEIR_KIND(Prepare);
    WEIR_KIND(Execute);
    WEIR_KIND(Deallocate);
    WEIR_KIND(DeclareCursor);
    WEIR_KIND(Fetch);
    WEIR_KIND(CloseCursor);
    WEIR_KIND(Listen);
    WEIR_KIND(Unlisten);
    WEIR_KIND(Notify);
    WEIR_KIND(Discard);
    WEIR_KIND(Lock);
    WEIR_KIND(Explain);
    WEIR_KIND(Call);
    WEIR_KIND(Do);
    WEIR_KIND(Load);
    WEIR_KIND(Vacuum);
    WEIR_KIND(Ddl);
    WEIR_KIND(OtherWrite);
    WEIR_KIND(PoolShow);
#undef WEIR_KIND
  }
  return "?";
}

inline void describe_names(std::string& out, std::string_view label,
                           const std::vector<Name>& names) {
  std::string_view separator = "";
  for (const Name& name : names) {
    if (separator.empty())
      (out += ' ').append(label) += '=';
    out += separator;
    if (!name.schema.empty())
      (out += name.schema) += '.';
    out += name.name;
    separator = ",";
  }
}

inline void describe_modes(std::string& out, const TransactionModes& modes) {
  using Isolation = TransactionModes::Isolation;
  if (modes.isolation == Isolation::ReadUncommitted)
    out += " read_uncommitted";
  if (modes.isolation == Isolation::ReadCommitted)
    out += " read_committed";
  if (modes.isolation == Isolation::RepeatableRead)
    out += " repeatable_read";
  if (modes.isolation == Isolation::Serializable)
    out += " serializable";
  if (modes.read_only == Tristate::Yes)
    out += " read_only";
  if (modes.read_only == Tristate::No)
    out += " read_write";
  if (modes.deferrable == Tristate::Yes)
    out += " deferrable";
  if (modes.deferrable == Tristate::No)
    out += " not_deferrable";
  if (modes.chain)
    out += " chain";
}

inline void describe_set(std::string& out, const SetChange& change) {
  out += change.scope == SetScope::Local ? " [local " : " [";
  if (change.action == SetAction::Value)
    out += change.parameter;
  if (change.action == SetAction::Reset)
    out += "reset " + change.parameter;
  if (change.action == SetAction::ResetAll)
    out += "reset all";
  if (change.has_literal)
    out += "=" + change.literal;
  out += " | " + change.replay + "]";
}

inline std::string describe(const Statement& statement) {
  std::string out(kind_name(statement.kind));
  if (statement.body != StatementKind::Unknown)
    (out += '/').append(kind_name(statement.body));
  describe_names(out, "r", statement.relations);
  describe_names(out, "w", statement.written_relations);
  describe_names(out, "f", statement.functions);
  describe_names(out, "o", statement.operators);
  describe_names(out, "t", statement.types);
  if (!statement.identifier.empty())
    out += " id=" + statement.identifier;
  if (!statement.argument.empty())
    out += " argument=<" + statement.argument + ">";
  const std::pair<bool, std::string_view> flags[] = {
      {statement.row_locks, "row_locks"},
      {statement.modifying_cte, "modifying_cte"},
      {statement.select_into, "into"},
      {statement.creates_temp, "creates_temp"},
      {statement.temp_use == TempUse::Names, "temp_names"},
      {statement.mentions_temp, "mentions_temp"},
      {statement.now_like, "now_like"},
      {statement.no_transaction_block, "no_block"},
      {statement.opaque_effects, "opaque"},
      {statement.with_hold, "with_hold"},
      {statement.all, "all"},
  };
  for (const auto& [set, name] : flags) {
    if (set)
      (out += ' ').append(name);
  }
  describe_modes(out, statement.transaction);
  for (const SetChange& change : statement.sets)
    describe_set(out, change);
  return out;
}

inline std::string describe(const StatementFacts& facts) {
  std::string out;
  switch (facts.hint.kind) {
  case Hint::Kind::None:
    break;
  case Hint::Kind::NoLoadBalance:
    out += "no_load_balance: ";
    break;
  case Hint::Kind::Primary:
    out += "primary: ";
    break;
  case Hint::Kind::Standby:
    out += "standby: ";
    break;
  case Hint::Kind::Node:
    out += "node " + std::to_string(facts.hint.node) + ": ";
    break;
  }
  if (facts.exact_text_only)
    out += "exact ";
  std::string_view separator = "";
  for (const Statement& statement : facts.statements) {
    out += separator;
    out += describe(statement);
    separator = "; ";
  }
  return out;
}

} // namespace weir::parser
