// An exchange on its way to a server: see client_session.h.
#include <fmt/format.h>

#include <algorithm>

#include "child/client_session.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {

// Statements that the batch uses and that this backend does not have are prepared there first, in the same write: if one
// fails the server skips the rest up to the client's Sync, and its error is the client's.
std::string ClientSession::injected_parses(Backend& backend) {
  std::string out;
  std::vector<std::string_view> done;
  for (const BatchItem& item : batch_.items) {
    if (is_stale(backend, item)) {
      wire::encode_close(out, 'S', item.statement_name);
      tracker_.sent(Sent::Close, true);
      names_.close_sent(std::string(item.statement_name), true);
      backend.prepared.erase(std::string(item.statement_name));
      continue;
    }
    const bool uses = (item.what == Sent::Bind || item.what == Sent::DescribeStatement) && item.statement != nullptr;
    // A Parse of a name that exists elsewhere only must fail as it would there (42P05).
    const bool again = item.what == Sent::Parse && !item.statement->name.empty();
    const PreparedPtr statement = uses ? item.statement : (again ? names_.find(item.statement->name) : nullptr);
    // The session gave the name up (DEALLOCATE ALL, say), which only the node that ran it knows.
    const bool stale = again && statement == nullptr && backend.prepared.contains(item.statement->name);
    if (stale && std::find(done.begin(), done.end(), item.statement->name) == done.end()) {
      done.push_back(item.statement->name);
      wire::encode_close(out, 'S', item.statement->name);
      tracker_.sent(Sent::Close, true);
      names_.close_sent(item.statement->name, true);
    }
    if (statement == nullptr || statement->parse_message.empty()) continue;
    bool parsed_here = false;
    for (const BatchItem& earlier : batch_.items) {
      if (&earlier == &item) break;
      parsed_here |= earlier.what == Sent::Parse && earlier.statement == statement;
    }
    if (parsed_here || std::find(done.begin(), done.end(), statement->name) != done.end()) continue;
    const auto there = backend.prepared.find(statement->name);
    if (there != backend.prepared.end() && there->second == statement->generation) continue;
    if (!tracker_.idle()) {
      // An earlier message of this pipeline may have prepared it already.
      if (names_.find(statement->name) == statement && names_.is_pending(statement->name)) continue;
    }
    done.push_back(statement->name);
    if (there != backend.prepared.end() && !statement->name.empty()) {
      wire::encode_close(out, 'S', statement->name);
      tracker_.sent(Sent::Close, true);
      names_.close_sent(statement->name, true);
    }
    out += statement->parse_message;
    tracker_.sent(Sent::Parse, true);
    names_.parse_sent(statement, true);
  }
  return out;
}

// The session has no such statement any more, but this server does: it was forgotten on another one.
bool ClientSession::is_stale(const Backend& backend, const BatchItem& item) const {
  const bool names = item.what == Sent::Parse || item.what == Sent::Bind || item.what == Sent::DescribeStatement || (item.what == Sent::Close && item.of_statement);
  if (!names || backend.prepared.find(item.statement_name) == backend.prepared.end()) return false;
  if (item.what == Sent::Parse) return !item.name.empty() && names_.find(item.name) == nullptr;
  if (item.statement != nullptr) return false;
  return !names_.is_pending(item.statement_name);
}

void ClientSession::note_sent(const BatchItem& item) {
  tracker_.sent(item.what);
  if (tracker_.skipping()) return;
  switch (item.what) {
    case Sent::Parse: names_.parse_sent(item.statement, false); break;
    case Sent::Close:
      names_.close_sent(item.of_statement ? std::string(item.name) : std::string("\x01portal"), !item.of_statement);
      if (!item.of_statement) {
        if (const auto it = portals_.find(item.name); it != portals_.end()) portals_.erase(it);
      }
      break;
    case Sent::Bind:
      if (item.statement != nullptr) portals_.insert_or_assign(std::string(item.name), item.statement);
      break;
    case Sent::Execute: running_.push_back({item.statement != nullptr ? item.statement->facts : nullptr}); break;
    case Sent::Query:
      running_.push_back({item.facts, {}, true, long_text_ != nullptr});
      names_.forget_unnamed();
      break;
    case Sent::FunctionCall: running_.push_back({nullptr, {}, true}); break;
    default: break;
  }
}

void ClientSession::send_batch(Backend& backend, Bytes bytes) {
  if (tracker_.idle() && !tracker_.skipping()) {
    begun_ = false;
    failed_ = false;
  }
  active_ = &backend;
  flushed_ = false;
  flush_asked_ = batch_.end == Batch::End::Flush;
  const bool balanced = last_target_.scope == lb::Scope::AnyReadable || last_target_.scope == lb::Scope::Node;
  read_sent_.reset();
  // The loop's time is that of before it waited: too coarse for this, and a clock call is made for this algorithm alone.
  if (balanced && tracker_.idle() && worker_.policy().algorithm() == lb::Algorithm::LeastLatency) read_sent_ = monotonic_now();
  if (tracker_.idle() && status_ == 'I' && !batch_.retried) before_ = fears();
  if (long_text_ != nullptr) long_before_ = fears();
  if (!batch_.retried) apply_effects();
  const bool by_name = batch_.kind == Batch::Kind::Extended;
  const std::string injected = by_name && !tracker_.skipping() ? injected_parses(backend) : std::string();
  note_startup_taken_back();
  for (const BatchItem& item : batch_.items) note_sent(item);
  if (batch_.kind == Batch::Kind::Simple) backend.prepared.erase(std::string());
  if (worker_.config().log_statement || worker_.config().log_per_node_statement) log_statement(backend, bytes);
  worker_.rows().count_statement(backend.node(), is_select());
  if (injected.empty()) {
    if (!bytes.empty()) backend.send(bytes);
  } else {
    std::string all = injected;
    all.append(as_text(bytes));
    backend.send(all);
  }
  if (output_full()) stream_.pause_reading();
  set_state(ClientState::InExchange);
}

void ClientSession::note_startup_taken_back() {
  if (startup_in_doubt_ || state_of_session_.startup_parameters().empty()) return;
  for (const Resolution* resolution : resolutions_) {
    for (const parser::Statement& statement : resolution->facts->facts.statements) {
      startup_in_doubt_ = startup_in_doubt_ || state_of_session_.takes_back_startup(statement);
    }
  }
}

bool ClientSession::is_select() const {
  for (const Resolution* resolution : resolutions_) {
    for (const parser::Statement& statement : resolution->facts->facts.statements) {
      if (statement.kind == parser::StatementKind::Select) return true;
    }
  }
  return false;
}

void ClientSession::log_statement(const Backend& backend, Bytes bytes) const {
  log::Context context = log_context();
  context.node = backend.node();
  const auto print = [&](std::string_view what, std::string_view text) {
    if (worker_.config().log_statement) log::print(log::Level::Log, log_context(), "statement: {}{}", what, text);
    if (worker_.config().log_per_node_statement) {
      log::print(log::Level::Log, context, "DB node id: {} backend pid: {} statement: {}{} ({})", backend.node(), backend.pid,
                 what, text, batch_.forced.empty() ? std::string_view(lb::reason_text(last_target_.reason)) : batch_.forced);
    }
  };
  for (const BatchItem& item : batch_.items) {
    switch (item.what) {
      case Sent::Query: {
        std::string_view text = item.size <= bytes.size() ? as_text(bytes.subspan(5, item.size - 5)) : std::string_view("(a statement too long to be shown)");
        print("", text.substr(0, text.find('\0')));
        break;
      }
      case Sent::Parse: print("Parse: ", item.statement->text()); break;
      case Sent::Execute: print("Execute: ", item.statement != nullptr ? item.statement->text() : std::string_view("(unknown portal)")); break;
      case Sent::FunctionCall: print("", "(function call)"); break;
      default: break;
    }
  }
}

}  // namespace weir::child
