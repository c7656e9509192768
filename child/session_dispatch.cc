// Routing of a batch and the backend for it: see client_session.h.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "child/client_session.h"
#include "child/console.h"
#include "child/internal_query.h"
#include "child/replay_messages.h"
#include "child/worker.h"
#include "common/base/byte_reader.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"
#include "common/wire/frontend.h"
#include "lb/reader.h"
#include "parser/names.h"

namespace weir::child {
namespace {

using parser::StatementKind;

bool is_local(const FactsPtr& facts) {
  return facts != nullptr && facts->facts.statements.size() == 1 &&
         facts->facts.statements.front().kind == StatementKind::PoolShow;
}

bool spreads(const lb::Target& target) { return target.scope == lb::Scope::AnyReadable || target.scope == lb::Scope::Node; }

}  // namespace

// Fills in what each message of the batch means now: statements by name, portals, facts.
void ClientSession::resolve_items(Bytes bytes) {
  for (std::size_t i = 0; i < batch_.items.size(); ++i) {
    BatchItem& item = batch_.items[i];
    if (item.offset + item.size > bytes.size() && batch_.end != Batch::End::Oversize) continue;
    const Bytes message = bytes.subspan(item.offset, std::min(item.size, bytes.size() - item.offset));
    const Bytes body = message.size() > 5 ? message.subspan(5) : Bytes{};
    const auto earlier_statement = [&](std::string_view name) -> PreparedPtr {
      for (std::size_t j = i; j-- > 0;) {
        const BatchItem& other = batch_.items[j];
        if (other.what == Sent::Parse && other.statement->name == name) return other.statement;
        if (other.what == Sent::Close && other.of_statement && other.name == name) return nullptr;
      }
      return names_.find_parsed(name);
    };
    const auto earlier_portal = [&](std::string_view name) -> PreparedPtr {
      for (std::size_t j = i; j-- > 0;) {
        const BatchItem& other = batch_.items[j];
        if (other.what == Sent::Bind && other.name == name) return other.statement;
      }
      const auto it = portals_.find(name);
      return it != portals_.end() ? it->second : nullptr;
    };
    switch (item.what) {
      case Sent::Bind: {
        // Checked as a whole when it was collected; of an oversize one only the two names are known.
        ByteReader reader(body);
        const bool oversize = item.offset + item.size > bytes.size();
        item.name = oversize ? std::string_view(batch_.oversize_portal) : reader.cstring();
        item.statement_name = oversize ? std::string_view(batch_.oversize_statement) : reader.cstring();
        item.statement = earlier_statement(item.statement_name);
        break;
      }
      case Sent::DescribeStatement:
      case Sent::Close: {
        ByteReader reader(body.subspan(1));
        item.name = reader.cstring();
        if (item.of_statement) item.statement = earlier_statement(item.name);
        if (item.of_statement) item.statement_name = item.name;
        break;
      }
      case Sent::DescribePortal: {
        ByteReader reader(body.subspan(1));
        item.name = reader.cstring();
        item.statement = earlier_portal(item.name);
        break;
      }
      case Sent::Execute: {
        ByteReader reader(body);
        item.name = reader.cstring();
        item.limited = reader.i32() > 0;
        item.statement = earlier_portal(item.name);
        break;
      }
      case Sent::Parse: item.name = item.statement_name = item.statement->name; break;
      default: break;
    }
  }
}

bool ClientSession::all_local() const {
  if (batch_.kind == Batch::Kind::Simple) return is_local(batch_.items.front().facts);
  bool any = false;
  for (const BatchItem& item : batch_.items) {
    const bool names_statement = item.what != Sent::Sync && (item.what != Sent::Close || (item.of_statement && item.statement));
    if (!names_statement) continue;
    if (item.what == Sent::Close && !item.statement) continue;
    if (item.statement == nullptr || !is_local(item.statement->facts)) return false;
    any = true;
  }
  return any;
}

lb::Target ClientSession::route_batch(Bytes bytes) {
  route_items_.clear();
  resolutions_.clear();
  executed_.clear();
  worker_.resolver().refresh();
  bool known = true;
  const auto add = [&](const FactsPtr& facts, bool primary_pattern) {
    const Resolution& resolution = worker_.resolver().resolve(facts, context_);
    for (const Resolution* other : resolutions_) {
      if (other == &resolution) return;
    }
    resolutions_.push_back(&resolution);
    route_items_.push_back(route_item(resolution, primary_pattern));
  };
  if (batch_.kind == Batch::Kind::Simple) {
    add(batch_.items.front().facts, batch_.pattern);
  } else if (batch_.kind == Batch::Kind::Extended) {
    for (const BatchItem& item : batch_.items) {
      if (item.what == Sent::Sync || item.what == Sent::Close) continue;
      if (item.statement == nullptr) {
        known = false;  // a name we do not know: the primary gives the answer
      } else {
        add(item.statement->facts, item.statement->primary_pattern);
      }
    }
  } else {
    known = false;
  }
  if (batch_.end != Batch::End::Complete && (batch_.has_execute() || batch_.end != Batch::End::Flush)) {
    batch_.primary_only = true;
    if (!batch_.forced) batch_.forced = lb::Reason::Unfinished;
  }
  routing_.transaction_status = status_;
  routing_.reads_aside = may_read_aside();
  if (!unverified_.empty() || !unverified_now_.empty() || routing_.unverified_effects || !routing_.unverified_writes.empty()) verify_writes();
  // A portal is bound to its node like a cursor, and what follows in the block may need the primary. It also is the one
  // that has, and so refuses a second time, what SQL has prepared.
  const bool portal = opens_portal_in_block();
  const bool date_word = !portal && binds_date_word_in_block(bytes);
  if (portal || date_word || names_sql_statement()) {
    const lb::Reason cause = portal ? lb::Reason::OpenCursor : date_word ? lb::Reason::NowInBlock : lb::Reason::SqlPrepare;
    if (status_ == 'I' || held_ == HeldBlock::Held) {
      batch_.primary_only = true;
      batch_.forced = cause;
    } else if (block_on_standby() && status_ == 'T') {
      lb::Target target;
      target.scope = lb::Scope::Primary;
      target.reason = lb::Reason::BlockMoves;
      target.cause = cause;
      return decided(target);
    }
  }
  if (known && !route_items_.empty()) return decided(lb::route(route_items_, routing_, worker_.policy()));
  // Only Sync, Close or unknown names: wherever the session is.
  lb::Target target;
  target.reason = target.cause = batch_.kind == Batch::Kind::Function ? lb::Reason::FunctionCall : lb::Reason::NothingKnown;
  target.scope = block_node_ >= 0 || (known && active_ != nullptr) ? lb::Scope::SameNode : lb::Scope::Primary;
  return decided(target);
}

// With routing_dry_run what may go elsewhere goes to the primary, and where it would have gone is remembered.
lb::Target ClientSession::decided(lb::Target target) {
  dry_run_node_.reset();
  if (!config().routing_dry_run) return target;
  dry_run_node_ = choose_node(target);
  if (spreads(target)) {
    target.scope = target.aside ? lb::Scope::SameNode : lb::Scope::Primary;
    target.aside = false;
    batch_.forced = lb::Reason::DryRun;
  }
  return target;
}

// A portal with a name lives until its transaction ends, and a transaction is open or is begun here.
bool ClientSession::opens_portal_in_block() const {
  if (batch_.kind != Batch::Kind::Extended) return false;
  const bool portal = std::any_of(batch_.items.begin(), batch_.items.end(), [](const BatchItem& item) { return item.what == Sent::Bind && !item.name.empty(); });
  return portal && (status_ != 'I' || begins_block());
}

bool ClientSession::begins_block() const {
  return std::any_of(route_items_.begin(), route_items_.end(), [](const lb::RouteItem& item) {
    return std::any_of(item.facts->statements.begin(), item.facts->statements.end(), [](const parser::Statement& s) { return s.kind == StatementKind::Begin; });
  });
}

// A value such as 'now' means the time of the transaction, if it is bound as a timestamp, and that would change if the block
// moved to another node.
bool ClientSession::binds_date_word_in_block(Bytes bytes) const {
  if (batch_.kind != Batch::Kind::Extended || batch_.end == Batch::End::Oversize) return false;
  if (status_ == 'I' ? !begins_block() : (held_ != HeldBlock::Held && !block_on_standby())) return false;
  return std::any_of(batch_.items.begin(), batch_.items.end(), [bytes](const BatchItem& item) {
    if (item.what != Sent::Bind || item.offset + item.size > bytes.size()) return false;
    const auto bind = wire::parse_bind(bytes.subspan(item.offset + 5, item.size - 5));
    return bind && wire::any_value(*bind, [](std::string_view value) { return parser::has_date_word(value); });
  });
}

// The node of the batch. Something: it cannot have one yet.
std::optional<ClientSession::Dispatch> ClientSession::place_batch(const lb::Target& target) {
  if (!tracker_.idle()) {
    // Nothing is known yet of what the exchange under way will change. On the primary everything may follow; a standby's
    // answer is awaited, since it may have to be run again.
    const bool follows = !startup_in_doubt_ && active_ != nullptr && active_->node() == worker_.nodes().primary && !block_on_standby() && !needs_own_round() && !sequences_are_anothers(*active_);
    if (!follows) return await_replies();
    batch_.node = active_->node();
    if (spreads(target)) batch_.forced = lb::Reason::FollowsExchange;
  } else if (tracker_.unsynced() && active_ != nullptr) {
    const int wanted = choose_node(target);
    if ((wanted != active_->node() || !names_are_there(*active_)) && !primary_backend(*active_)) return leave_unsynced();
    batch_.node = active_->node();
    if (wanted != batch_.node) batch_.forced = lb::Reason::FollowsExchange;
  } else if (batch_.node < 0 || (excluded_.any() && excluded_.test(static_cast<std::size_t>(batch_.node)))) {
    batch_.node = choose_node(target);
  }
  if (batch_.node < 0) return wait_for_primary();
  return std::nullopt;
}

// Sends the batch, or says why it cannot be sent yet. Called again with the same batch until it is sent.
ClientSession::Dispatch ClientSession::dispatch(Bytes bytes) {
  resolve_items(bytes);
  const bool in_flight = !tracker_.idle();
  if (all_local()) {
    if (in_flight) return await_replies();  // answers keep their order
    return answer_locally(bytes);
  }
  query_begins();
  if (tracker_.skipping() && active_ != nullptr) {
    send_batch(*active_, bytes);  // the server ignores it up to its Sync
    return Dispatch::Sent;
  }
  if (!in_flight && !tracker_.unsynced() && answer_block(bytes)) return state_ == ClientState::Closing ? Dispatch::Ended : Dispatch::Sent;
  const lb::Target target = route_batch(bytes);
  if (const auto waits = place_batch(target)) return *waits;
  batch_.aside = target.aside && batch_.node != block_node_;
  if (!in_flight && !tracker_.unsynced() && takes_back_startup_midway()) use_startup_packet();
  Backend* backend = backend_at(batch_.node);
  const bool begins = !in_flight && !tracker_.unsynced() && status_ == 'I' && block_node_ < 0 && pool_mode_ != PoolMode::Session;
  if (begins && backend != nullptr) {
    if (!part_with_surplus(*backend)) return Dispatch::Waiting;
    backend = backend_at(batch_.node);
  }
  if (backend == nullptr) {
    if (in_flight) return await_replies();
    const Dispatch acquired = acquire(batch_.node);
    if (acquired != Dispatch::Sent) return acquired;
    backend = backend_at(batch_.node);
    if (backend == nullptr) {  // it was of no use
      batch_.node = -1;
      pump_again_ = true;
      return Dispatch::Waiting;
    }
  }
  if (is_abandoned(*backend)) return Dispatch::Waiting;
  if (batch_.aside && primary_backend(*backend)) {  // it was promoted, or is not what it seemed
    excluded_.set(static_cast<std::size_t>(batch_.node));
    batch_.node = -1;
    pump_again_ = true;
    return Dispatch::Waiting;
  }
  if (!in_flight && !tracker_.unsynced()) {
    if (!prepare(*backend) || !give_names(*backend) || !forget_anothers_sequences(*backend)) return Dispatch::Waiting;
    if (held_ == HeldBlock::Held && opens_with_batch(*backend)) {
      open_with_batch(*backend);
    } else if (held_ == HeldBlock::Held && !open_block(*backend)) {
      return Dispatch::Waiting;
    }
    if (block_node_ >= 0 && block_node_ != batch_.node && !batch_.aside && !move_block(*backend)) {
      return state_ == ClientState::Closing ? Dispatch::Ended : Dispatch::Waiting;
    }
  }
  deadline_.reset();
  last_target_ = target;
  const bool again = !in_flight && may_run_again(*backend);
  plan_names(*backend);
  batch_.for_healing = !again && !in_flight && may_heal();
  if (again || batch_.for_healing) remember_names();
  send_batch(*backend, bytes);
  if (!again && !batch_.for_healing) return Dispatch::Sent;
  batch_.retained = true;
  return Dispatch::Retained;
}

// Only what was found to be a read, and only where the server itself says that it cannot write: nothing that may write is
// ever run twice, whatever is known of the nodes at this moment.
bool ClientSession::may_run_again(const Backend& backend) const {
  if (batch_.end != Batch::End::Complete || primary_backend(backend)) return false;
  if (batch_.aside) return true;
  if (status_ != 'I') return status_ == 'T' && block_can_move();
  return last_target_.scope == lb::Scope::AnyReadable || last_target_.scope == lb::Scope::Node;
}

// A batch that is run again begins with the names that there were before it.
void ClientSession::remember_names() {
  if (names_before_) return;
  const bool names = std::any_of(batch_.items.begin(), batch_.items.end(), [](const BatchItem& item) {
    return (item.what == Sent::Parse && !item.name.empty()) || (item.what == Sent::Close && item.of_statement);
  });
  if (names) names_before_ = names_;
}

// Nothing more is sent before the replies are there. A server keeps those of an unfinished batch to itself until it is
// told to flush them.
ClientSession::Dispatch ClientSession::await_replies() {
  if (tracker_.exchanges() == 0 && active_ != nullptr && !std::exchange(flushed_, true)) {
    std::string flush;
    wire::encode_flush(flush);
    active_->send(flush);
  }
  return Dispatch::Waiting;
}

// As it was when the block was opened: that the primary is gone does not make a standby's block of one that has written.
bool ClientSession::block_on_standby() const { return block_node_ >= 0 && routing_.block_on_standby; }

// The client has sent Parse or Describe and a Flush, which a standby answered; what follows must not run there. Nothing
// was executed: a Sync of our own ends that, and the statement is prepared again where it is needed.
ClientSession::Dispatch ClientSession::leave_unsynced() {
  std::string sync;
  wire::encode_sync(sync);
  Backend& standby = *active_;
  tracker_.clear();
  start_internal(standby, std::move(sync), 1, [this](InternalResult& result) {
    if (result.lost) remove_backend(*internal_backend_done_);
    pump();
  });
  return Dispatch::Waiting;
}

// A RESET of a startup parameter, and something behind it in the same batch or string: nothing can be set between them, so
// the server has to know the value itself.
bool ClientSession::takes_back_startup_midway() const {
  if (status_ != 'I' || state_of_session_.startup_parameters().empty()) return false;
  bool taken_back = false;
  for (const BatchItem& item : batch_.items) {
    if (item.what != Sent::Query && item.what != Sent::Execute) continue;
    const FactsPtr& facts = item.what == Sent::Query || item.statement == nullptr ? item.facts : item.statement->facts;
    if (facts == nullptr) continue;
    for (const parser::Statement& statement : facts->facts.statements) {
      if (taken_back) return true;
      taken_back = state_of_session_.takes_back_startup(statement);
      if (taken_back && statement.kind == StatementKind::Select) return true;  // set_config() tells the value
    }
  }
  return false;
}

// From now on the session's connections are such as have its startup parameters in their startup packet. Those that it
// has are given back, unless there is something on them that would be lost.
void ClientSession::use_startup_packet() {
  if (!unreplayable().empty() || sql_prepared_) return;
  state_of_session_.startup_is_in_packets();
  auto& fixed = identity_.key.fixed;
  const auto& startup = state_of_session_.startup_parameters();
  fixed.insert(fixed.end(), startup.begin(), startup.end());
  std::sort(fixed.begin(), fixed.end());
  active_ = nullptr;
  auto set = std::move(set_);
  set_.clear();
  for (auto& backend : set) {
    if (is_abandoned(*backend)) {
      forget_abandoned(*backend);
      worker_.backends().discard(std::move(backend));
    } else {
      worker_.backends().release(std::move(backend));
    }
  }
}

}  // namespace weir::child
