// Transaction blocks that pgweir holds itself, and their opening on a server: see client_session.h and held_block.h.
#include <fmt/format.h>

#include <algorithm>

#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"
#include "common/wire/frontend.h"
#include "lb/choose.h"

namespace weir::child {
namespace {

using Kind = BlockAnswer::Kind;

const parser::Statement* only_statement(const FactsPtr& facts) {
  return facts != nullptr && facts->facts.statements.size() == 1 ? &facts->facts.statements.front() : nullptr;
}

Error refusal(const BlockAnswer& answer, const parser::Statement* statement) {
  if (answer.kind == Kind::NoSavepoint) return make_error(sqlstate::kInvalidSavepoint, fmt::format("savepoint \"{}\" does not exist", statement->identifier));
  return make_error(sqlstate::kInFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block");
}

}  // namespace

// Holding makes sense only if a standby could get the block.
bool ClientSession::may_hold(const parser::Statement& begin) const {
  if (status_ != 'I' || pool_mode_ == PoolMode::Statement) return false;
  return lb::may_hold(begin, routing_, worker_.policy()) &&
         lb::choose(worker_.nodes(), lb::eligible(worker_.nodes(), lb::Candidates::Standbys) & ~avoided(), 0.5) >= 0;
}

// The answer to one statement, appended to OUT; what it does to the session is noted, and done by finish_block_answer.
bool ClientSession::answer_block_statement(std::string& out, const FactsPtr& facts) {
  static const parser::Statement kUnknown;
  const parser::Statement* statement = only_statement(facts);
  if (statement == nullptr && block_answer_.held != HeldBlock::Aborted) return false;
  if (statement == nullptr) {
    statement = facts != nullptr && !facts->facts.statements.empty() ? &facts->facts.statements.front() : &kUnknown;
    // The first of several: an end of the block that more follows is left to the server.
    if (answer_in_block(HeldBlock::Aborted, *statement, false, false).kind == Kind::Complete) return false;
  }
  const bool may = statement->kind == parser::StatementKind::Begin && block_answer_.held == HeldBlock::None && may_hold(*statement);
  const BlockAnswer answer = answer_in_block(block_answer_.held, *statement, may, state_of_session_.has_savepoint(statement->identifier));
  switch (answer.kind) {
    case Kind::Server: return false;
    case Kind::Complete: {
      const bool start = statement->kind == parser::StatementKind::Begin && !statement->identifier.empty();
      const std::string_view tag = start ? "START TRANSACTION" : answer.tag;
      wire::encode_command_complete(out, tag);
      block_answer_.done.emplace_back(facts, tag);
      break;
    }
    case Kind::Empty: wire::encode_empty_query_response(out); break;
    case Kind::Refused:
    case Kind::NoSavepoint:
      wire::encode_error(out, refusal(answer, statement));
      block_answer_.failed = true;
      break;
  }
  block_answer_.held = answer.after;
  block_answer_.in_block = answer.in_block;
  return true;
}

// The answers to an extended batch, if pgweir can give all of them.
bool ClientSession::answer_block_extended(Bytes bytes, std::string& out) {
  bool bound = false;
  for (const BatchItem& item : batch_.items) {
    if (item.what == Sent::Sync) {
      block_answer_.skip = false;
      continue;
    }
    if (block_answer_.skip) continue;
    const bool aborted = block_answer_.held == HeldBlock::Aborted;
    const parser::Statement* statement = item.statement != nullptr ? only_statement(item.statement->facts) : nullptr;
    const BlockAnswer would = statement != nullptr ? answer_in_block(block_answer_.held, *statement, true, true) : BlockAnswer{};
    if (aborted && would.kind != Kind::Complete && would.kind != Kind::Empty && item.what != Sent::Close) {
      wire::encode_error(out, refusal({Kind::Refused, {}, HeldBlock::Aborted, true}, nullptr));
      block_answer_.failed = block_answer_.skip = true;
      continue;
    }
    if (item.what != Sent::Close && would.kind != Kind::Complete && would.kind != Kind::Empty) return false;
    const Bytes body = bytes.subspan(item.offset + 5, item.size - 5);
    switch (item.what) {
      case Sent::Parse: {
        const auto parse = wire::parse_parse(body);
        if (!parse || parse->type_count() > 0 || (!item.name.empty() && names_.find(item.name) != nullptr)) return false;
        block_answer_.parsed.push_back(item.statement);
        wire::encode_parse_complete(out);
        break;
      }
      case Sent::Bind: {
        const auto bind = wire::parse_bind(body);
        if (!bind || bind->value_count > 0 || !item.name.empty()) return false;
        bound = true;
        wire::encode_bind_complete(out);
        break;
      }
      case Sent::DescribeStatement: wire::encode_parameter_description(out, {}); [[fallthrough]];
      case Sent::DescribePortal: wire::encode_no_data(out); break;
      case Sent::Execute:
        if (!std::exchange(bound, false) || !answer_block_statement(out, item.statement->facts)) return false;
        block_answer_.skip = block_answer_.failed;
        break;
      case Sent::Close:
        if (item.of_statement && !aborted) return false;
        wire::encode_close_complete(out);
        break;
      default: return false;
    }
  }
  return true;
}

// True: the batch was answered without a server, or is refused as a part of a failed block.
bool ClientSession::answer_block(Bytes bytes) {
  const bool aborted = held_ == HeldBlock::Aborted;
  if (!aborted && (batch_.end != Batch::End::Complete || (held_ == HeldBlock::None && status_ != 'I'))) return false;
  if (batch_.kind != Batch::Kind::Simple && batch_.kind != Batch::Kind::Extended && !aborted) return false;
  routing_.transaction_status = status_;  // a BEGIN right behind a COMMIT too may be held
  block_answer_.held = held_;
  block_answer_.in_block = status_ != 'I';
  block_answer_.failed = false;
  block_answer_.done.clear();
  block_answer_.parsed.clear();
  std::string& out = block_answer_.out;
  out.clear();
  if (aborted && batch_.end == Batch::End::Oversize) {
    fail(refusal({}, nullptr));
    return true;
  }
  const bool answered = batch_.kind == Batch::Kind::Extended ? answer_block_extended(bytes, out)
                                                             : answer_block_statement(out, batch_.items.empty() ? nullptr : batch_.items.front().facts);
  if (!answered && !aborted) return false;
  if (!answered) {  // the end of the block and more: the server gets all of it, and has no block to end
    set_held(HeldBlock::None);
    state_of_session_.on_ready(status_ = 'I', true);
    refresh_routing();
    return false;
  }
  finish_block_answer(out);
  return true;
}

void ClientSession::finish_block_answer(std::string& out) {
  for (const PreparedPtr& statement : block_answer_.parsed) names_.define(statement);
  if (batch_.kind == Batch::Kind::Simple) names_.forget_unnamed();
  for (const auto& [facts, tag] : block_answer_.done) {
    const parser::Statement& statement = facts->facts.statements.front();
    state_of_session_.on_completed(statement, tag);
    if (worker_.config().log_statement) log::print(log::Level::Log, log_context(), "statement: {} (no server needed)", tag);
  }
  status_ = !block_answer_.in_block ? 'I' : (block_answer_.held == HeldBlock::Aborted ? 'E' : 'T');
  state_of_session_.on_ready(status_, block_answer_.failed);
  set_held(block_answer_.held);
  if (status_ == 'I') {
    portals_.clear();
    refresh_routing();
  }
  const bool ready = batch_.kind != Batch::Kind::Extended || batch_.end == Batch::End::Complete;
  if (ready) wire::encode_ready_for_query(out, status_);
  active_at_ = worker_.loop().now();
  query_ends();
  stream_.write(out);
}

void ClientSession::set_held(HeldBlock held) {
  held_ = held;
  routing_.block_held = held == HeldBlock::Held;
  if (held != HeldBlock::None) {
    block_node_ = -1;
    routing_.block_on_standby = false;
  }
  routing_.block_modes = state_of_session_.block_modes();
  routing_.chained_modes = state_of_session_.inherited_modes();
}

// What of the block has run so far can be run again on another node: nothing but reads, SETs and savepoints.
bool ClientSession::block_can_move() const {
  return block_on_standby() && state_of_session_.block_is_repeatable();
}

// The block on a standby is given up, and held again: it will be opened where its next statement goes.
void ClientSession::hold_block_again() { set_held(HeldBlock::Held); }

// Opens the held block on BACKEND; false: this takes a moment, or has failed. FAILED: the block is to be a failed one there
// too, so that its ROLLBACK, ROLLBACK TO or chain means what it means to the client.
bool ClientSession::open_block(Backend& backend, bool failed) {
  std::string messages;
  int ready = 0;
  for (const std::string& text : state_of_session_.block()) {
    wire::encode_query(messages, text);
    ++ready;
  }
  if (failed) {
    wire::encode_query(messages, "ROLLBACK TO SAVEPOINT \"this one does not exist\"");
    ++ready;
  }
  start_internal(backend, std::move(messages), ready, [this, failed, raw = &backend](InternalResult& result) {
    const bool standby = raw->node() != worker_.nodes().primary;
    const bool opened = failed ? result.status == 'E' && result.error && result.error->sqlstate == sqlstate::kInvalidSavepoint : !result.error;
    if (result.lost || !opened) {
      if (!standby) return fail(result.error.value_or(make_error(sqlstate::kConnectionFailure, "the primary was lost")));
      if (result.error) log::print(log::Level::Info, log_context(), "node {} does not take the transaction: {}", raw->node(), result.error->one_line());
      excluded_.set(static_cast<std::size_t>(raw->node()));
      remove_backend(*raw);
      batch_.node = -1;
      return pump();
    }
    held_ = HeldBlock::None;
    routing_.block_held = false;
    raw->applied = state_of_session_.version();
    block_node_ = raw->node();
    routing_.block_on_standby = !primary_backend(*raw);
    abandon_standby_block();
  });
  return false;
}

// In front of the batch, in the same write: if one of these statements fails, the server skips the batch up to its Sync.
bool ClientSession::opens_with_batch(const Backend& backend) const {
  if (status_ != 'T' || block_node_ >= 0 || backend.status != 'I' || batch_.end != Batch::End::Complete) return false;
  const bool left_open = std::any_of(set_.begin(), set_.end(), [this](const auto& other) { return other->status != 'I' && !is_abandoned(*other); });
  if (left_open) return false;
  if (batch_.kind == Batch::Kind::Extended) return true;
  if (batch_.kind != Batch::Kind::Simple || batch_.items.front().facts == nullptr) return false;
  // A Query gets a Sync of pgweir's own behind it, which a COPY from the client would swallow.
  const auto& statements = batch_.items.front().facts->facts.statements;
  return !statements.empty() && std::none_of(statements.begin(), statements.end(), [](const parser::Statement& statement) {
    return statement.kind == parser::StatementKind::Unknown || statement.kind == parser::StatementKind::CopyOther;
  });
}

void ClientSession::open_with_batch(Backend& backend) {
  held_ = HeldBlock::None;
  routing_.block_held = false;
  block_node_ = backend.node();
  routing_.block_on_standby = !primary_backend(backend);
  opening_ = true;
}

std::string ClientSession::opening_messages(Backend& backend) {
  std::string out;
  for (const std::string& text : state_of_session_.block()) {
    wire::encode_parse(out, "", text);
    wire::encode_bind(out, "", "", {});
    wire::encode_execute(out, "", 0);
    tracker_.sent(Sent::Parse, true);
    tracker_.sent(Sent::Bind, true);
    tracker_.sent(Sent::Execute, true);
    names_.close_sent("\x01portal", true);  // nothing of the session's is prepared by it
    ++opening_left_;
  }
  backend.prepared.insert_or_assign(std::string(), 0);  // an unnamed statement, and not the client's
  backend.applied = state_of_session_.version();
  return out;
}

// The open block lies on a standby, and this statement must not run there: the block is opened anew on the primary and
// given up on the standby. READ COMMITTED only: each statement has a snapshot of its own.
bool ClientSession::move_block(Backend& primary) {
  if (!block_can_move()) {
    batch_.node = block_node_;  // it stays, and the standby refuses what it cannot do
    pump_again_ = true;
    return false;
  }
  const bool failed = status_ == 'E';
  hold_block_again();
  return open_block(primary, failed);
}

// The block that was left on a standby is rolled back there while the session goes on: nothing of it is of any use, so
// nothing waits for its answer but what wants that connection next.
void ClientSession::abandon_standby_block() {
  for (auto& backend : set_) {
    if (backend->node() == block_node_ || backend->status == 'I' || is_abandoned(*backend)) continue;
    backend->applied = state_of_session_.block_version();  // what the block has changed there is undone
    backend->prepared.erase(std::string());                // a Query ends it
    std::string rollback;
    wire::encode_query(rollback, "ROLLBACK");
    InternalQuery* query = InternalQuery::start(worker_, *backend, std::move(rollback), 1, [this, raw = backend.get()](InternalResult& result) {
      std::erase_if(abandoned_, [raw](const Abandoned& one) { return one.backend == raw; });
      if (result.lost || result.status != 'I') {
        remove_backend(*raw);
      } else {
        raw->set_user(this);
      }
      give_back();
      if (!in_.empty()) schedule_pump();
    });
    abandoned_.push_back({backend.get(), query});
  }
  pump();
}

bool ClientSession::is_abandoned(const Backend& backend) const {
  return std::any_of(abandoned_.begin(), abandoned_.end(), [&](const Abandoned& one) { return one.backend == &backend; });
}

// BACKEND is about to go away with the answer still to come.
void ClientSession::forget_abandoned(const Backend& backend) {
  std::erase_if(abandoned_, [&](const Abandoned& one) {
    if (one.backend != &backend) return false;
    one.query->abandon();
    return true;
  });
}

}  // namespace weir::child
