// What the client sends, up to a whole batch: see client_session.h.
#include <fmt/format.h>

#include <algorithm>

#include "child/client_login.h"
#include "child/client_session.h"
#include "child/console_client.h"
#include "child/worker.h"
#include "common/base/sqlstate.h"
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
  traffic_.count(shmem::Traffic::Received, got.count);
  const Bytes bytes(scratch.data(), got.count);
  if (!in_.empty()) {
    keep_input(bytes);
    stop_retaining();
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
  if (console_ != nullptr) return console_->busy();
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
    if (console_ != nullptr) {
      const std::size_t taken = console_->take(rest);
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
      if (tracker_.idle()) asked_at_ = worker_.loop().now();
    }
    const std::size_t length = batch_.length;
    more_follows_ = rest.size() > length;
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

FactsPtr ClientSession::facts_of(std::string_view text) {
  // What standard_conforming_strings means for a text is what its backslashes mean.
  if ((routing_.nonstandard_strings && text.find('\\') != std::string_view::npos) || routing_.unsafe_encoding) {
    const FactsPtr own = worker_.resolver().own_command(text);
    return own != nullptr ? own : worker_.resolver().unclassified();
  }
  return worker_.resolver().facts(text);
}

PreparedPtr ClientSession::new_statement(std::string_view name, Bytes message, std::string_view text) {
  // Drivers send the same unnamed statement again and again.
  if (name.empty() && last_unnamed_ != nullptr && last_unnamed_->parse_message == as_text(message)) {
    const bool decided = last_unnamed_->shared != nullptr ? means_what_others_mean() : last_unnamed_->never_kept || !keeps_unnamed();
    if (decided) return last_unnamed_;
  }
  auto statement = std::make_shared<PreparedStatement>();
  statement->name = name;
  statement->parse_message = as_text(message);
  statement->facts = facts_of(text);
  statement->generation = ++generation_;
  if (!name.empty() && renames()) statement->shared = share(message, text);
  if (name.empty() && keeps_unnamed() && worker_.statements().seen_before(message)) {
    statement->shared = share_unnamed(message, text, statement->facts);
    statement->never_kept = statement->shared == nullptr;
  }
  statement->under = prepared_under();
  statement->primary_pattern = worker_.policy().matches_primary_pattern(text);
  if (name.empty()) last_unnamed_ = statement;
  return statement;
}

// ------------------------------------------------------------------------------------------------------- told by others

}  // namespace weir::child
