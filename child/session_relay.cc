// Answers of servers on their way to the client: see client_session.h.
#include <fmt/format.h>

#include <algorithm>

#include "child/catalog_lookup.h"
#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/login_defaults.h"
#include "child/replay_messages.h"
#include "child/retry.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/backend.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"

namespace weir::child {
namespace {

constexpr std::size_t kOutputHighMark = 256U << 10U;
constexpr std::size_t kMaxHold = 64U << 10U;
constexpr std::size_t kMaxLookedAt = 64U << 10U;  // of a message that must be looked at as a whole

// What a text that could not be looked at turned out to be, by its tag.
const parser::Statement& discard_all() {
  static const parser::Statement statement = [] {
    parser::Statement all;
    all.kind = parser::StatementKind::Discard;
    all.all = true;
    return all;
  }();
  return statement;
}

shmem::ErrorClass error_class(std::string_view severity) {
  if (severity == "PANIC") return shmem::ErrorClass::Panic;
  return severity == "FATAL" ? shmem::ErrorClass::Fatal : shmem::ErrorClass::Error;
}

// What a server may say at any time; an error is its last word. A ReadyForQuery behind a Sync that was taken for ignored is left to the tracker.
bool is_unasked(char tag) { return tag == 'N' || tag == 'S' || tag == 'A' || tag == 'E' || tag == 'Z' || tag == 'K' || tag == 'R' || tag == 'v'; }

struct Uncork {
  Stream& stream;
  ~Uncork() { stream.uncork(); }
};

}  // namespace

std::size_t ClientSession::on_backend_bytes(Backend& backend, Bytes bytes) {
  if (state_ == ClientState::Closing) return bytes.size();
  if (&backend != active_) {
    // Another backend of the set has something to say of its own accord: only between two messages to the client.
    if (server_left_ > 0) return 0;
    return relay_idle(backend, bytes);
  }
  if (read_sent_) {
    const Monotonic sent = *std::exchange(read_sent_, std::nullopt);
    worker_.rows().note_latency(backend.node(), monotonic_microseconds(monotonic_now()) - monotonic_microseconds(sent));
  }
  const std::size_t taken = relay(backend, bytes);
  traffic_.count(shmem::Traffic::Sent, taken);
  if (state_ == ClientState::Closing) return bytes.size();
  if (input_ended_ && !answers_owed()) schedule_pump();  // the server waits for data of a client that has gone
  if (input_ended_ && stream_.broken()) {  // it had not closed its sending side only
    end("the client closed the connection without saying goodbye");
    return bytes.size();
  }
  if (stream_.pending() > kOutputHighMark) backend.pause_reading();
  if (taken == bytes.size()) give_back();
  return taken;
}

void ClientSession::forward(Bytes bytes) {
  if (bytes.empty()) return;
  if (batch_.retained && !begun_) {
    hold_.append(as_text(bytes));
    if (hold_.size() > kMaxHold) begin_answer();
    return;
  }
  stream_.write(bytes);
}

// From here on the client sees the answer, and the exchange cannot be run elsewhere any more. What was held back goes
// first; in one write with what follows.
void ClientSession::begin_answer() {
  if (begun_) return;
  begun_ = true;
  if (hold_.empty()) return;
  stream_.cork();
  stream_.write(hold_);
  hold_.clear();
}

// One pass over what has arrived. Runs of messages that go to the client leave in one write.
std::size_t ClientSession::relay(Backend& backend, Bytes bytes) {
  const Uncork uncork{stream_};
  std::size_t pos = 0;
  std::size_t from = 0;  // [from, pos) goes to the client
  const auto flush = [&](std::size_t next) {
    forward(bytes.subspan(from, pos - from));
    from = next;
  };
  while (pos < bytes.size()) {
    if (server_left_ > 0) {
      const std::size_t count = std::min(server_left_, bytes.size() - pos);
      server_left_ -= count;
      if (!server_forward_) flush(pos + count);
      pos += count;
      continue;
    }
    const Bytes rest = bytes.subspan(pos);
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromServer, rest);
    if (header.status == wire::FrameStatus::NeedMore) break;
    if (header.status == wire::FrameStatus::Violation || !header.known) {
      flush(pos);
      lose_exchange(backend, make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent an invalid message", backend.node())));
      return bytes.size();
    }
    if (tracker_.idle() && !tracker_.skipping() && !is_unasked(header.tag)) {
      // Nothing is under way: the client has its answer, and nobody must take this for one.
      flush(pos);
      on_backend_lost(backend, make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent message \"{}\" that nothing had asked for", backend.node(), printable(header.tag))));
      return bytes.size();
    }
    const std::size_t total = header.total();
    const bool bulk = header.tag == 'D' || header.tag == 'd';
    if (bulk && begun_ && !discarding_ && tracker_.executing()) {
      // The hot path of large results: nothing to learn from a row.
      const std::size_t here = std::min(total, rest.size());
      server_left_ = total - here;
      server_forward_ = true;
      pos += here;
      continue;
    }
    if (total > rest.size() && total <= kMaxLookedAt && !bulk) break;  // wait for the whole message
    const bool whole = total <= rest.size();
    const Bytes message = rest.first(std::min(total, rest.size()));
    const bool to_client = on_reply(backend, header.tag, message);
    if (state_ == ClientState::Closing || active_ != &backend) return bytes.size();
    const bool ready = std::exchange(ready_seen_, false);
    if (ready && to_client && state_of_session_.owes_startup() && tracker_.idle() && ready_status_ != 'E') {
      flush(pos);
      restore_startup(backend);
      return pos + message.size();
    }
    if (!whole) {
      server_left_ = total - rest.size();
      server_forward_ = to_client;
    }
    if (!to_client) flush(pos + message.size());
    pos += message.size();
    if (!instead_.empty()) forward(as_bytes(std::exchange(instead_, {})));
    if (std::exchange(stands_for_parse_, false)) {
      std::string complete;
      wire::encode_parse_complete(complete);
      forward(as_bytes(complete));
    }
    if (ready) {
      flush(pos);
      settle(backend);
      if (state_ == ClientState::Closing || active_ != &backend) return bytes.size();
    }
  }
  flush(pos);
  if (tracker_.idle() && (!in_.empty() || input_ended_)) schedule_pump();  // the replies of an unfinished batch are all there
  return pos;
}

// True if the message goes to the client.
bool ClientSession::on_reply(Backend& backend, char tag, Bytes message) {
  if (tag == 'N' || tag == 'A') return !discarding_;
  if (tag == 'S') return on_parameter(backend, message);
  if (tag == 'K' || tag == 'R' || tag == 'v') return false;  // no login is under way: not for the client
  const bool idle = tracker_.idle() && !tracker_.unsynced() && server_left_ == 0;
  const Progress progress = tracker_.feed(tag);
  using Event = Progress::Event;
  switch (progress.event) {
    case Event::Unexpected:
      if (idle) {
        on_backend_lost(backend, make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent message \"{}\" that nothing had asked for", backend.node(), printable(tag))));
        return false;
      }
      lose_exchange(backend, make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent message \"{}\" out of turn", backend.node(), printable(tag))));
      return false;
    case Event::Parsed:
    case Event::Closed:
      if (!discarding_) names_.succeeded(backend);
      return !progress.hidden && !discarding_;
    case Event::ParsedAlready:
      if (discarding_) return false;
      names_.succeeded(backend);
      stands_for_parse_ = true;
      return false;
    case Event::StatementDone:
      if (progress.hidden) {
        if (opening_left_ > 0) --opening_left_;
        return false;
      }
      if (!written_.none()) forget_written();
      if (!discarding_) on_statement_done(message, tag);
      [[fallthrough]];
    case Event::Answer:
    case Event::CopyIn:
      if (progress.hidden) return false;
      if (!discarding_) begin_answer();
      return !discarding_;
    case Event::Error: return on_error_reply(backend, message, progress);
    case Event::Ready: {
      const auto status = wire::parse_ready_for_query(message.subspan(5));
      if (!status) {
        lose_exchange(backend, make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent an invalid ReadyForQuery", backend.node())));
        return false;
      }
      if (pool_mode_ == PoolMode::Statement && *status != 'I') {
        backend.status = *status;
        fail(make_fatal(sqlstate::kFeatureNotSupported, "transaction blocks not allowed in statement pooling mode", "pool_mode is statement."));
        return false;
      }
      ready_status_ = *status;
      ready_seen_ = true;
      if (*status == 'I') publish_login_change();
      if (*status == 'I' && !batch_.aside) forget_written();
      if (!discarding_) begin_answer();
      return !discarding_ && opening_left_ == 0 && !batch_.aside;
    }
    case Event::Other: return !progress.hidden && !discarding_;
  }
  return true;
}

bool ClientSession::on_error_reply(Backend& backend, Bytes message, const Progress& progress) {
  const auto fields = wire::parse_error_fields(message.subspan(5));
  const std::string_view sqlstate = fields ? fields->sqlstate : std::string_view();
  instead_ = error_for_client(message, progress, sqlstate);
  names_.skipped(progress.skipped_parses + progress.skipped_closes);
  if (note_unusable(backend, progress, sqlstate) && heals(backend)) return false;
  const bool fatal = fields && (fields->severity == "FATAL" || fields->severity == "PANIC");
  failed_ = true;
  // What code of the user's has prepared or deallocated before it failed stays so.
  if (routing_.opaque_state && !before_.opaque_state && sqlstate != sqlstate::kSyntaxError) names_in_doubt_ = !names_.empty() || names_in_doubt_;
  worker_.rows().counts(backend.node()).count(error_class(fields ? fields->severity : std::string_view()));
  if (discarding_) return instead_.clear(), false;
  const bool primary = backend.node() == worker_.nodes().primary;
  // A block that a standby does not take is opened elsewhere, whatever its reason.
  const bool unopened = opening_left_ > 0 && retries_ < kMaxRetries;
  const bool again = batch_.aside ? may_rerun_in_block(sqlstate) : unopened || may_retry(sqlstate, fatal, status_ == 'I' || block_can_move(), retries_);
  if (batch_.retained && !batch_.for_healing && !begun_ && again) {
    log::print(log::Level::Info, log_context(), "node {} refused a read with {}: it is run again on another node", backend.node(), sqlstate);
    discarding_ = true;
    hold_.clear();
    instead_.clear();
    retry_on_primary_ = !is_recovery_conflict(sqlstate);
    return false;
  }
  if (fatal && !primary && batch_.retained && !batch_.for_healing) return false;  // on_backend_lost makes an ERROR of it
  begin_answer();
  if (fatal) {
    // The server ends this connection and says why; the client is told in the server's words if its state dies with it.
    last_fatal_ = fields ? fields->to_error() : Error{};
    const bool idle_timeout = sqlstate == "57P05";  // the client has been silent since: its own limit, and its end
    // Nobody waits, and nothing is lost with it: a new connection will do.
    if (tracker_.idle() && nothing_is_lost_with(backend) && !idle_timeout) return false;
    log::print(log::Level::Log, log_context(), "node {} ends the session: {}", backend.node(), last_fatal_.one_line());
    told_fatal_ = true;
  }
  return instead_.empty();
}

void ClientSession::on_statement_done(Bytes message, char tag) {
  completed_any_ = true;
  std::string_view completion = as_text(message.subspan(5));
  completion = completion.substr(0, completion.find('\0'));
  if (tag == 'C' && may_change_login(completion)) login_changed_ = true;
  if (running_head_ >= running_.size()) return;
  Running& running = running_[running_head_];
  if (tag == 's') {
    ++running_head_;
    return;
  }
  if (running.facts == nullptr) note_tag(completion);
  if (running.facts != nullptr) {
    const auto& statements = running.facts->facts.statements;
    const bool unknown = statements.size() == 1 && statements.front().kind == parser::StatementKind::Unknown;
    if (const parser::Statement* next = running.next.next(running.facts->facts); next != nullptr || unknown) {
      const parser::Statement& statement = !unknown                        ? *next
                                           : completion == "DISCARD ALL" ? discard_all()
                                                                           : statements.front();
      if (unknown) note_tag(completion);
      if (unknown && lb::tag_may_change_catalog(completion)) catalog_changed_ = true;
      if (takes_snapshot(statement)) state_of_session_.on_query();
      if (changes_state(statement)) {
        state_of_session_.on_completed(statement, completion);
        completed(statement, running.facts->facts);
        state_changed_ = true;
      }
    }
  }
  if (!running.query) ++running_head_;
}

// Changes of the session that are not parameters: cursors, prepared statements, LISTEN.
void ClientSession::completed(const parser::Statement& statement, const parser::StatementFacts& text) {
  using parser::StatementKind;
  switch (statement.kind) {
    case StatementKind::Discard:
      if (!statement.all) {
        if (statement.identifier == "sequences" && active_ != nullptr) active_->drawn_by = 0;
        if (statement.identifier == "temp" && block_node_ < 0 && routing_.temp_names_known) routing_.may_have_temp = false;
        break;
      }
      names_.forget_all();
      last_unnamed_.reset();
      if (active_ != nullptr) active_->forget_statements();
      if (active_ != nullptr) active_->drawn_by = 0;
      asks_sequences_ = false;
      routing_.may_have_temp = routing_.open_cursor = routing_.listening = routing_.opaque_state = false;
      hold_cursor_ = session_locks_ = sql_prepared_ = names_in_doubt_ = false;
      unverified_.clear();
      routing_.unverified_writes.clear();
      if (info_ != nullptr) routing_.unusual_isolation = info_->unusual_isolation;
      if (info_ != nullptr) routing_.serializable_default = info_->serializable_default;
      break;
    case StatementKind::Deallocate:
      if (statement.all) {
        names_.forget_all();
        last_unnamed_.reset();
        sql_prepared_ = names_in_doubt_ = false;
        if (active_ != nullptr) active_->forget_statements();
      } else {
        names_.forget(statement.identifier);
        if (active_ != nullptr) active_->prepared.erase(statement.identifier);
      }
      break;
    case StatementKind::Prepare: note_prepared(statement, text); break;
    case StatementKind::CloseCursor:
      if (statement.all && status_ == 'I') routing_.open_cursor = hold_cursor_ = false;
      break;
    case StatementKind::Listen: routing_.listening = true; break;  // also behind an UNLISTEN in the same string
    case StatementKind::Unlisten:
      if (statement.all) routing_.listening = false;
      break;
    default: break;
  }
}

// For the rules of SET TRANSACTION.
bool ClientSession::takes_snapshot(const parser::Statement& statement) {
  using parser::StatementKind;
  switch (statement.kind) {
    case StatementKind::Select:
    case StatementKind::CopyOut:
    case StatementKind::Explain:
    case StatementKind::Execute: return true;
    default: return false;
  }
}

bool ClientSession::changes_state(const parser::Statement& statement) {
  using parser::StatementKind;
  switch (statement.kind) {
    case StatementKind::Select:
    case StatementKind::CopyOut:
    case StatementKind::Explain:
    case StatementKind::Execute:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete: return !statement.sets.empty();
    default: return true;
  }
}

// Before the client knows that its statement is done: whoever logs in from then on gets what is new. What was rolled back
// costs a question for nothing.
void ClientSession::publish_login_change() {
  if (std::exchange(login_changed_, false)) worker_.count_login_change();
}

// The session is older than the defaults of BACKEND, which has caught up with it.
void ClientSession::tell_new_defaults(const Backend& backend) {
  for (const auto& [name, value] : backend.parameters) tell_parameter(backend, name, value);
}

void ClientSession::keep_told(const LoginInfo& info) {
  if (info_ != &info || state_ == ClientState::Closing) return;
  for (const auto& parameter : info.parameters) {
    const bool own = std::any_of(told_.begin(), told_.end(), [&](const auto& told) { return told.first == parameter.first; });
    if (!own && told_.size() < ReportedParameters::kMaxNames) told_.push_back(parameter);
  }
}

bool ClientSession::on_parameter(Backend& backend, Bytes message) {
  const auto parameter = wire::parse_parameter_status(message.subspan(5));
  if (!parameter) return false;
  const bool taken = backend.parameters.note(parameter->name, parameter->value);
  if (discarding_ || !taken) return false;
  return note_parameter(backend, parameter->name, parameter->value);
}

// True if the client must be told: only what changes its last knowledge, and never what is the standby's own.
bool ClientSession::note_parameter(const Backend& backend, std::string_view name, std::string_view value) {
  static constexpr std::string_view kPrimarys[] = {"in_hot_standby", "server_version", "server_encoding", "integer_datetimes", "default_transaction_read_only"};
  const bool primary = backend.node() == worker_.nodes().primary;
  if (!primary && std::find(std::begin(kPrimarys), std::end(kPrimarys), name) != std::end(kPrimarys)) return false;
  for (auto& [known, last] : told_) {
    if (known != name) continue;
    if (last == value) return false;
    last = value;
    return true;
  }
  if (info_ != nullptr) {
    for (const auto& [known, last] : info_->parameters) {
      if (known == name && last == value) return false;
    }
  }
  if (told_.size() >= ReportedParameters::kMaxNames) return false;
  told_.emplace_back(name, value);
  return true;
}

void ClientSession::tell_parameter(const Backend& backend, std::string_view name, std::string_view value) {
  if (!note_parameter(backend, name, value)) return;
  std::string out;
  wire::encode_parameter_status(out, name, value);
  stream_.write(out);
}

// RESET and DISCARD return to the values of the client's startup packet, which the server does not know as such: they are
// set again before the client learns that the exchange is done, so that it never sees the server's own.
void ClientSession::restore_startup(Backend& backend) {
  start_internal(backend, restore_messages(state_of_session_.owed_startup(), state_of_session_.owed_local()), 1, [this, raw = &backend](InternalResult& result) {
    if (result.lost) return fail(make_fatal(sqlstate::kConnectionFailure, "the connection to the server was lost"));
    if (result.error) log::print(log::Level::Warning, log_context(), "the startup parameters could not be set again: {}", result.error->one_line());
    state_of_session_.startup_restored();
    raw->prepared.erase(std::string());
    for (const auto& [name, value] : result.parameters) tell_parameter(*raw, name, value);
    ready_status_ = result.status;
    std::string ready;
    wire::encode_ready_for_query(ready, ready_status_);
    stream_.write(ready);
    settle(*raw);
  });
}

// An exchange is done.
void ClientSession::settle(Backend& backend) {
  backend.status = ready_status_;
  if (discarding_ && healing_) return run_healed();
  if (discarding_) return retry_elsewhere(backend);
  if (batch_.aside) return settle_aside();
  // BEGIN has failed, and nothing behind it was run: to the client its transaction has failed.
  const bool unopened = std::exchange(opening_left_, 0) > 0;
  if (unopened) {
    ready_status_ = 'E';
    std::string ready;
    wire::encode_ready_for_query(ready, ready_status_);
    stream_.write(ready);
  }
  const StateVersion reached = state_of_session_.on_ready(ready_status_, failed_);
  backend.applied = unopened ? state_of_session_.block_version() : reached;
  status_ = ready_status_;
  if (ready_status_ == 'I') {
    block_node_ = -1;
    routing_.block_on_standby = false;
    portals_.clear();
    if (failed_ && tracker_.exchanges() == 0 && !completed_any_) {
      fears(before_);
      unverified_now_.clear();
    }
    completed_any_ = false;
    if (!hold_cursor_) routing_.open_cursor = false;
    if (std::exchange(catalog_changed_, false)) worker_.resolver().catalog_changed();
    if (std::exchange(catalog_suspect_, false)) worker_.catalog_lookup().suspect(identity_.database);
  } else if (block_node_ < 0) {
    block_node_ = backend.node();
    routing_.block_on_standby = !primary_backend(backend);
  }
  if (unopened) set_held(HeldBlock::Aborted);
  if (ready_status_ != 'I') {
    routing_.block_modes = state_of_session_.block_modes();
    routing_.chained_modes = state_of_session_.inherited_modes();
  }
  if (std::exchange(state_changed_, false) || (failed_ && ready_status_ == 'I')) refresh_routing();
  if (tracker_.exchanges() == 0) {
    // Each once: a name may be used a thousand times before it is looked up.
    for (lb::Unverified& use : unverified_now_) {
      if (std::find(unverified_.begin(), unverified_.end(), use) == unverified_.end()) unverified_.push_back(std::move(use));
    }
    unverified_now_.clear();
    names_before_.reset();
    if (ready_status_ == 'I') settle_isolation();
  }
  finish_running();
  failed_ = false;
  excluded_.reset();
  retries_ = 0;
  last_fatal_ = Error{};
  query_ends();
  if (tracker_.idle()) {
    startup_in_doubt_ = false;
    active_at_ = worker_.loop().now();
    traffic_.answered(active_at_, ready_status_ == 'I');
    set_state(ClientState::Idle);
    finish_retained();
  }
  if (!in_.empty() || input_ended_) schedule_pump();
}

void ClientSession::finish_running() {
  // A Query leaves its entry at ReadyForQuery; an error leaves those of skipped messages.
  if (tracker_.idle()) {
    running_.clear();
    running_head_ = 0;
    return;
  }
  // The entries that still have to come are as many as there are executing messages outstanding.
  const std::size_t outstanding = tracker_.executing_count();
  if (running_.size() > outstanding) running_head_ = running_.size() - outstanding;
}

void ClientSession::finish_retained() {
  if (!batch_.retained) return;
  in_.erase(0, batch_.length);
  batch_.clear();
  if (in_.empty() && in_.capacity() > 4096) in_ = {};
}

// The input is looked at again once the bytes at hand have been dealt with.
void ClientSession::schedule_pump() {
  if (pump_scheduled_) return;
  pump_scheduled_ = true;
  worker_.loop().defer([this, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    pump_scheduled_ = false;
    pump();
  });
}

// A backend of the set that is not in an exchange, or an idle session's.
std::size_t ClientSession::relay_idle(Backend& backend, Bytes bytes) {
  std::size_t pos = 0;
  while (pos < bytes.size()) {
    const Bytes rest = bytes.subspan(pos);
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromServer, rest);
    if (header.status == wire::FrameStatus::NeedMore || (header.status == wire::FrameStatus::Ok && header.total() > rest.size() && header.total() <= kMaxLookedAt)) break;
    if (header.status == wire::FrameStatus::Ok && header.tag == 'E') return bytes.size();  // the end of the connection follows
    if (header.status != wire::FrameStatus::Ok || header.total() > rest.size() || (header.tag != 'A' && header.tag != 'N' && header.tag != 'S')) {
      on_backend_lost(backend, make_error(sqlstate::kProtocolViolation, fmt::format("node {} sent a message that nothing had asked for", backend.node())));
      return bytes.size();
    }
    const Bytes message = rest.first(header.total());
    if (header.tag == 'A' || (header.tag == 'N' && backend.node() == worker_.nodes().primary)) stream_.write(message);
    if (header.tag == 'S' && on_parameter(backend, message)) stream_.write(message);
    pos += message.size();
  }
  return pos;
}

void ClientSession::on_backend_drained(Backend& backend) {
  static_cast<void>(backend);
  if (state_ == ClientState::Closing) return;
  if (!input_ended_) stream_.resume_reading();
  if (!in_.empty()) schedule_pump();
}

}  // namespace weir::child
