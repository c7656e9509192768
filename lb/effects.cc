#include "lb/effects.h"

#include <algorithm>
#include <array>

namespace weir::lb {
namespace {

using parser::SetAction;
using parser::SetChange;
using parser::SetScope;
using parser::Statement;
using parser::StatementKind;

using Isolation = parser::TransactionModes::Isolation;

// Settings that change what a plain BEGIN opens. A RESET brings back the client's own startup value, and so nothing
// that was not so before.
void add_isolation(const Statement& statement, const SetChange& change, Effects& out) {
  if (change.scope == SetScope::Local || change.action != SetAction::Value) return;
  if (change.parameter == "session_characteristics") {
    const Isolation level = statement.transaction.isolation;
    out.unusual_isolation = true;
    if (level == Isolation::Serializable) out.serializable_default = true;
  } else if (change.parameter == "default_transaction_isolation") {
    const bool committed = change.has_literal && change.literal == "read committed";
    const bool repeatable = change.has_literal && change.literal == "repeatable read";
    if (!committed) out.unusual_isolation = true;
    if (!committed && !repeatable) out.serializable_default = true;
  } else if (change.parameter.starts_with("default_transaction_")) {
    out.unusual_isolation = true;
  }
}

void add_discard(const Statement& statement, Effects& out) {
  if (statement.all || statement.identifier == "all") {
    out.named.push_back({NamedChange::DiscardAll, {}});
  } else if (statement.identifier == "temp" || statement.identifier == "temporary") {
    out.named.push_back({NamedChange::DiscardTemp, {}});
  } else if (statement.identifier == "sequences") {
    out.named.push_back({NamedChange::DiscardSequences, {}});
  } else if (statement.identifier == "plans") {
    out.named.push_back({NamedChange::DiscardPlans, {}});
  } else {
    out.opaque_state = true;
  }
}

void add_named(const Statement& statement, Effects& out) {
  const std::string_view name = statement.identifier;
  const auto add = [&](NamedChange one, NamedChange all) {
    if (statement.all) {
      out.named.push_back({all, {}});
    } else {
      out.named.push_back({one, name});
    }
  };
  switch (statement.kind) {
    case StatementKind::DeclareCursor:
      out.named.push_back({statement.with_hold ? NamedChange::OpenHoldCursor : NamedChange::OpenCursor, name});
      break;
    case StatementKind::CloseCursor:
      add(NamedChange::CloseCursor, NamedChange::CloseAllCursors);
      break;
    case StatementKind::Prepare:
      out.named.push_back({NamedChange::Prepare, name});
      break;
    case StatementKind::Deallocate:
      add(NamedChange::Deallocate, NamedChange::DeallocateAll);
      break;
    case StatementKind::Listen:
      out.named.push_back({NamedChange::Listen, name});
      break;
    case StatementKind::Unlisten:
      add(NamedChange::Unlisten, NamedChange::UnlistenAll);
      break;
    case StatementKind::Discard:
      add_discard(statement, out);
      break;
    default:
      break;
  }
}

bool makes_only_temp(const Statement& statement) {
  return statement.creates_temp && statement.temp_use == parser::TempUse::Names;
}

void add_temp(const Statement& statement, Effects& out) {
  const bool ddl = statement.kind == StatementKind::Ddl || statement.select_into;
  if (makes_only_temp(statement)) {
    out.named.push_back({NamedChange::CreateTemp, statement.written_relations.front().name});
  } else if (ddl && statement.temp_use != parser::TempUse::None) {
    out.temp_unclear = true;
  }
  if (statement.creates_temp) out.may_have_temp = true;
  if (!statement.mentions_temp || statement.kind == StatementKind::Discard) return;
  // Naming pg_temp in a search_path is enough: with it in front a plain CREATE TABLE makes a temp table.
  out.may_have_temp = true;
  if (!statement.sets.empty() || statement.opaque_effects || statement.kind == StatementKind::Set ||
      statement.kind == StatementKind::Reset) {
    out.temp_unclear = true;
  }
}

void add_statement(const Statement& statement, Effects& out) {
  switch (statement.kind) {
    case StatementKind::Unknown:
      out.opaque_state = true;
      out.may_have_temp = true;
      out.temp_unclear = true;
      out.unusual_isolation = true;
      out.serializable_default = true;
      out.changes_catalog = true;
      break;
    case StatementKind::Do:
      out.opaque_state = true;
      out.changes_catalog = true;
      break;
    case StatementKind::Call:
    case StatementKind::Load:
      out.opaque_state = true;
      break;
    case StatementKind::Ddl:
      // Other DDL on temp objects may name permanent ones.
      out.changes_catalog = !makes_only_temp(statement) || out.changes_catalog;
      break;
    case StatementKind::TwoPhase:
      // COMMIT PREPARED may publish another session's DDL.
      out.changes_catalog = true;
      break;
    default:
      break;
  }
  if (statement.select_into && !makes_only_temp(statement)) out.changes_catalog = true;
  add_temp(statement, out);
  if (statement.opaque_effects) out.opaque_state = true;
  if (statement.no_transaction_block) out.refuses_block = true;
  for (const SetChange& change : statement.sets) add_isolation(statement, change, out);
  add_named(statement, out);
}

// A statement that is, or runs one that is, of this KIND.
bool writes(const Statement& statement, StatementKind kind) {
  if (statement.row_locks || statement.modifying_cte || statement.select_into) return true;
  switch (kind) {
    case StatementKind::Unknown:
    case StatementKind::TwoPhase:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::Merge:
    case StatementKind::Execute:
    case StatementKind::Lock:
    case StatementKind::Call:
    case StatementKind::Do:
    case StatementKind::Vacuum:
    case StatementKind::Ddl:
    case StatementKind::OtherWrite: return true;
    case StatementKind::CopyOther: return !statement.written_relations.empty();
    case StatementKind::Explain: return !statement.written_relations.empty() || statement.opaque_effects;
    default: return false;
  }
}

}  // namespace

Effects effects(const parser::StatementFacts& facts, const Resolved& resolved) {
  Effects out;
  for (const Statement& statement : facts.statements) add_statement(statement, out);
  const auto unclassified = [](const Statement& statement) { return statement.kind == StatementKind::Unknown; };
  out.catalog_by_tag =
      out.changes_catalog && std::all_of(facts.statements.begin(), facts.statements.end(), unclassified);
  if (resolved.user_functions) out.opaque_state = true;
  out.session_locks = resolved.session_locks;
  out.unverified = resolved.unverified;
  return out;
}

bool counts_as_write(const parser::StatementFacts& facts, const Resolved& resolved) {
  if (resolved.user_functions) return true;
  return std::any_of(facts.statements.begin(), facts.statements.end(),
                     [](const Statement& statement) { return writes(statement, statement.kind); });
}

bool execution_counts_as_write(const parser::StatementFacts& facts, const Resolved& resolved) {
  if (resolved.user_functions) return true;
  return std::any_of(facts.statements.begin(), facts.statements.end(), [](const Statement& statement) {
    return writes(statement, statement.kind == StatementKind::Prepare ? statement.body : statement.kind);
  });
}

bool tag_may_change_catalog(std::string_view tag) {
  static constexpr std::array<std::string_view, 22> kQuiet = {
      "SELECT",  "INSERT",   "UPDATE",  "DELETE",    "MERGE",  "COPY",           "FETCH",   "MOVE",
      "SHOW",    "SET",      "RESET",   "BEGIN",     "COMMIT", "ROLLBACK",       "EXPLAIN", "SAVEPOINT",
      "RELEASE", "PREPARE",  "EXECUTE", "DEALLOCATE", "LISTEN", "START TRANSACTION",
  };
  return std::none_of(kQuiet.begin(), kQuiet.end(), [&](std::string_view quiet) {
    return tag == quiet || (tag.starts_with(quiet) && tag.size() > quiet.size() && tag[quiet.size()] == ' ' &&
                            tag.find_first_not_of(" 0123456789", quiet.size()) == std::string_view::npos);
  });
}

}  // namespace weir::lb
