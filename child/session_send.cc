// An exchange on its way to a server: see client_session.h.
#include <fmt/format.h>

#include <algorithm>

#include "child/client_session.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

static_assert(lb::kReasonCount <= shmem::kMaxReasons);

shmem::StatementClass class_of(parser::StatementKind kind) {
  switch (kind) {
    case parser::StatementKind::Select: return shmem::StatementClass::Select;
    case parser::StatementKind::Insert: return shmem::StatementClass::Insert;
    case parser::StatementKind::Update: return shmem::StatementClass::Update;
    case parser::StatementKind::Delete: return shmem::StatementClass::Delete;
    case parser::StatementKind::Ddl: return shmem::StatementClass::Ddl;
    default: return shmem::StatementClass::Other;
  }
}

}  // namespace

// Statements that the batch uses and that this backend does not have are prepared there first, in the same write: if one
// fails the server skips the rest up to the client's Sync, and its error is the client's.
std::string ClientSession::injected_parses(Backend& backend) {
  std::string out;
  std::vector<std::string_view> done;
  for (const BatchItem& item : batch_.items) {
    if (item.naming != Naming::AsSent) continue;
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
      parsed_here |= earlier.what == Sent::Parse && earlier.statement == statement && earlier.naming == Naming::AsSent;
      parsed_here |= again && earlier.what == Sent::Close && earlier.of_statement && earlier.name == statement->name;
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
    traffic_.count(shmem::Traffic::ServerParses);
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
  if (item.statement != nullptr || names_.is_by_sql(item.statement_name)) return false;
  return !names_.is_pending(item.statement_name);
}

void ClientSession::note_sent(const BatchItem& item, bool opening) {
  if (opening && item.what == Sent::Query) {
    tracker_.sent_query_and_sync();
  } else if (item.naming == Naming::AlreadyThere) {
    tracker_.sent_close_for_parse();
  } else {
    const std::uint64_t label = item.naming == Naming::Shared ? item.statement->shared->number : item.naming == Naming::Foreign ? kForeignStatement : 0;
    tracker_.sent(item.what, false, label);
  }
  if (tracker_.skipping()) return;
  switch (item.what) {
    case Sent::Parse:
      traffic_.count(shmem::Traffic::ClientParses);
      if (item.naming != Naming::AlreadyThere) traffic_.count(shmem::Traffic::ServerParses);
      if (item.naming == Naming::AsSent) names_.parse_sent(item.statement, false);
      if (item.naming != Naming::AsSent) names_.shared_parse_sent(item.statement, false);
      break;
    case Sent::Close:
      names_.close_sent(item.of_statement ? std::string(item.name) : std::string("\x01portal"), !item.of_statement);
      if (!item.of_statement) {
        if (const auto it = portals_.find(item.name); it != portals_.end()) portals_.erase(it);
      }
      break;
    case Sent::Bind:
      traffic_.count(shmem::Traffic::Binds);
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
    opening_left_ = 0;
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
  // Before a BEGIN of pgweir's own goes out with it.
  if (tracker_.idle() && !tracker_.unsynced()) traffic_.asks(worker_.loop().now(), status_ != 'I', batch_.retried);
  const bool by_name = batch_.kind == Batch::Kind::Extended;
  const bool opening = std::exchange(opening_, false);
  std::string injected = opening ? opening_messages(backend) : std::string();
  if (by_name && !tracker_.skipping()) {
    inject_shared(backend, injected);
    injected += injected_parses(backend);
  }
  note_startup_taken_back();
  note_sequences(backend);
  if (!tracker_.skipping()) count_batch(backend);
  for (const BatchItem& item : batch_.items) note_sent(item, opening);
  if (batch_.kind == Batch::Kind::Simple) backend.prepared.erase(std::string());
  const config::Config& settings = config();
  if (settings.log_statement || settings.log_per_node_statement || settings.notice_per_node_statement) log_statement(backend, bytes);
  if (by_name && renamed_batch_ && !tracker_.skipping()) {
    std::string& room = worker_.message_room();
    room.assign(injected);
    append_renamed(room, bytes);
    backend.send(room);
  } else if (injected.empty()) {
    if (!bytes.empty()) backend.send(bytes);
  } else {
    injected.append(as_text(bytes));
    if (opening && batch_.kind == Batch::Kind::Simple) wire::encode_sync(injected);
    backend.send(injected);
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

// Each statement that the batch executes, and the decision that sent it there.
void ClientSession::count_batch(const Backend& backend) {
  SharedRows& rows = worker_.rows();
  rows.use_node(backend.node());
  shmem::NodeCounts& counts = rows.counts(backend.node());
  for (const BatchItem& item : batch_.items) {
    if (item.what == Sent::FunctionCall) counts.count(shmem::StatementClass::Other);
    if (item.what != Sent::Query && item.what != Sent::Execute) continue;
    const parser::Entry* facts = item.what == Sent::Query ? item.facts.get() : item.statement != nullptr ? item.statement->facts.get() : nullptr;
    if (facts == nullptr) {
      counts.count(shmem::StatementClass::Other);
      continue;
    }
    for (const parser::Statement& statement : facts->facts.statements) {
      if (statement.kind != parser::StatementKind::Empty) counts.count(class_of(statement.kind));
    }
  }
  counts.count_decision(static_cast<std::size_t>(sent_reason(backend)));
  if (!dry_run_node_) return;
  const int node = *dry_run_node_ >= 0 ? *dry_run_node_ : backend.node();
  rows.counts(node).count_dry_run(static_cast<std::size_t>(last_target_.reason));
}

// Why the batch goes where it goes, which may be for another reason than its text's.
lb::Reason ClientSession::sent_reason(const Backend& backend) const {
  if (batch_.forced) return *batch_.forced;
  if (last_target_.scope != lb::Scope::AnyReadable || backend.node() != worker_.nodes().primary) return last_target_.reason;
  const bool drawn = !last_target_.prefer_standby && worker_.nodes().nodes[static_cast<std::size_t>(backend.node())].weight > 0;
  return drawn ? last_target_.reason : lb::Reason::NoReader;
}

std::string ClientSession::why(const Backend& backend) const {
  const lb::Reason reason = sent_reason(backend);
  std::string text = lb::reason_name(reason);
  if (reason == last_target_.reason && last_target_.cause != reason) text += fmt::format(" by {}", lb::reason_name(last_target_.cause));
  text += fmt::format(": {}", lb::reason_text(reason));
  if (dry_run_node_) text += fmt::format("; decided: node {} by {}", *dry_run_node_, lb::reason_name(last_target_.reason));
  return text;
}

// Not into the middle of a message that is on its way to the client.
void ClientSession::notify_of_node(const Backend& backend, std::string_view text) {
  const std::string& least = config().client_min_messages;
  const bool wanted = least != "warning" && least != "error" && least != "fatal" && least != "panic";
  if (!wanted || server_left_ > 0) return;
  Error notice = make_error(sqlstate::kSuccessfulCompletion, fmt::format("DB node id: {} statement: {}", backend.node(), text));
  notice.severity = Severity::Notice;
  std::string out;
  wire::encode_notice(out, notice);
  stream_.write(out);
}

void ClientSession::log_statement(const Backend& backend, Bytes bytes) {
  const config::Config& settings = config();
  log::Context context = log_context();
  context.node = backend.node();
  const auto print = [&](std::string_view what, std::string_view text) {
    if (settings.log_statement) log::print(log::Level::Log, log_context(), "statement: {}{}", what, text);
    if (settings.log_per_node_statement) {
      log::print(log::Level::Log, context, "DB node id: {} backend pid: {} statement: {}{} ({})", backend.node(), backend.pid,
                 what, text, why(backend));
    }
    if (settings.notice_per_node_statement) notify_of_node(backend, fmt::format("{}{}", what, text));
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
