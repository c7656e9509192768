// Reads beside a block that is open on the primary, and what disable_load_balance_on_write makes of what was written: see
// client_session.h.
#include <algorithm>

#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/recent_tables.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"
#include "lb/reader.h"
#include "lb/written_tables.h"

namespace weir::child {
namespace {

// Whatever the block has, it has no savepoint of this name: the server answers 3B001, and the block has failed.
constexpr std::string_view kFailBlock = "ROLLBACK TO SAVEPOINT \"pgweir: a read beside this block failed\"";

}  // namespace

// Notes what the exchange at hand may write, before it is sent. EXECUTED: by EXECUTE of what the text has prepared.
void ClientSession::note_written(const Resolution& resolution, bool executed) {
  const lb::Policy& policy = worker_.policy();
  if (policy.write_keeps() == lb::WriteKeeps::Nothing) {
    // What a name means may have changed, and no standby knows it.
    if (resolution.effects.changes_catalog) written_.add_everything();
    return;
  }
  lb::note_written(resolution.facts->facts, resolution.resolved, executed, policy.relations(), written_);
}

// What the session has run without a text that is known.
void ClientSession::note_written_unseen() {
  const bool unseen = batch_.kind == Batch::Kind::Function || std::any_of(batch_.items.begin(), batch_.items.end(), [](const BatchItem& item) {
    return item.what == Sent::Execute && item.statement == nullptr;
  });
  if (unseen) written_.add_everything();
}

// A statement has completed, or the block or exchange has ended: before the client hears of it, all children know what was
// written. Nothing of it counts any more for this session once nothing is under way that may have written already.
void ClientSession::forget_written() {
  if (worker_.policy().write_keeps() == lb::WriteKeeps::RecentTables) RecentTables(worker_).note(identity_.database, written_);
  if (tracker_.exchanges() == 0 && !tracker_.unsynced()) written_.clear();
}

// What was written keeps its readers on the primary.
std::optional<lb::Reason> ClientSession::kept_by_write(const Resolution& resolution) const {
  const lb::WriteKeeps keeps = worker_.policy().write_keeps();
  const parser::StatementFacts& facts = resolution.facts->facts;
  if (keeps == lb::WriteKeeps::RecentTables) {
    const bool recent = RecentTables(worker_).meets(identity_.database, facts, resolution.resolved);
    return recent ? std::optional(lb::Reason::RecentlyWritten) : std::nullopt;
  }
  if (keeps != lb::WriteKeeps::Tables || !lb::reads_written(facts, resolution.resolved, written_)) return std::nullopt;
  return lb::Reason::WrittenTable;
}

// A block is open on the primary, and a read that sees the session and the block as it does may run outside of it. READ
// COMMITTED only: every statement has a snapshot of its own there.
bool ClientSession::may_read_aside() const {
  using Isolation = parser::TransactionModes::Isolation;
  const lb::WriteKeeps keeps = worker_.policy().write_keeps();
  if (keeps != lb::WriteKeeps::Nothing && keeps != lb::WriteKeeps::Tables) return false;
  if (status_ != 'T' || held_ != HeldBlock::None || block_node_ < 0 || block_on_standby()) return false;
  if (batch_.end != Batch::End::Complete || batch_.primary_only || !tracker_.idle() || tracker_.unsynced()) return false;
  if (keeps == lb::WriteKeeps::Nothing && written_.everything()) return false;
  // A block that nobody saw begin, or SETs that only the block has.
  const bool own_settings = state_of_session_.has_local() || state_of_session_.version() != state_of_session_.block_version();
  if (state_of_session_.block().empty() || own_settings) return false;
  const Isolation isolation = state_of_session_.block_modes().isolation;
  if (isolation != Isolation::ReadCommitted && isolation != Isolation::ReadUncommitted && (isolation != Isolation::Unset || routing_.unusual_isolation)) return false;
  return !names_sql_statement() && portals_end_with_batch();
}

// The portals that the batch uses are its own, unnamed and read to their end: nothing of them is asked for later.
bool ClientSession::portals_end_with_batch() const {
  bool bound = false;
  for (const BatchItem& item : batch_.items) {
    switch (item.what) {
      case Sent::Bind:
        if (!item.name.empty()) return false;
        bound = true;
        break;
      case Sent::DescribePortal:
      case Sent::Execute:
        if (!bound || !item.name.empty() || item.limited) return false;
        break;
      case Sent::Close:
        if (!item.of_statement && (!bound || !item.name.empty())) return false;
        break;
      default: break;
    }
  }
  return true;
}

int ClientSession::choose_aside(const lb::Target& target) {
  if (batch_.primary_only) return block_node_;
  int node = -1;
  if (target.scope == lb::Scope::AnyReadable) {
    node = pick_reader(target.prefer_standby);
  } else if (lb::may_read(reader_inputs(lb::Candidates::Standbys), target.node)) {
    node = target.node;
  }
  return node < 0 || node == worker_.nodes().primary ? block_node_ : node;
}

// Before its answer has begun everything but the client's own cancel is left to the block: there it fails as it must, or
// does not.
bool ClientSession::may_rerun_in_block(std::string_view sqlstate) const { return !begun_ && sqlstate != sqlstate::kQueryCanceled; }

void ClientSession::settle_aside() {
  if (failed_) return fail_block();
  finish_aside();
}

// The standby's error is with the client: the block that the client thinks it happened in must have failed too.
void ClientSession::fail_block() {
  Backend* primary = backend_at(block_node_);
  if (primary == nullptr) return fail(make_fatal(sqlstate::kConnectionFailure, "the connection to the server was lost"));
  std::string message;
  wire::encode_query(message, kFailBlock);
  start_internal(*primary, std::move(message), 1, [this](InternalResult& result) {
    if (result.lost || result.status != 'E') return fail(make_fatal(sqlstate::kConnectionFailure, "the connection to the server was lost"));
    status_ = 'E';
    state_of_session_.on_ready(status_, true);
    finish_aside();
    pump();
  });
}

// The client is told of its block, not of the standby that has none.
void ClientSession::finish_aside() {
  std::string ready;
  wire::encode_ready_for_query(ready, status_);
  stream_.write(ready);
  batch_.aside = false;
  names_before_.reset();
  finish_running();
  failed_ = false;
  excluded_.reset();
  retries_ = 0;
  last_fatal_ = Error{};
  active_at_ = worker_.loop().now();
  traffic_.answered(active_at_, false);
  query_ends();
  set_state(ClientState::Idle);
  finish_retained();
  if (!in_.empty() || input_ended_) schedule_pump();
}

}  // namespace weir::child
