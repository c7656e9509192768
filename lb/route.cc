#include "lb/route.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "lb/objection.h"

namespace weir::lb {
namespace {

using parser::Hint;
using parser::SetAction;
using parser::SetChange;
using parser::Statement;
using parser::StatementKind;
using parser::TransactionModes;
using parser::Tristate;

// In a block that is open on a standby these are the block's own.
bool of_the_block(std::string_view parameter) {
  return parameter == "transaction_isolation" || parameter == "transaction_read_only" ||
         parameter == "transaction_deferrable";
}

// A SET that a standby takes as the primary would, and that has no part in what a transaction may do.
bool plain_set(const SetChange& change) {
  if (change.action == SetAction::ResetAll) return true;
  const std::string_view name = change.parameter;
  return !name.empty() && name != "role" && name != "session_authorization" && name != "session_characteristics" &&
         !name.starts_with("transaction_") && !name.starts_with("default_transaction_");
}

bool is_read(const Statement& statement, const RouteItem& item) {
  switch (statement.kind) {
    case StatementKind::Select:
    case StatementKind::CopyOut:
    case StatementKind::Show: return true;
    case StatementKind::Explain: return statement.body == StatementKind::Select;
    case StatementKind::Execute: return item.executed != nullptr;
    default: return false;
  }
}

bool read_committed(TransactionModes::Isolation isolation) {
  return isolation == TransactionModes::Isolation::Unset || isolation == TransactionModes::Isolation::ReadCommitted ||
         isolation == TransactionModes::Isolation::ReadUncommitted;
}

std::optional<Reason> objection_of_hint(const Hint& hint) {
  if (hint.kind == Hint::Kind::NoLoadBalance) return Reason::HintNoLoadBalance;
  if (hint.kind == Hint::Kind::Primary) return Reason::HintPrimary;
  return std::nullopt;
}

// Follows an exchange through the blocks that it opens and ends, and stops at the first statement that may not run on a
// standby.
class Walk {
 public:
  enum class Block { None, Opening, Open };

  // BLOCK is what is open or held when the exchange begins, with these modes.
  Walk(const SessionRouting& session, Block block, const TransactionModes& modes) : session_(session), block_(block), modes_(modes) {}
  Walk(const SessionRouting& session, Block block) : Walk(session, block, session.block_modes) {}

  // A read from now on may mean something else than its facts were resolved for.
  void state_has_changed() { state_changed_ = true; }

  std::optional<Reason> step(const Statement& statement, const RouteItem& item) {
    if (statement.kind != StatementKind::Empty) only_empty_ = false;
    if (block_ == Block::Opening && statement.kind != StatementKind::SetTransaction &&
        statement.kind != StatementKind::Empty) {
      // One that may write and does not begin with a read is likely to write next.
      if (modes_.read_only != Tristate::Yes && !session_.block_held && !is_read(statement, item)) return Reason::BeginReadWrite;
      if (const auto objection = open()) return objection;
    }
    if (item.primary_pattern) return Reason::PrimaryPattern;
    if (item.kept_by_write && statement.kind != StatementKind::Show && is_read(statement, item)) return item.kept_by_write;
    switch (statement.kind) {
      case StatementKind::Empty:
        return std::nullopt;
      case StatementKind::Select:
      case StatementKind::CopyOut:
        return read(statement, item.resolved);
      case StatementKind::Explain:
        return statement.body == StatementKind::Select ? read(statement, item.resolved) : objection_of_kind(statement.kind);
      case StatementKind::Execute:
        return execute(statement, item);
      case StatementKind::Show:
        return show(statement);
      case StatementKind::Begin:
        return begin(statement);
      case StatementKind::SetTransaction:
        return set_transaction(statement);
      default:
        return block_ == Block::None ? objection_of_kind(statement.kind) : in_block(statement);
    }
  }

  // At the end of the exchange: a BEGIN that stands last must be judged too.
  std::optional<Reason> finish() {
    if (block_ != Block::Opening) return std::nullopt;
    if (modes_.read_only != Tristate::Yes) return Reason::BeginReadWrite;
    return open();
  }

  // The modes of the BEGIN are all known: may its block be on a standby?
  std::optional<Reason> open() {
    const bool explicit_level = modes_.isolation != TransactionModes::Isolation::Unset && read_committed(modes_.isolation);
    const bool usual = explicit_level || (read_committed(modes_.isolation) && !session_.unusual_isolation);
    // A standby refuses to be told READ WRITE.
    if (modes_.read_only == Tristate::No || !usual) return Reason::BeginReadWrite;
    if (modes_.read_only == Tristate::Unset && session_.transactions_kept) return Reason::TransactionsKept;
    if (const auto objection = objection_of_session(session_)) return objection;
    if (session_.may_have_temp) return Reason::TempObjects;
    block_ = Block::Open;
    opened_ = true;
    return std::nullopt;
  }

  bool opened() const { return opened_; }
  bool only_empty() const { return only_empty_; }

 private:
  std::optional<Reason> begin(const Statement& statement) {
    if (block_ != Block::None) return Reason::TransactionControl;  // the server's warning is the primary's to give
    if (statement.opaque_effects || !statement.sets.empty()) return Reason::BeginReadWrite;
    modes_ = statement.transaction;
    block_ = Block::Opening;
    return std::nullopt;
  }

  std::optional<Reason> set_transaction(const Statement& statement) {
    if (block_ == Block::None) return Reason::TransactionControl;
    const TransactionModes& modes = statement.transaction;
    const bool says_nothing = modes.read_only == Tristate::Unset && modes.deferrable == Tristate::Unset &&
                              modes.isolation == TransactionModes::Isolation::Unset;
    // SET TRANSACTION SNAPSHOT, or a mode given as a setting: SET transaction_read_only = ...
    if (says_nothing) return Reason::TransactionControl;
    if (block_ == Block::Opening) {
      if (modes.read_only != Tristate::Unset) modes_.read_only = modes.read_only;
      if (modes.isolation != TransactionModes::Isolation::Unset) modes_.isolation = modes.isolation;
      return std::nullopt;
    }
    const bool harmless = modes.read_only != Tristate::No && read_committed(modes.isolation);
    if (harmless && modes.read_only == Tristate::Yes) modes_.read_only = Tristate::Yes;
    return harmless ? std::nullopt : std::optional(Reason::TransactionControl);
  }

  // The arguments are expressions, and count like the statement that they are for.
  std::optional<Reason> execute(const Statement& statement, const RouteItem& item) const {
    if (item.executed == nullptr || item.executed->statements.size() != 1) return item.not_executed;
    const Statement& executed = item.executed->statements.front();
    const bool by_sql = executed.kind == StatementKind::Prepare;
    const StatementKind kind = by_sql ? executed.body : executed.kind;
    if (const auto objection = objection_of_hint(item.executed->hint)) return objection;
    if (kind == StatementKind::Unknown) return item.not_executed;
    if (kind != StatementKind::Select) return objection_of_kind(kind).value_or(item.not_executed);
    // Words such as 'now' mean the moment of its Parse, which is another one on every node.
    if (!by_sql && executed.now_like) return item.not_executed;
    if (const auto objection = read(statement, item.resolved)) return objection;
    return read(executed, item.executed_resolved);
  }

  std::optional<Reason> read(const Statement& statement, const Resolved* resolved) const {
    if (const auto objection = objection_of_features(statement)) return objection;
    if (const auto objection = objection_of_session(session_)) return objection;
    if (session_.may_have_temp && may_name_temp(statement, session_)) return Reason::TempObjects;
    if (resolved == nullptr) return Reason::CatalogPending;
    if (resolved->verdict != Verdict::Plain) return resolved->reason;
    if (session_.may_have_temp && resolved->late_names) return Reason::TempObjects;
    if (block_ != Block::None && (statement.now_like || resolved->tells_time)) return Reason::NowInBlock;
    if (state_changed_) return Reason::StateThenRead;
    return std::nullopt;
  }

  std::optional<Reason> show(const Statement& statement) const {
    if (const auto objection = objection_of_session(session_)) return objection;
    const std::string_view name = statement.identifier;
    if (same_everywhere(name)) return std::nullopt;
    const bool read_only = modes_.read_only == Tristate::Yes || name != "transaction_read_only";
    if (block_ != Block::None && read_only && of_the_block(name)) return std::nullopt;
    const auto& own = session_.session_parameters;
    const bool is_own = std::find(own.begin(), own.end(), name) != own.end();
    if (!is_own) return Reason::NodeSetting;
    return state_changed_ ? std::optional(Reason::StateThenRead) : std::nullopt;
  }

  std::optional<Reason> in_block(const Statement& statement) {
    switch (statement.kind) {
      case StatementKind::Commit:
      case StatementKind::Rollback:
        if (!statement.transaction.chain) block_ = Block::None;
        state_changed_ = true;  // SET LOCAL ends; a rollback also undoes SETs
        return std::nullopt;
      case StatementKind::Savepoint:
      case StatementKind::Release:
        return std::nullopt;
      case StatementKind::RollbackTo:
        state_changed_ = true;
        return std::nullopt;
      case StatementKind::Set:
      case StatementKind::Reset:
        return set(statement);
      default:
        return objection_of_kind(statement.kind);
    }
  }

  std::optional<Reason> set(const Statement& statement) {
    if (statement.mentions_temp) return Reason::TempObjects;
    if (statement.opaque_effects || statement.sets.empty()) return Reason::SessionChange;
    if (!std::all_of(statement.sets.begin(), statement.sets.end(), plain_set)) return Reason::SessionChange;
    state_changed_ = true;
    return std::nullopt;
  }

  const SessionRouting& session_;
  Block block_;
  TransactionModes modes_;
  bool opened_ = false;
  bool state_changed_ = false;
  bool only_empty_ = true;
};

struct Objection {
  Reason reason;  // MultiStatement where one string holds several statements
  Reason cause;
};

std::optional<Objection> walk_all(std::span<const RouteItem> items, Walk& walk, std::size_t skip = 0) {
  for (const RouteItem& item : items) {
    const auto& statements = item.facts->statements;
    if (statements.empty()) return Objection{Reason::Unparsable, Reason::Unparsable};
    for (const Statement& statement : statements) {
      if (skip > 0) {
        --skip;
        continue;
      }
      if (const auto cause = walk.step(statement, item)) {
        return Objection{statements.size() > 1 ? Reason::MultiStatement : *cause, *cause};
      }
    }
  }
  if (const auto cause = walk.finish()) {
    const bool several = items.back().facts->statements.size() > 1;
    return Objection{several ? Reason::MultiStatement : *cause, *cause};
  }
  return std::nullopt;
}

// The hint that counts: one for the primary before all others.
Hint find_hint(std::span<const RouteItem> items) {
  Hint found;
  for (const RouteItem& item : items) {
    const Hint& hint = item.facts->hint;
    if (hint.kind == Hint::Kind::NoLoadBalance || hint.kind == Hint::Kind::Primary) return hint;
    if (found.kind == Hint::Kind::None) found = hint;
  }
  return found;
}

Target make_target(Scope scope, Reason reason, Reason cause) {
  Target target;
  target.scope = scope;
  target.reason = reason;
  target.cause = cause;
  return target;
}

Target make_target(Scope scope, Reason reason) { return make_target(scope, reason, reason); }

Target block_moves(Reason cause) { return make_target(Scope::Primary, Reason::BlockMoves, cause); }

bool all_pool_show(std::span<const RouteItem> items) {
  return std::all_of(items.begin(), items.end(), [](const RouteItem& item) {
    const auto& statements = item.facts->statements;
    return !statements.empty() && std::all_of(statements.begin(), statements.end(), [](const Statement& statement) {
      return statement.kind == StatementKind::PoolShow;
    });
  });
}

// A failed block on a standby stays there; only where the exchange itself ends the failure and goes on with something
// that is not for a standby must it move first.
Target route_aborted(std::span<const RouteItem> items, const SessionRouting& session) {
  const Target stays = make_target(Scope::SameNode, Reason::AbortedBlock);
  const auto& statements = items.front().facts->statements;
  if (statements.empty()) return stays;
  const Statement& first = statements.front();
  const bool ends = first.kind == StatementKind::Rollback || first.kind == StatementKind::Commit;
  if (!ends && first.kind != StatementKind::RollbackTo) return stays;
  if (statements.size() == 1 && items.size() == 1) return stays;
  // Of the modes of the failed block a chained one has those that it was chained with itself.
  Walk walk = !ends                     ? Walk(session, Walk::Block::Open)
              : first.transaction.chain ? Walk(session, Walk::Block::Open, session.chained_modes)
                                        : Walk(session, Walk::Block::None);
  walk.state_has_changed();
  const auto objection = walk_all(items, walk, 1);
  return objection ? block_moves(objection->cause) : stays;
}

Target route_in_standby_block(std::span<const RouteItem> items, const SessionRouting& session) {
  if (const auto objection = objection_of_text(session)) return block_moves(*objection);
  if (const auto objection = objection_of_hint(find_hint(items))) return block_moves(*objection);
  Walk walk(session, Walk::Block::Open);
  const auto objection = walk_all(items, walk);
  return objection ? block_moves(objection->cause) : make_target(Scope::SameNode, Reason::BlockOnStandby);
}

Target route_idle(std::span<const RouteItem> items, const SessionRouting& session, const Policy& policy) {
  if (const auto objection = objection_of_text(session)) return make_target(Scope::Primary, *objection);
  const Hint hint = find_hint(items);
  if (const auto objection = objection_of_hint(hint)) return make_target(Scope::Primary, *objection);
  Walk walk(session, session.block_held ? Walk::Block::Opening : Walk::Block::None);
  if (const auto objection = walk_all(items, walk)) {
    return make_target(Scope::Primary, objection->reason, objection->cause);
  }
  if (!policy.load_balance()) return make_target(Scope::Primary, Reason::LoadBalanceOff);
  if (hint.kind == Hint::Kind::Node && hint.node >= 0) {
    Target target = make_target(Scope::Node, Reason::HintNode);
    target.node = hint.node;
    return target;
  }
  if (walk.only_empty()) return make_target(Scope::AnyReadable, Reason::NothingToRun);
  const Reason cause = walk.opened() ? Reason::BeginBalanced : Reason::PlainRead;
  const bool standby = hint.kind == Hint::Kind::Standby;
  Target target = make_target(Scope::AnyReadable, standby ? Reason::HintStandby : cause, cause);
  target.prefer_standby = standby;
  return target;
}

bool only_reads(std::span<const RouteItem> items) {
  return std::all_of(items.begin(), items.end(), [](const RouteItem& item) {
    const auto& statements = item.facts->statements;
    return std::all_of(statements.begin(), statements.end(), [](const Statement& statement) {
      return statement.kind == StatementKind::Select || statement.kind == StatementKind::CopyOut || statement.kind == StatementKind::Empty;
    });
  });
}

// A block is open on the primary. What may run beside it must mean there what it means in the block.
Target route_in_primary_block(std::span<const RouteItem> items, const SessionRouting& session, const Policy& policy) {
  const Target stays = make_target(Scope::SameNode, Reason::InTransaction);
  if (!session.reads_aside || items.empty() || !policy.load_balance() || !only_reads(items)) return stays;
  const auto stays_for = [](Reason cause) { return make_target(Scope::SameNode, Reason::InTransaction, cause); };
  if (const auto objection = objection_of_text(session)) return stays_for(*objection);
  const Hint hint = find_hint(items);
  if (const auto objection = objection_of_hint(hint)) return stays_for(*objection);
  Walk walk(session, Walk::Block::Open);
  if (const auto objection = walk_all(items, walk)) return stays_for(objection->cause);
  if (walk.only_empty()) return stays;
  const bool to_node = hint.kind == Hint::Kind::Node && hint.node >= 0;
  Target target = make_target(to_node ? Scope::Node : Scope::AnyReadable, Reason::ReadAside);
  if (to_node) target.node = hint.node;
  target.prefer_standby = hint.kind == Hint::Kind::Standby;
  target.aside = true;
  return target;
}

}  // namespace

Target route(std::span<const RouteItem> items, const SessionRouting& session, const Policy& policy) {
  const bool in_block = session.transaction_status != 'I';
  const bool aborted = session.transaction_status == 'E';
  if (!items.empty() && !aborted && all_pool_show(items)) return make_target(Scope::Local, Reason::LocalCommand);
  if (in_block && !session.block_on_standby && !session.block_held) {
    return aborted ? make_target(Scope::SameNode, Reason::AbortedBlock) : route_in_primary_block(items, session, policy);
  }
  if (items.empty()) return make_target(in_block ? Scope::SameNode : Scope::Primary, Reason::NothingToRun);
  if (aborted) return route_aborted(items, session);
  return in_block && !session.block_held ? route_in_standby_block(items, session) : route_idle(items, session, policy);
}

bool may_hold(const Statement& begin, const SessionRouting& session, const Policy& policy) {
  if (begin.kind != StatementKind::Begin || begin.opaque_effects || !begin.sets.empty()) return false;
  if (!policy.load_balance() || session.transaction_status != 'I' || objection_of_text(session)) return false;
  return !Walk(session, Walk::Block::Opening, begin.transaction).open();
}

}  // namespace weir::lb
