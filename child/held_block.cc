#include "child/held_block.h"

namespace weir::child {
namespace {

using parser::Statement;
using parser::StatementKind;
using Kind = BlockAnswer::Kind;

BlockAnswer ended(std::string_view tag, bool chain) {
  return {Kind::Complete, tag, chain ? HeldBlock::Held : HeldBlock::None, chain};
}

// SET TRANSACTION with modes; a snapshot, or a mode that is no literal, is the server's to judge.
bool says_modes(const Statement& statement) {
  const parser::TransactionModes& modes = statement.transaction;
  return !statement.opaque_effects && (modes.read_only != parser::Tristate::Unset || modes.deferrable != parser::Tristate::Unset ||
                                       modes.isolation != parser::TransactionModes::Isolation::Unset);
}

BlockAnswer in_held(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Commit: return ended("COMMIT", statement.transaction.chain);
    case StatementKind::Rollback: return ended("ROLLBACK", statement.transaction.chain);
    case StatementKind::SetTransaction:
      if (!says_modes(statement)) return {};
      return {Kind::Complete, "SET", HeldBlock::Held, true};
    default: return {};
  }
}

BlockAnswer in_aborted(const Statement& statement, bool savepoint_known) {
  switch (statement.kind) {
    case StatementKind::Empty: return {Kind::Empty, {}, HeldBlock::Aborted, true};
    case StatementKind::Commit:
    case StatementKind::Rollback: return ended("ROLLBACK", statement.transaction.chain);
    case StatementKind::RollbackTo:
      if (savepoint_known) return {Kind::Complete, "ROLLBACK", HeldBlock::Held, true};
      return {Kind::NoSavepoint, {}, HeldBlock::Aborted, true};
    default: return {Kind::Refused, {}, HeldBlock::Aborted, true};
  }
}

}  // namespace

BlockAnswer answer_in_block(HeldBlock block, const Statement& statement, bool may_hold, bool savepoint_known) {
  switch (block) {
    case HeldBlock::None:
      if (statement.kind != StatementKind::Begin || !may_hold) return {};
      return {Kind::Complete, "BEGIN", HeldBlock::Held, true};
    case HeldBlock::Held: return in_held(statement);
    case HeldBlock::Aborted: return in_aborted(statement, savepoint_known);
  }
  return {};
}

}  // namespace weir::child
