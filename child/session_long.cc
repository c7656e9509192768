// Messages that are too long to be collected, and are looked at as they stream by: see client_session.h.
#include <fmt/format.h>

#include <algorithm>

#include "child/client_session.h"
#include "child/worker.h"
#include "common/base/byte_reader.h"
#include "common/base/sqlstate.h"

namespace weir::child {

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

// A message that does not fit is passed on in pieces, to the primary; only its names are looked at.
// The message is not there as a whole. Names that reach beyond what has come are left to the server.
void ClientSession::note_oversize_names(Bytes prefix) {
  ByteReader reader(prefix);
  const std::string_view portal = reader.cstring();
  const std::string_view statement = reader.cstring();
  if (!reader.ok()) return;
  batch_.oversize_portal = portal;
  batch_.oversize_statement = statement;
}

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
      note_oversize_names(prefix);
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

}  // namespace weir::child
