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
#include "lb/choose.h"

namespace weir::child {
namespace {

using parser::StatementKind;

constexpr int kMaxRetries = 8;  // of one batch over nodes that fail

bool is_local(const FactsPtr& facts) {
  return facts != nullptr && facts->facts.statements.size() == 1 &&
         facts->facts.statements.front().kind == StatementKind::PoolShow;
}

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
      return names_.find(name);
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
        // Checked as a whole when it was collected; an oversize one shows its two names only.
        ByteReader reader(body);
        item.name = reader.cstring();
        item.statement = earlier_statement(reader.cstring());
        break;
      }
      case Sent::DescribeStatement:
      case Sent::Close: {
        ByteReader reader(body.subspan(1));
        item.name = reader.cstring();
        if (item.of_statement) item.statement = earlier_statement(item.name);
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
        item.statement = earlier_portal(item.name);
        break;
      }
      case Sent::Parse: item.name = item.statement->name; break;
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

lb::Target ClientSession::route_batch() {
  route_items_.clear();
  resolutions_.clear();
  worker_.resolver().refresh();
  bool known = true;
  const auto add = [&](const FactsPtr& facts, bool primary_pattern) {
    const Resolution& resolution = worker_.resolver().resolve(facts, context_);
    for (const Resolution* other : resolutions_) {
      if (other == &resolution) return;
    }
    resolutions_.push_back(&resolution);
    route_items_.push_back({&facts->facts, &resolution.resolved, primary_pattern});
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
    if (batch_.forced.empty()) batch_.forced = "the batch has no end yet";
  }
  routing_.transaction_status = status_;
  if (!unverified_.empty() || !unverified_now_.empty() || routing_.unverified_effects || !routing_.unverified_writes.empty()) verify_writes();
  if (known && !route_items_.empty()) return lb::route(route_items_, routing_, worker_.policy());
  // Only Sync, Close or unknown names: wherever the session is.
  lb::Target target;
  target.reason = lb::Reason::Utility;
  target.scope = block_node_ >= 0 || (known && active_ != nullptr) ? lb::Scope::SameNode : lb::Scope::Primary;
  return target;
}

void ClientSession::verify_writes() {
  bool opaque = false;
  routing_.unverified_writes.clear();
  routing_.unverified_effects = false;
  for (auto* list : {&unverified_, &unverified_now_}) {
    std::erase_if(*list, [&](const lb::Unverified& use) {
      const lb::Verification verdict = worker_.resolver().verify(use, context_);
      opaque = opaque || verdict == lb::Verification::Opaque;
      return verdict != lb::Verification::Unknown;
    });
    for (const lb::Unverified& use : *list) {
      if (use.use == lb::NameUse::Written) routing_.unverified_writes.push_back(use.name);
      if (use.use != lb::NameUse::Written) routing_.unverified_effects = true;
    }
  }
  if (opaque) routing_.opaque_state = true;
}

// Nodes to which a connection could not be made a moment ago; those that this session is connected to count as good.
lb::NodeSet ClientSession::avoided() const {
  lb::NodeSet nodes = worker_.avoided();
  if (nodes.none()) return nodes;
  for (const auto& backend : set_) nodes.reset(static_cast<std::size_t>(backend->node()));
  return nodes;
}

int ClientSession::pick_reader(bool standby_only) {
  const shmem::NodeView& nodes = worker_.nodes();
  const lb::Candidates candidates = standby_only ? lb::Candidates::Standbys : lb::Candidates::Readable;
  const bool keep = !worker_.policy().per_statement() && reader_node_ >= 0 && !excluded_.test(static_cast<std::size_t>(reader_node_)) &&
                    lb::eligible_node(nodes, reader_node_, candidates);
  if (keep) return reader_node_;
  const int drawn = lb::choose(nodes, worker_.policy(), worker_.random().unit(), candidates, excluded_ | avoided());
  if (drawn >= 0 && !standby_only && excluded_.none()) reader_node_ = drawn;
  return drawn >= 0 ? drawn : nodes.primary;
}

int ClientSession::choose_node(const lb::Target& target) {
  const shmem::NodeView& nodes = worker_.nodes();
  switch (target.scope) {
    case lb::Scope::SameNode:
      if (block_node_ >= 0) return block_node_;
      return active_ != nullptr ? active_->node() : nodes.primary;
    case lb::Scope::AnyReadable: return batch_.primary_only ? nodes.primary : pick_reader(target.prefer_standby);
    case lb::Scope::Node:
      if (!batch_.primary_only && lb::eligible_node(nodes, target.node) && !avoided().test(static_cast<std::size_t>(target.node)) && !excluded_.test(static_cast<std::size_t>(target.node))) return target.node;
      return nodes.primary;
    case lb::Scope::Primary:
    case lb::Scope::Local: return nodes.primary;
  }
  return nodes.primary;
}

Backend* ClientSession::backend_at(int node) {
  for (auto& backend : set_) {
    if (backend->node() == node) return backend.get();
  }
  return nullptr;
}

// Sends the batch, or says why it cannot be sent yet. Called again with the same batch until it is sent.
ClientSession::Dispatch ClientSession::dispatch(Bytes bytes) {
  resolve_items(bytes);
  const bool in_flight = !tracker_.idle();
  if (all_local()) {
    if (in_flight) return await_replies();  // answers keep their order
    return answer_locally(bytes);
  }
  if (tracker_.skipping() && active_ != nullptr) {
    send_batch(*active_, bytes);  // the server ignores it up to its Sync
    return Dispatch::Sent;
  }
  const lb::Target target = route_batch();
  if (in_flight) {
    // Nothing is known yet of what the exchange under way will change. On the primary everything may follow; a standby's
    // answer is awaited, since it may have to be run again.
    const bool follows = active_ != nullptr && active_->node() == worker_.nodes().primary && !block_on_standby() && !needs_own_round();
    if (!follows) return await_replies();
    batch_.node = active_->node();
  } else if (tracker_.unsynced() && active_ != nullptr) {
    const int wanted = choose_node(target);
    if (wanted != active_->node() && active_->node() != worker_.nodes().primary) return leave_unsynced();
    batch_.node = active_->node();
  } else if (batch_.node < 0 || (excluded_.any() && excluded_.test(static_cast<std::size_t>(batch_.node)))) {
    batch_.node = choose_node(target);
  }
  if (batch_.node < 0) return wait_for_primary();
  Backend* backend = backend_at(batch_.node);
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
  if (!in_flight && !tracker_.unsynced()) {
    if (!prepare(*backend)) return Dispatch::Waiting;
    if (block_node_ >= 0 && block_node_ != batch_.node && !move_block(*backend)) {
      return state_ == ClientState::Closing ? Dispatch::Ended : Dispatch::Waiting;
    }
  }
  deadline_.reset();
  const bool standby = backend->node() != worker_.nodes().primary;
  const bool may_retry = standby && status_ == 'I' && batch_.end == Batch::End::Complete && !in_flight;
  last_target_ = target;
  if (may_retry && !names_before_) {
    const bool names = std::any_of(batch_.items.begin(), batch_.items.end(), [](const BatchItem& item) {
      return (item.what == Sent::Parse && !item.name.empty()) || (item.what == Sent::Close && item.of_statement);
    });
    if (names) names_before_ = names_;
  }
  send_batch(*backend, bytes);
  if (may_retry) {
    batch_.retained = true;
    return Dispatch::Retained;
  }
  return Dispatch::Sent;
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

bool ClientSession::block_on_standby() const { return block_node_ >= 0 && block_node_ != worker_.nodes().primary; }

// A batch that needs something done on its backend first cannot be pipelined behind an answer that is still to come.
bool ClientSession::needs_own_round() const {
  for (const Resolution* resolution : resolutions_) {
    for (const parser::Statement& statement : resolution->facts->facts.statements) {
      const bool by_name = statement.kind == StatementKind::Execute || statement.kind == StatementKind::Deallocate || statement.kind == StatementKind::Prepare;
      if (by_name && !names_.empty()) return true;
    }
  }
  return false;
}

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

Monotonic ClientSession::wait_deadline() {
  if (!deadline_) {
    const auto limit = worker_.config().query_wait_timeout;
    deadline_ = worker_.loop().now() + (limit > 0 ? std::chrono::seconds(limit) : std::chrono::seconds(86400 * 365));
  }
  return *deadline_;
}

ClientSession::Dispatch ClientSession::acquire(int node) {
  if (acquiring_) return Dispatch::Waiting;
  AcquireRequest request;
  request.key = &identity_.key;
  request.node = node;
  request.secret = secret_;
  request.may_wait = node == worker_.nodes().primary;
  request.deadline = wait_deadline();
  set_state(ClientState::AwaitBackend);
  acquiring_ = true;
  BackendCache::Acquired acquired = worker_.backends().acquire(request, *this);
  if (acquired.backend != nullptr) {
    acquiring_ = false;
    hold(std::move(acquired.backend));
    if (state_ == ClientState::Closing) return Dispatch::Ended;
    set_state(ClientState::Idle);
    return Dispatch::Sent;
  }
  if (acquired.full) {
    // A read whose standby has no free connection uses another node, at last the primary.
    acquiring_ = false;
    set_state(ClientState::Idle);
    excluded_.set(static_cast<std::size_t>(node));
    batch_.node = -1;
    pump_again_ = true;
  }
  return Dispatch::Waiting;
}

void ClientSession::on_backend(std::unique_ptr<Backend> backend) {
  acquiring_ = false;
  hold(std::move(backend));
  if (state_ == ClientState::AwaitBackend) set_state(ClientState::Idle);
  pump();
}

void ClientSession::on_backend_failed(int node, const AcquireFailure& failure) {
  acquiring_ = false;
  if (state_ == ClientState::Closing) return;
  set_state(ClientState::Idle);
  const bool primary = node == worker_.nodes().primary;
  if (failure.kind == AcquireFailure::Kind::Timeout || failure.kind == AcquireFailure::Kind::Full) {
    return refuse_batch(make_error(
        sqlstate::kTooManyConnections, "query_wait_timeout: no connection to the server came free in time",
        fmt::format("All connections of user \"{}\" to database \"{}\" on node {} that this process may open are in use.",
                    identity_.user, identity_.database, node),
        fmt::format("Raise max_pool (now {}) or num_init_children, or query_wait_timeout (now {} s).",
                    worker_.config().max_pool, worker_.config().query_wait_timeout)));
  }
  const LoginFailure& login = failure.login;
  if (!primary) {
    worker_.avoid(node);
    excluded_.set(static_cast<std::size_t>(node));
    if (reader_node_ == node) reader_node_ = -1;
    batch_.node = -1;
    if (block_node_ == node) return fail(login.error);
    if (++retries_ > kMaxRetries) return refuse_batch(login.error);
    return pump();
  }
  switch (login.kind) {
    case LoginFailure::Kind::Unreachable:
    case LoginFailure::Kind::NotUsable:
    case LoginFailure::Kind::Timeout:
      batch_.node = -1;
      if (wait_deadline() <= worker_.loop().now()) return refuse_batch(login.error);
      set_state(ClientState::AwaitPrimary);
      worker_.park(*this);
      return;
    default: return refuse_batch(login.error);
  }
}

ClientSession::Dispatch ClientSession::wait_for_primary() {
  if (wait_deadline() <= worker_.loop().now()) {
    refuse_batch(make_error(sqlstate::kCannotConnectNow, "query_wait_timeout: no primary server was found in time",
                            "No node is known to be the primary and reachable.",
                            "See SHOW POOL_NODES for the state of each node and its reason."));
    return Dispatch::Ended;
  }
  if (state_ != ClientState::AwaitPrimary) {
    set_state(ClientState::AwaitPrimary);
    worker_.park(*this);
  }
  return Dispatch::Waiting;
}

void ClientSession::resume_parked() {
  if (state_ != ClientState::AwaitPrimary) return worker_.unpark(*this);
  set_state(ClientState::Idle);
  pump();
  if (state_ != ClientState::AwaitPrimary) worker_.unpark(*this);
}

// The whole batch is answered with ERROR, and the session lives. What of it arrives later is thrown away.
void ClientSession::refuse_batch(Error error) {
  if (state_ == ClientState::Closing) return;
  deadline_.reset();
  excluded_.reset();
  retries_ = 0;
  const bool whole = batch_.end == Batch::End::Complete && (batch_.kind != Batch::Kind::None);
  if (!whole || status_ != 'I') return fail(std::move(error));
  std::string out;
  error.severity = Severity::Error;
  wire::encode_error(out, error);
  wire::encode_ready_for_query(out, status_);
  stream_.write(out);
  log::print(log::Level::Error, log_context(), "{}", error.one_line());
  set_state(ClientState::Idle);
  if (pumping_) {  // the caller takes the batch off its input
    refused_ = true;
    return;
  }
  const std::size_t length = batch_.length;
  batch_.clear();
  in_.erase(0, length);
  pump();
}

// Brings the backend to where the session is; true if there is nothing (left) to do.
bool ClientSession::prepare(Backend& backend) {
  if (internal_ != nullptr) return false;
  if (backend.status != 'I') return true;
  ReplayMessages messages;
  const StateVersion version = state_of_session_.version();
  if (!state_of_session_.caught_up(backend.applied)) {
    messages = replay_messages(state_of_session_.difference(backend.applied));
    if (messages.ready == 0) backend.applied = version;
  }
  // SQL's EXECUTE and DEALLOCATE may name what the protocol has prepared on another node.
  if (!names_.empty()) add_named_statements(backend, messages);
  if (messages.ready == 0) return true;
  if (messages.discards) backend.prepared.clear();
  backend.prepared.erase(std::string());
  Backend* raw = &backend;
  start_internal(backend, std::move(messages.bytes), messages.ready, [this, raw, version](InternalResult& result) {
    if (result.lost) {
      remove_backend(*raw);
      batch_.node = -1;
    } else if (result.error && raw->node() != worker_.nodes().primary && block_node_ < 0) {
      // The session's state may be such as a standby does not take: its primary does.
      log::print(log::Level::Info, log_context(), "node {} does not take the state of the session: {}", raw->node(), result.error->one_line());
      excluded_.set(static_cast<std::size_t>(raw->node()));
      remove_backend(*raw);
      batch_.node = -1;
    } else if (result.error) {
      return refuse_batch(*result.error);
    } else {
      raw->applied = version;
      for (const auto& name : preparing_names_) {
        if (const PreparedPtr statement = names_.find(name)) raw->prepared.insert_or_assign(name, statement->generation);
      }
      for (const auto& [name, value] : result.parameters) tell_parameter(*raw, name, value);
    }
    preparing_names_.clear();
    pump();
  });
  return false;
}

void ClientSession::add_named_statements(Backend& backend, ReplayMessages& messages) {
  preparing_names_.clear();
  for (const Resolution* resolution : resolutions_) {
    for (const parser::Statement& statement : resolution->facts->facts.statements) {
      const bool by_name = statement.kind == StatementKind::Execute || statement.kind == StatementKind::Prepare ||
                           (statement.kind == StatementKind::Deallocate && !statement.all);
      if (!by_name) continue;
      const PreparedPtr prepared = names_.find(statement.identifier);
      if (prepared == nullptr || prepared->parse_message.empty()) continue;
      const auto there = backend.prepared.find(prepared->name);
      if (there != backend.prepared.end() && there->second == prepared->generation) continue;
      if (there != backend.prepared.end()) wire::encode_close(messages.bytes, 'S', prepared->name);
      messages.bytes += prepared->parse_message;
      wire::encode_sync(messages.bytes);
      ++messages.ready;
      preparing_names_.push_back(prepared->name);
    }
  }
}

void ClientSession::start_internal(Backend& backend, std::string messages, int ready, std::function<void(InternalResult&)> done) {
  set_state(ClientState::Preparing);
  internal_backend_ = &backend;
  internal_ = InternalQuery::start(worker_, backend, std::move(messages), ready, [this, raw = &backend, then = std::move(done)](InternalResult& result) {
    internal_ = nullptr;
    internal_backend_ = nullptr;
    internal_backend_done_ = raw;
    if (!result.lost) raw->set_user(this);
    set_state(ClientState::Idle);
    then(result);
  });
}

// The open READ ONLY block lies on a standby, and this statement must not run there: the block is rebuilt on the primary
// and given up on the standby. READ COMMITTED only: each statement has a snapshot of its own.
bool ClientSession::move_block(Backend& primary) {
  const bool portal = std::any_of(portals_.begin(), portals_.end(), [](const auto& p) { return !p.first.empty(); });
  if (!state_of_session_.block_is_repeatable() || status_ != 'T' || portal) {
    batch_.node = block_node_;  // it stays (an open portal cannot move), and the standby refuses what it cannot do
    pump_again_ = true;
    return false;
  }
  std::string messages;
  int ready = 0;
  for (const std::string& text : state_of_session_.block()) {
    wire::encode_query(messages, text);
    ++ready;
  }
  start_internal(primary, std::move(messages), ready, [this, raw = &primary](InternalResult& result) {
    if (result.lost || result.error) return fail(result.error.value_or(make_error(sqlstate::kConnectionFailure, "the primary was lost")));
    block_node_ = raw->node();
    routing_.block_on_standby = false;
    abandon_standby_block();
  });
  return false;
}

void ClientSession::abandon_standby_block() {
  for (auto& backend : set_) {
    if (backend->node() == block_node_ || backend->status == 'I') continue;
    std::string rollback;
    wire::encode_query(rollback, "ROLLBACK");
    start_internal(*backend, std::move(rollback), 1, [this](InternalResult& result) {
      if (result.lost) remove_backend(*internal_backend_done_);
      pump();
    });
    return;
  }
  pump();
}

// ------------------------------------------------------------------------------------------------- state of the session

// What sending the batch may do to the session counts from now on.
void ClientSession::apply_effects() {
  if (batch_.kind == Batch::Kind::Function) routing_.opaque_state = true;
  for (const Resolution* resolution : resolutions_) note_effects(*resolution);
  if (!unverified_now_.empty()) verify_writes();
}

void ClientSession::note_effects(const Resolution& resolution) {
  const lb::Effects& effects = resolution.effects;
  if (effects.none()) return;
  routing_.may_have_temp |= effects.may_have_temp;
  routing_.opaque_state |= effects.opaque_state;
  routing_.unusual_isolation |= effects.unusual_isolation;
  routing_.serializable_default |= effects.serializable_default;
  session_locks_ |= effects.session_locks;
  catalog_changed_ |= effects.changes_catalog && !effects.catalog_by_tag;
  unverified_now_.insert(unverified_now_.end(), effects.unverified.begin(), effects.unverified.end());
  for (const lb::NamedEffect& named : effects.named) apply_named(named);
}

ClientSession::Fears ClientSession::fears() const {
  return {routing_.may_have_temp, routing_.opaque_state, routing_.unusual_isolation, routing_.serializable_default, routing_.listening, routing_.open_cursor};
}

void ClientSession::fears(const Fears& fears) {
  routing_.may_have_temp = fears.may_have_temp;
  routing_.opaque_state = fears.opaque_state;
  routing_.unusual_isolation = fears.unusual_isolation;
  routing_.serializable_default = fears.serializable_default;
  routing_.listening = fears.listening;
}

void ClientSession::apply_named(const lb::NamedEffect& named) {
  switch (named.change) {
    case lb::NamedChange::OpenCursor: routing_.open_cursor = true; break;
    case lb::NamedChange::OpenHoldCursor: routing_.open_cursor = hold_cursor_ = true; break;
    case lb::NamedChange::Listen: routing_.listening = true; break;
    default: break;
  }
}

void ClientSession::refresh_routing() {
  const auto is = [](std::optional<std::string_view> value, std::string_view text) {
    return value && value->size() == text.size() &&
           std::equal(text.begin(), text.end(), value->begin(), [](char a, char b) { return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b))); });
  };
  NameContext context;
  context.database = identity_.database;
  context.search_path_known = info_ != nullptr && info_->defaults_known;
  if (context.search_path_known) context.search_path = info_->search_path;
  if (state_of_session_.has_changed("search_path") || state_of_session_.has_changed("role") || state_of_session_.has_changed("session_authorization")) {
    context.search_path_known = false;
    context.search_path.clear();
  }
  for (const auto& parameter : state_of_session_.startup_parameters()) {
    if (parameter.first == "search_path") context.search_path_known = false;
    if (parameter.first.starts_with("default_transaction_")) routing_.unusual_isolation = true;
    if (parameter.first == "default_transaction_isolation") routing_.serializable_default = true;
  }
  const auto encoding = state_of_session_.literal("client_encoding");
  if (state_of_session_.has_changed("client_encoding") && !encoding) routing_.unsafe_encoding = true;
  if (encoding) {
    // The server looks at letters and digits only: 'utf-8', UTF8 and "Utf_8" are one name.
    std::string name;
    for (char c : *encoding) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    static constexpr std::string_view kSafe[] = {"utf8",    "unicode", "sqlascii", "latin1",  "iso88591", "latin2",  "iso88592", "latin9", "iso885915", "win1250",
                                                 "win1251", "win1252", "windows1250", "windows1251", "windows1252", "koi8", "koi8r", "eucjp", "euckr", "euccn", "euctw"};
    routing_.unsafe_encoding = std::find(std::begin(kSafe), std::end(kSafe), name) == std::end(kSafe);
    context.foreign_encoding = name != "utf8" && name != "unicode";
  }
  const auto strings = state_of_session_.literal("standard_conforming_strings");
  routing_.nonstandard_strings = state_of_session_.has_changed("standard_conforming_strings") ? !is(strings, "on") && !is(strings, "true") && !is(strings, "1")
                                                                                              : strings && !is(strings, "on");
  routing_.session_parameters = state_of_session_.known_parameters();
  context_ = worker_.resolver().context(std::move(context));
  last_unnamed_.reset();
}

// What of this session would be lost with the primary's connection; empty: nothing.
std::string ClientSession::unreplayable() const {
  if (block_node_ >= 0) return "an open transaction block";
  if (routing_.may_have_temp) return "temporary objects may exist";
  if (routing_.opaque_state) return "the session's state may have been changed by a function";
  if (hold_cursor_) return "a cursor WITH HOLD is open";
  if (routing_.listening) return "LISTEN is active";
  if (session_locks_) return "session-level advisory locks may be held";
  return {};
}

void ClientSession::nodes_changed(bool grown) {
  if (state_ == ClientState::Closing || set_.empty()) return;
  const shmem::NodeView& nodes = worker_.nodes();
  if (grown && block_node_ < 0) reader_node_ = -1;  // drawn again: a node that is back gets its share of old sessions too
  for (auto& backend : set_) {
    // A frozen or cut off server never says that it is gone.
    const bool frozen = backend->node() < nodes.count && nodes.nodes[static_cast<std::size_t>(backend->node())].frozen;
    if (!frozen || !backend->alive()) continue;
    backend->give_up(make_error(sqlstate::kConnectionFailure, fmt::format("node {} does not answer any more", backend->node())));
    return worker_.recheck_nodes(*this);  // the set has changed
  }
  if (internal_ != nullptr || acquiring_) return;
  if (reader_node_ >= 0 && !lb::eligible_node(nodes, reader_node_)) reader_node_ = -1;
  if (reader_node_ >= 0 && backend_at(reader_node_) == nullptr) reader_node_ = -1;  // a node that is back gets its share
  for (std::size_t i = 0; i < set_.size();) {
    Backend& backend = *set_[i];
    const bool idle = &backend != active_ || (tracker_.idle() && !tracker_.unsynced());
    const bool usable = backend.node() < nodes.count && nodes.nodes[static_cast<std::size_t>(backend.node())].usable();
    const bool primary = backend.node() == nodes.primary;
    if (!usable && idle && !primary && block_node_ != backend.node() && nodes.primary >= 0 && !primary_backend(backend)) {
      remove_backend(backend);
    } else {
      ++i;
    }
  }
}

}  // namespace weir::child
