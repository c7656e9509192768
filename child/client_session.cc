// Life of a session and its input: see client_session.h.
#include "child/client_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "child/cancel.h"
#include "child/client_login.h"
#include "child/internal_query.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/config/log_settings.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"
#include "common/wire/frontend.h"

namespace weir::child {
namespace {

// A client that waits may send this much ahead before it is no longer read.
constexpr std::size_t kInputHighMark = 2 * Batch::kLimit;
// Unsent bytes of one side at which the other side is no longer read.
constexpr std::size_t kOutputHighMark = 256U << 10U;
// A prefix of an oversize message that must have arrived before it is looked at: names are far shorter.
constexpr std::size_t kOversizePrefix = 1024;
constexpr std::size_t kFlushSize = 5;

}  // namespace

ClientSession::ClientSession(Worker& worker, int slot, UniqueFd fd, std::string peer, int peer_port)
    : worker_(worker),
      slot_(slot),
      stream_(worker.loop(), std::move(fd), *this),
      cancel_secret_(secure_random_u32()),
      active_at_(worker.loop().now()) {
  identity_.peer = std::move(peer);
  identity_.peer_port = peer_port;
  login_ = std::make_unique<ClientLogin>(worker, *this);
}

ClientSession::~ClientSession() = default;

std::uint32_t ClientSession::cancel_pid() const {
  return (static_cast<std::uint32_t>(worker_.context().slot) << 20U | static_cast<std::uint32_t>(slot_)) + 1;
}

void ClientSession::set_state(ClientState state) {
  if (state == state_) return;
  WEIR_CHECK(state_ != ClientState::Closing);
  const bool whole = state_ == ClientState::Startup || state == ClientState::Closing;
  state_ = state;
  if (whole) {
    worker_.rows().publish_session(*this);
  } else {
    worker_.rows().publish_phase(*this);
  }
}

void ClientSession::welcome(ClientIdentity identity, SessionState::Parameters startup, std::optional<auth::Secret> secret,
                            LoginInfo& info, const ParameterList& reported) {
  identity_ = std::move(identity);
  secret_ = std::move(secret);
  info_ = &info;
  state_of_session_.set_startup_parameters(std::move(startup));
  routing_.database = identity_.database;
  routing_.replication = identity_.is_replication();
  routing_.unusual_isolation = info.unusual_isolation;
  routing_.serializable_default = info.serializable_default;
  told_ = reported;
  refresh_routing();

  std::string out;
  if (routing_.replication) {
    for (const auto& [name, value] : told_) wire::encode_parameter_status(out, name, value);
  } else {
    for (const auto& reported_by_server : info.parameters) {
      const auto own = std::find_if(told_.begin(), told_.end(), [&](const auto& p) { return p.first == reported_by_server.first; });
      wire::encode_parameter_status(out, reported_by_server.first, own != told_.end() ? own->second : reported_by_server.second);
    }
  }
  wire::encode_backend_key_data(out, cancel_pid(), cancel_secret_);
  wire::encode_ready_for_query(out, 'I');
  stream_.write(out);
  worker_.loop().destroy_later(std::move(login_));
  active_at_ = worker_.loop().now();
  set_state(ClientState::Idle);
  if (!in_.empty()) schedule_pump();
  if (worker_.config().log_connections) {
    log::print(log::Level::Log, log_context(), "connection received: host={} port={}", identity_.peer, identity_.peer_port);
  }
}

const config::Config& ClientSession::config() const { return settings_.config() != nullptr ? *settings_.config() : worker_.config(); }

void ClientSession::config_changed() { settings_.rebase(worker_.config()); }

log::Context ClientSession::log_context() const {
  log::Context context;
  if (settings_.config() != nullptr) context.min_level = config::log_level(*settings_.config());
  context.client = identity_.peer;
  context.database = identity_.database;
  context.user = identity_.user;
  context.application = identity_.application_name;
  return context;
}

void ClientSession::hold(std::unique_ptr<Backend> backend) {
  backend->set_user(this);
  backend->resume_reading();
  Backend& held = *backend;
  set_.push_back(std::move(backend));
  held.poke();  // what the server said unasked is not the answer to a question that is still to come
}

void ClientSession::fail(Error error) {
  if (state_ == ClientState::Closing) return;
  error.severity = Severity::Fatal;
  if (server_left_ > 0 && server_forward_ && (begun_ || !batch_.retained)) {
    // Half of a server's message has gone out: anything behind it would be taken for the rest of it.
    log::print(log::Level::Log, log_context(), "client is cut off in the middle of an answer: {}", error.one_line());
    return end(error.message);
  }
  std::string out;
  wire::encode_error(out, error);
  stream_.uncork();
  stream_.write(out);
  stream_.discard_input();  // unread input would make the kernel throw away what was just written
  log::print(log::Level::Log, log_context(), "client is disconnected: {}", error.one_line());
  end(error.message);
}

void ClientSession::end(std::string_view why) {
  if (state_ == ClientState::Closing) return;
  if (info_ != nullptr && worker_.config().log_disconnections) {
    log::print(log::Level::Log, log_context(), "disconnection: user={} database={} host={} port={}: {}", identity_.user,
               identity_.database, identity_.peer, identity_.peer_port, why);
  }
  set_state(ClientState::Closing);
  worker_.backends().withdraw(*this);
  if (login_) login_->abandon();
  if (internal_ != nullptr) internal_->abandon();
  internal_ = nullptr;
  // A cancel that is on its way must not hit the next client.
  const bool cancelling = cancel_ != nullptr;
  cancel_.reset();
  const bool busy = cancelling || !tracker_.idle() || tracker_.skipping() || tracker_.unsynced() || server_left_ > 0;
  auto set = std::move(set_);
  set_.clear();
  for (auto& backend : set) {
    const bool clean = backend->state() == BackendState::Busy && !(busy && backend.get() == active_) && !preparing(*backend);
    if (clean) {
      worker_.backends().release(std::move(backend));
    } else {
      worker_.backends().discard(std::move(backend));
    }
  }
  active_ = nullptr;
  stream_.close();
  worker_.session_ended(*this);
}

// ---------------------------------------------------------------------------------------------------------------- input

void ClientSession::keep_input(Bytes bytes) {
  in_.append(as_text(bytes));
  if (in_.size() > kInputHighMark) stream_.pause_reading();
}

void ClientSession::on_readable() {
  std::span<std::byte> scratch = worker_.scratch();
  const Stream::ReadResult got = stream_.read(scratch.first(Worker::kReadSize));
  if (got.outcome == Stream::Outcome::WouldBlock) return;
  if (got.outcome == Stream::Outcome::Closed && answers_owed()) {
    // The client has closed its side only: what it asked for is answered first, as a server does.
    input_ended_ = true;
    stream_.pause_reading();
    return;
  }
  if (got.outcome != Stream::Outcome::Data) return end("the client closed the connection without saying goodbye");
  active_at_ = worker_.loop().now();
  const Bytes bytes(scratch.data(), got.count);
  if (!in_.empty()) {
    keep_input(bytes);
    return pump();
  }
  pumping_ = true;
  const std::size_t taken = process(bytes);
  pumping_ = false;
  if (state_ == ClientState::Closing) return;
  if (taken < bytes.size()) keep_input(bytes.subspan(taken));
  if (std::exchange(pump_again_, false)) pump();
}

bool ClientSession::answers_owed() const {
  if (login_ != nullptr || tracker_.copy_in() || stream_left_ > 0) return false;
  if (flush_asked_ && !tracker_.idle()) return true;
  return tracker_.exchanges() > 0 || batch_.retained || state_ == ClientState::AwaitBackend || state_ == ClientState::AwaitPrimary || state_ == ClientState::Preparing;
}

void ClientSession::pump() {
  if (pumping_) {
    pump_again_ = true;
    return;
  }
  pumping_ = true;
  do {
    pump_again_ = false;
    if (in_.empty() || state_ == ClientState::Closing) break;
    const std::size_t taken = process(as_bytes(in_));
    if (state_ == ClientState::Closing) break;
    if (taken == in_.size() && in_.capacity() > 4096) {
      in_ = {};
    } else {
      in_.erase(0, taken);
    }
  } while (pump_again_);
  pumping_ = false;
  if (state_ == ClientState::Closing) return;
  if (input_ended_) {
    if (!answers_owed() && stream_.pending() == 0) end("the client closed the connection without saying goodbye");
    return;
  }
  if (in_.size() <= kInputHighMark && !output_full()) stream_.resume_reading();
}

bool ClientSession::output_full() const { return active_ != nullptr && active_->pending() > kOutputHighMark; }

bool ClientSession::blocked() const {
  return state_ == ClientState::Closing || state_ == ClientState::AwaitBackend || state_ == ClientState::AwaitPrimary ||
         state_ == ClientState::Preparing || batch_.retained || output_full() ||
         (cancel_ != nullptr && tracker_.idle());
}

// Returns how many bytes were dealt with. A batch that must wait, or that may have to be run again, is not: it stays at
// the start of the input.
std::size_t ClientSession::process(Bytes bytes) {
  std::size_t done = 0;
  while (!blocked()) {
    const Bytes rest = bytes.subspan(done);
    if (login_ != nullptr) {
      const std::size_t taken = login_->take(rest);
      if (taken == 0) break;
      done += taken;
      continue;
    }
    if (stream_left_ > 0) {
      if (rest.empty()) break;
      done += forward_stream(rest);
      continue;
    }
    if (batch_.end == Batch::End::Open) {
      if (batch_.kind == Batch::Kind::None && !rest.empty()) {
        const std::size_t copied = forward_copy(rest);
        if (copied > 0) {
          done += copied;
          continue;
        }
      }
      if (!collect(rest)) break;
      if (state_ == ClientState::Closing) break;
    }
    const std::size_t length = batch_.length;
    const Dispatch outcome = dispatch(rest.first(length));
    if (std::exchange(refused_, false)) {
      batch_.clear();
      done += length;
      continue;
    }
    if (outcome != Dispatch::Sent) break;
    const std::size_t oversize = batch_.oversize;
    batch_.clear();
    done += length;
    stream_left_ = oversize;
    stream_drop_ = false;
  }
  return done;
}

// Copy data goes on as it comes: whole runs of it in one write.
std::size_t ClientSession::forward_copy(Bytes bytes) {
  std::size_t end = 0;
  while (end < bytes.size()) {
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromClient, bytes.subspan(end));
    if (header.status != wire::FrameStatus::Ok) break;
    if (header.tag != 'd' && header.tag != 'c' && header.tag != 'f') break;
    if (header.tag != 'd') tracker_.sent(Sent::CopyEnd);
    if (header.total() > bytes.size() - end) {
      stream_left_ = header.total() - (bytes.size() - end);
      end = bytes.size();
      break;
    }
    end += header.total();
  }
  if (end == 0) return 0;
  long_text_.reset();
  // Outside of an exchange the server ignores copy data ("may be from a failed COPY"): so does pgweir.
  stream_drop_ = tracker_.idle() || active_ == nullptr;
  if (!stream_drop_) {
    active_->send(bytes.first(end));
    if (output_full()) stream_.pause_reading();
  }
  return end;
}

std::size_t ClientSession::forward_stream(Bytes bytes) {
  const std::size_t count = std::min(bytes.size(), stream_left_);
  stream_left_ -= count;
  if (long_text_ != nullptr) look_at_long_text(bytes.first(count));
  if (!stream_drop_ && active_ != nullptr) {
    active_->send(bytes.first(count));
    if (output_full()) stream_.pause_reading();
  }
  return count;
}

// A text that streams by is looked at as it goes, so that its size alone does not keep the session on the primary.
void ClientSession::look_at_long_text(Bytes bytes) {
  const std::size_t skipped = std::min(bytes.size(), long_skip_);
  long_skip_ -= skipped;
  const std::string_view rest = as_text(bytes.subspan(skipped));
  const std::string_view text = long_text_over_ ? std::string_view() : rest.substr(0, rest.find('\0'));
  long_text_->feed(text);
  long_text_over_ = long_text_over_ || text.size() < rest.size();
  if (stream_left_ > 0) return;
  const FactsPtr facts = worker_.resolver().long_facts(long_text_->finish());
  long_text_.reset();
  long_text_over_ = false;
  const auto statement = std::exchange(long_statement_, nullptr);
  // The server begins with a Query when it has all of it, and the rest of this one goes out after this: what completes
  // cannot be matched too early. There is no entry if the server skips it after an error.
  Running* running = !running_.empty() && running_.back().streams ? &running_.back() : nullptr;
  if (running != nullptr) running->streams = false;
  if (facts == worker_.resolver().unclassified()) return;
  fears(long_before_);
  if (statement != nullptr) {
    statement->facts = facts;  // its effects count when it is executed
    return;
  }
  if (running != nullptr) running->facts = facts;
  note_effects(worker_.resolver().resolve_once(facts, context_));
  if (!unverified_.empty() || !unverified_now_.empty()) verify_writes();
}

// Looks at what has arrived of the batch; true once it can be judged.
bool ClientSession::collect(Bytes bytes) {
  while (batch_.end == Batch::End::Open) {
    const Bytes rest = bytes.subspan(batch_.length);
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromClient, rest);
    if (header.status == wire::FrameStatus::NeedMore) return false;
    if (header.status == wire::FrameStatus::Violation || !header.known) {
      protocol_error(header.status == wire::FrameStatus::Violation
                         ? fmt::format("invalid message length {} of type \"{}\"", header.length, printable(header.tag))
                         : fmt::format("invalid frontend message type {}", static_cast<int>(static_cast<unsigned char>(header.tag))));
      return true;
    }
    if (header.total() > Batch::kLimit && header.tag != 'd') {
      if (rest.size() < std::min(header.total(), kOversizePrefix)) return false;
      return collect_oversize(rest, header.tag, header.total());
    }
    if (batch_.length + header.total() > Batch::kLimit && batch_.kind != Batch::Kind::None) {
      batch_.end = Batch::End::Overflow;
      return true;
    }
    if (header.total() > rest.size()) return false;
    if (header.tag == 'H' && header.total() == kFlushSize && !rest.subspan(kFlushSize).empty()) {
      // Some drivers say Flush just before Sync: it asks for nothing that Sync does not give.
      const Bytes behind = rest.subspan(kFlushSize);
      const wire::FrameHeader next = wire::peek_frame(wire::Direction::FromClient, behind);
      if (next.status == wire::FrameStatus::Ok && next.tag == 'S' && next.total() <= behind.size()) {
        batch_.kind = Batch::Kind::Extended;
        batch_.length += kFlushSize;
        continue;
      }
    }
    if (!collect_message(rest.first(header.total()), header.tag, header.total())) return true;  // session is over
  }
  return true;
}

std::string ClientSession::printable(char tag) {
  return tag >= 0x20 && tag < 0x7f ? std::string(1, tag) : fmt::format("\\x{:02x}", static_cast<unsigned char>(tag));
}

void ClientSession::protocol_error(std::string message) {
  fail(make_fatal(sqlstate::kProtocolViolation, std::move(message)));
}

bool ClientSession::collect_message(Bytes message, char tag, std::size_t total) {
  const Bytes body = message.subspan(5);
  switch (tag) {
    case 'Q': {
      if (batch_.kind == Batch::Kind::Extended) {  // a Query closes what went before: judge that first
        batch_.end = Batch::End::Overflow;
        return true;
      }
      const auto query = wire::parse_query(body);
      if (!query) return protocol_error("invalid Query message"), false;
      BatchItem item{Sent::Query, 0, total, {}, nullptr, facts_of(query->text), false};
      batch_.kind = Batch::Kind::Simple;
      batch_.items.push_back(std::move(item));
      batch_.pattern = worker_.policy().matches_primary_pattern(query->text);
      batch_.length = total;
      batch_.end = Batch::End::Complete;
      return true;
    }
    case 'F': {
      if (batch_.kind == Batch::Kind::Extended) {
        batch_.end = Batch::End::Overflow;
        return true;
      }
      batch_.kind = Batch::Kind::Function;
      batch_.items.push_back({Sent::FunctionCall, 0, total, {}, nullptr, nullptr, false});
      batch_.length = total;
      batch_.end = Batch::End::Complete;
      return true;
    }
    case 'X':
      end("the client said goodbye");
      return false;
    case 'd':
    case 'c':
    case 'f':
      batch_.end = Batch::End::CopyData;
      return true;
    case 'p': return protocol_error("unexpected password message"), false;
    default: return collect_extended(message, tag);
  }
}

bool ClientSession::collect_extended(Bytes message, char tag) {
  const Bytes body = message.subspan(5);
  BatchItem item;
  item.offset = batch_.length;
  item.size = message.size();
  batch_.kind = Batch::Kind::Extended;
  switch (tag) {
    case 'P': {
      const auto parse = wire::parse_parse(body);
      if (!parse) return protocol_error("invalid Parse message"), false;
      item.what = Sent::Parse;
      item.statement = new_statement(parse->name, message, parse->query);
      break;
    }
    case 'B':
      if (!wire::parse_bind(body)) return protocol_error("invalid Bind message"), false;
      item.what = Sent::Bind;
      break;
    case 'D': {
      const auto describe = wire::parse_describe(body);
      if (!describe) return protocol_error("invalid Describe message"), false;
      item.of_statement = describe->kind == 'S';
      item.what = item.of_statement ? Sent::DescribeStatement : Sent::DescribePortal;
      break;
    }
    case 'C': {
      const auto close = wire::parse_close(body);
      if (!close) return protocol_error("invalid Close message"), false;
      item.what = Sent::Close;
      item.of_statement = close->kind == 'S';
      break;
    }
    case 'E':
      if (!wire::parse_execute(body)) return protocol_error("invalid Execute message"), false;
      item.what = Sent::Execute;
      break;
    case 'H':
      batch_.length += message.size();
      batch_.end = Batch::End::Flush;
      return true;
    case 'S':
      item.what = Sent::Sync;
      batch_.end = Batch::End::Complete;
      break;
    default: return protocol_error(fmt::format("unexpected message type \"{}\"", printable(tag))), false;
  }
  batch_.items.push_back(std::move(item));
  batch_.length += message.size();
  return true;
}

// A message that does not fit is passed on in pieces, to the primary; only its names are looked at.
bool ClientSession::collect_oversize(Bytes rest, char tag, std::size_t total) {
  long_text_.reset();
  long_statement_.reset();
  const Bytes prefix = rest.subspan(5, std::min(rest.size(), Batch::kLimit) - 5);
  const auto text_end = [](Bytes bytes) { return std::find(bytes.begin(), bytes.end(), std::byte{0}); };
  BatchItem item;
  item.offset = batch_.length;
  item.size = total;
  switch (tag) {
    case 'Q':
    case 'F':
      if (batch_.kind == Batch::Kind::Extended) {
        batch_.end = Batch::End::Overflow;
        return true;
      }
      batch_.kind = tag == 'Q' ? Batch::Kind::Simple : Batch::Kind::Function;
      item.what = tag == 'Q' ? Sent::Query : Sent::FunctionCall;
      item.facts = worker_.resolver().unclassified();
      break;
    case 'P': {
      const auto nul = text_end(prefix);
      if (nul == prefix.end()) return protocol_error("invalid Parse message"), true;
      auto statement = std::make_shared<PreparedStatement>();
      statement->name = as_text(Bytes(prefix.begin(), nul));
      statement->facts = worker_.resolver().unclassified();
      statement->generation = ++generation_;
      statement->primary_pattern = true;
      long_statement_ = statement;
      item.what = Sent::Parse;
      item.statement = std::move(statement);
      batch_.kind = Batch::Kind::Extended;
      break;
    }
    case 'B':
      if (text_end(prefix) == prefix.end()) return protocol_error("invalid Bind message"), true;
      item.what = Sent::Bind;
      batch_.kind = Batch::Kind::Extended;
      break;
    default: return protocol_error(fmt::format("message of type \"{}\" is too long", printable(tag))), true;
  }
  batch_.items.push_back(std::move(item));
  if ((tag == 'Q' || tag == 'P') && !routing_.nonstandard_strings && !routing_.unsafe_encoding) {
    long_text_ = std::make_unique<parser::LongText>();
    long_skip_ = 5 + (tag == 'P' ? long_statement_->name.size() + 1 : 0);
  }
  batch_.oversize = total;
  batch_.primary_only = true;
  batch_.forced = lb::Reason::TooLong;
  batch_.end = Batch::End::Oversize;
  return true;
}

FactsPtr ClientSession::facts_of(std::string_view text) {
  if (routing_.nonstandard_strings || routing_.unsafe_encoding) {
    const FactsPtr own = worker_.resolver().own_command(text);
    return own != nullptr ? own : worker_.resolver().unclassified();
  }
  return worker_.resolver().facts(text);
}

PreparedPtr ClientSession::new_statement(std::string_view name, Bytes message, std::string_view text) {
  // Drivers send the same unnamed statement again and again.
  if (name.empty() && last_unnamed_ != nullptr && last_unnamed_->parse_message == as_text(message)) return last_unnamed_;
  auto statement = std::make_shared<PreparedStatement>();
  statement->name = name;
  statement->parse_message = as_text(message);
  statement->facts = facts_of(text);
  statement->generation = ++generation_;
  statement->primary_pattern = worker_.policy().matches_primary_pattern(text);
  if (name.empty()) last_unnamed_ = statement;
  return statement;
}

// ------------------------------------------------------------------------------------------------------- told by others

void ClientSession::on_drained() {
  if (input_ended_ && !answers_owed()) return end("the client closed the connection without saying goodbye");
  for (auto& backend : set_) backend->resume_reading();
}

// Only the owner of a backend opens the cancel connection, and keeps the backend until the server has taken the request.
void ClientSession::cancel() {
  if (state_ == ClientState::AwaitBackend || state_ == ClientState::AwaitPrimary) {
    worker_.backends().withdraw(*this);
    acquiring_ = false;
    worker_.unpark(*this);
    return refuse_batch(make_error(sqlstate::kQueryCanceled, "canceling statement due to user request"));
  }
  if (active_ == nullptr || (tracker_.idle() && !tracker_.unsynced()) || cancel_ != nullptr) return;
  cancel_ = CancelRequest::start(worker_, active_->node(), active_->pid, active_->cancel_key, [this] {
    worker_.loop().destroy_later(std::move(cancel_));
    if (!in_.empty()) schedule_pump();
  });
}

void ClientSession::shut_down() {
  // A server notices that its client is gone only when it next writes: a long statement would go on for nobody.
  if (active_ != nullptr && cancel_ == nullptr && !tracker_.idle()) worker_.cancel_before_exit(active_->node(), active_->pid, active_->cancel_key);
  fail(make_fatal(sqlstate::kAdminShutdown, "terminating connection due to administrator command"));
}

bool ClientSession::idle_for(Monotonic now, std::chrono::seconds limit) const {
  return state_ == ClientState::Idle && tracker_.idle() && now - active_at_ >= limit;
}

void ClientSession::client_idle_timeout() {
  fail(make_fatal(sqlstate::kIdleSessionTimeout, "terminating connection due to idle-session timeout", "client_idle_limit is reached"));
}

}  // namespace weir::child
