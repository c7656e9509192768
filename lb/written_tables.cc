#include "lb/written_tables.h"

#include <algorithm>
#include <utility>

namespace weir::lb {
namespace {

using parser::Name;
using parser::Statement;
using parser::StatementKind;

enum class Writes { Nothing, Named, Everything };

// By its kind alone.
Writes writes_of(const Statement& statement, bool executed) {
  // What is made is not known to the catalogue facts yet, nor what it hides.
  if (statement.opaque_effects || statement.creates_temp || statement.select_into) return Writes::Everything;
  switch (executed && statement.kind == StatementKind::Prepare ? statement.body : statement.kind) {
    case StatementKind::Empty:
    case StatementKind::Show:
    case StatementKind::Set:
    case StatementKind::Reset:
    case StatementKind::SetTransaction:
    case StatementKind::Begin:
    case StatementKind::Commit:
    case StatementKind::Rollback:
    case StatementKind::Savepoint:
    case StatementKind::Release:
    case StatementKind::RollbackTo:
    case StatementKind::Prepare:
    case StatementKind::Deallocate:
    case StatementKind::Fetch:  // what it runs was told when the cursor was made
    case StatementKind::CloseCursor:
    case StatementKind::Listen:
    case StatementKind::Unlisten:
    case StatementKind::Notify:
    case StatementKind::Lock:
    case StatementKind::PoolShow:
      return Writes::Nothing;
    case StatementKind::Select:
    case StatementKind::CopyOut:
    case StatementKind::CopyOther:
    case StatementKind::DeclareCursor:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::Merge:
      return Writes::Named;
    case StatementKind::Explain:  // with ANALYZE it runs what it explains
      return statement.body == StatementKind::Select ? Writes::Named : Writes::Everything;
    case StatementKind::Unknown:
    case StatementKind::TwoPhase:
    case StatementKind::Execute:
    case StatementKind::Discard:
    case StatementKind::Call:
    case StatementKind::Do:
    case StatementKind::Load:
    case StatementKind::Vacuum:
    case StatementKind::Ddl:
    case StatementKind::OtherWrite:
      return Writes::Everything;
  }
  return Writes::Everything;
}

}  // namespace

void WrittenTables::add(std::string name, const ObjectRelations& relations) {
  if (has(name)) return;
  if (names_.size() >= kMaxNames) {
    everything_ = true;
    return;
  }
  names_.push_back(std::move(name));
  // The list may be a circle: a name that is there already ends it.
  if (const auto* dependents = relations.dependents(names_.back())) {
    for (const std::string& dependent : *dependents) add(dependent, relations);
  }
}

bool WrittenTables::has(std::string_view name) const {
  return everything_ || std::find(names_.begin(), names_.end(), name) != names_.end();
}

void note_written(const parser::StatementFacts& facts, const Resolved& resolved, bool executed,
                  const ObjectRelations& relations, WrittenTables& written) {
  if (written.everything()) return;
  for (const Statement& statement : facts.statements) {
    const Writes writes = writes_of(statement, executed);
    if (writes == Writes::Nothing) continue;
    if (writes == Writes::Everything || resolved.writes_beyond) return written.add_everything();
    for (const Name& name : statement.written_relations) written.add(adaptive_name(name.name, false), relations);
    if (relations.empty()) continue;
    for (const Name& name : statement.functions) {
      std::string function = adaptive_name(name.name, true);
      if (relations.is_object(function)) written.add(std::move(function), relations);
    }
  }
}

bool reads_written(const parser::StatementFacts& facts, const Resolved& resolved, const WrittenTables& written) {
  if (written.none()) return false;
  if (written.everything() || resolved.reads_beyond) return true;
  return std::any_of(facts.statements.begin(), facts.statements.end(), [&](const Statement& statement) {
    const auto has = [&](const std::vector<Name>& names, bool function) {
      return std::any_of(names.begin(), names.end(), [&](const Name& name) { return written.has(adaptive_name(name.name, function)); });
    };
    return has(statement.relations, false) || has(statement.functions, true);
  });
}

}  // namespace weir::lb
