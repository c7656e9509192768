// Statements that SQL names (PREPARE, EXECUTE, DEALLOCATE), and the backends that lack them: see client_session.h.
// PREPARE and DEALLOCATE run on the primary, whose word on a name counts. EXECUTE of a read may run on a standby, after
// the text of its PREPARE has, if that means there now what it meant then.
#include <algorithm>

#include "child/client_session.h"
#include "child/internal_query.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/wire/encode.h"

namespace weir::child {
namespace {

using parser::Statement;
using parser::StatementKind;

constexpr std::size_t kMaxNameBytes = 62;           // the server cuts longer ones, and so makes two names the same
constexpr std::uint64_t kTakenAway = static_cast<std::uint64_t>(-1);
constexpr std::uint64_t kStandsIn = 0;  // a name is there, for another text or perhaps

// Does STATEMENT name a prepared statement, beside one of DEALLOCATE ALL?
bool names_prepared(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Prepare:
    case StatementKind::Execute: return true;
    case StatementKind::Deallocate: return !statement.all;
    case StatementKind::Explain:  // EXPLAIN EXECUTE
    case StatementKind::Ddl: return statement.opaque_effects && !statement.identifier.empty();  // CREATE TABLE AS EXECUTE
    default: return false;
  }
}

bool only_needs_name(const Statement& statement) {
  return statement.kind == StatementKind::Prepare || statement.kind == StatementKind::Deallocate;
}

bool changes_session(const Statement& statement) {
  return statement.opaque_effects || !statement.sets.empty() || statement.kind == StatementKind::Discard;
}

// A statement that is there for its name alone.
std::string stand_in(std::string_view name) {
  std::string text = "PREPARE \"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + "\" AS SELECT 1";
}

}  // namespace

struct ClientSession::NameMessages {
  std::string bytes;
  int ready = 0;
  std::vector<std::pair<std::string, std::uint64_t>> names;
  bool elsewhere = false;  // it must not be given what it lacks

  bool has(std::string_view name) const {
    return std::any_of(names.begin(), names.end(), [&](const auto& one) { return one.first == name; });
  }
};

PreparedUnder ClientSession::prepared_under() const {
  return {state_of_session_.version(), worker_.resolver().catalog().epoch(), state_of_session_.has_local()};
}

// Prepared again now it is what it was.
bool ClientSession::means_the_same(const PreparedStatement& statement) const {
  const bool text = statement.by_sql ? !statement.prepare_text.empty() : !statement.parse_message.empty();
  return text && !statement.under.local && statement.under == prepared_under();
}

// The node that will be read from has it from when it meant the same; since then that server itself sees to it, as the
// primary does.
bool ClientSession::reader_has(const PreparedStatement& statement) const {
  const int node = block_on_standby() ? block_node_ : config().statement_level_load_balance ? -1 : reader_node_;
  return std::any_of(set_.begin(), set_.end(), [&](const auto& backend) {
    const auto there = backend->prepared.find(statement.name);
    return backend->node() == node && there != backend->prepared.end() && there->second == statement.generation;
  });
}

lb::RouteItem ClientSession::route_item(const Resolution& resolution, bool primary_pattern) {
  lb::RouteItem item;
  item.facts = &resolution.facts->facts;
  item.resolved = &resolution.resolved;
  item.primary_pattern = primary_pattern;
  item.kept_by_write = kept_by_write(resolution);
  const auto& statements = item.facts->statements;
  const bool executes = statements.size() == 1 && item.facts->runs.empty() && statements.front().kind == StatementKind::Execute;
  if (!executes || names_in_doubt_ || statements.front().identifier.size() > kMaxNameBytes) return item;
  const PreparedPtr prepared = names_.find(statements.front().identifier);
  if (prepared == nullptr || prepared->facts == nullptr) return item;
  const Resolution& meant = worker_.resolver().resolve(prepared->facts, context_);
  executed_.push_back({&resolution, &meant});
  item.primary_pattern = item.primary_pattern || prepared->primary_pattern;
  if (!item.kept_by_write) item.kept_by_write = kept_by_write(meant);
  if (!means_the_same(*prepared) && !reader_has(*prepared)) {
    item.not_executed = lb::Reason::PreparedBefore;
  } else {
    item.executed = &meant.facts->facts;
    item.executed_resolved = &meant.resolved;
  }
  return item;
}

// The protocol's messages name what SQL has prepared.
bool ClientSession::names_sql_statement() const {
  if (batch_.kind != Batch::Kind::Extended || names_.empty()) return false;
  return std::any_of(batch_.items.begin(), batch_.items.end(), [this](const BatchItem& item) {
    const bool names = item.what == Sent::Parse || item.what == Sent::Bind || item.what == Sent::DescribeStatement;
    return names && !item.statement_name.empty() && names_.is_by_sql(item.statement_name);
  });
}

// A batch that needs something done on its backend first cannot be pipelined behind an answer that is still to come.
bool ClientSession::needs_own_round() const {
  if (names_.empty()) return false;
  return std::any_of(resolutions_.begin(), resolutions_.end(), [](const Resolution* resolution) {
    const auto& statements = resolution->facts->facts.statements;
    return std::any_of(statements.begin(), statements.end(), names_prepared);
  });
}

void ClientSession::add_name(const Backend& backend, std::string_view name, bool only_name, NameMessages& messages) const {
  if (messages.has(name)) return;
  const PreparedPtr statement = names_.find(name);
  if (names_in_doubt_ && (statement == nullptr || statement->by_sql)) return;
  const auto there = backend.prepared.find(name);
  const bool has = there != backend.prepared.end();
  if (statement == nullptr) {  // it was given up on another node
    if (!has) return;
    wire::encode_close(messages.bytes, 'S', name);
    wire::encode_sync(messages.bytes);
    ++messages.ready;
    messages.names.emplace_back(name, kTakenAway);
    return;
  }
  if (has && (only_name || there->second == statement->generation)) return;
  const bool by_text = statement->by_sql ? means_the_same(*statement) : !statement->parse_message.empty();
  if (!by_text && !only_name) {
    messages.elsewhere = !primary_backend(backend);
    return;
  }
  if (has) wire::encode_close(messages.bytes, 'S', name);
  if (!statement->by_sql && by_text) {
    messages.bytes += statement->parse_message;
    wire::encode_sync(messages.bytes);
  } else {
    wire::encode_query(messages.bytes, only_name ? stand_in(name) : statement->prepare_text);
  }
  ++messages.ready;
  messages.names.emplace_back(name, only_name && statement->by_sql ? kStandsIn : statement->generation);
}

ClientSession::NameMessages ClientSession::name_messages(const Backend& backend) {
  NameMessages messages;
  if (backend.status == 'E' || (names_.empty() && backend.prepared.empty())) return messages;
  for (const Resolution* resolution : resolutions_) {
    for (const Statement& statement : resolution->facts->facts.statements) {
      if (names_prepared(statement)) add_name(backend, statement.identifier, only_needs_name(statement), messages);
    }
  }
  if (!names_sql_statement()) return messages;
  for (const BatchItem& item : batch_.items) {
    const bool parses = item.what == Sent::Parse;
    const bool uses = parses || item.what == Sent::Bind || item.what == Sent::DescribeStatement;
    if (uses && names_.is_by_sql(item.statement_name)) add_name(backend, item.statement_name, parses, messages);
  }
  return messages;
}

bool ClientSession::names_are_there(const Backend& backend) {
  const NameMessages messages = name_messages(backend);
  return messages.ready == 0 && !messages.elsewhere;
}

void ClientSession::leave_to_primary(lb::Reason reason) {
  batch_.primary_only = true;
  batch_.forced = reason;
  batch_.node = worker_.nodes().primary;
}

// Prepares on BACKEND what SQL in the batch names and it lacks; true if there is nothing (left) to do.
bool ClientSession::give_names(Backend& backend) {
  NameMessages messages = name_messages(backend);
  if (messages.elsewhere && (block_node_ != backend.node() || block_can_move())) {
    leave_to_primary(lb::Reason::PreparedBefore);
    pump_again_ = true;
    return false;
  }
  if (messages.ready == 0) return true;
  giving_names_ = std::move(messages.names);
  backend.prepared.erase(std::string());  // a Query ends it
  start_internal(backend, std::move(messages.bytes), messages.ready, [this, raw = &backend](InternalResult& result) { names_given(*raw, result); });
  return false;
}

void ClientSession::names_given(Backend& backend, InternalResult& result) {
  if (result.lost) {
    batch_.node = -1;
    on_backend_lost(backend, *result.error);
    return pump();
  }
  for (const auto& [name, generation] : giving_names_) {
    if (generation == kTakenAway && !result.error) {
      backend.prepared.erase(name);
    } else {
      backend.prepared.insert_or_assign(name, result.error ? kStandsIn : generation);
    }
  }
  if (!result.error) return pump();
  const bool in_block = block_node_ == backend.node();
  if (primary_backend(backend) || (in_block && !block_can_move())) return refuse_batch(*result.error, in_block);
  log::print(log::Level::Info, log_context(), "node {} does not take a prepared statement: {}", backend.node(), result.error->one_line());
  if (in_block) hold_block_again();
  leave_to_primary(lb::Reason::RunAgain);
  pump();
}

// PREPARE, one of the statements of TEXT, has succeeded.
void ClientSession::note_prepared(const Statement& statement, const parser::StatementFacts& text) {
  auto prepared = std::make_shared<PreparedStatement>();
  prepared->name = statement.identifier;
  prepared->by_sql = true;
  prepared->generation = ++generation_;
  prepared->under = prepared_under();
  // A hint in front of PREPARE is no part of the statement's text, and is kept to by EXECUTE staying.
  if (!statement.argument.empty() && text.hint.kind == parser::Hint::Kind::None) prepared->facts = facts_of(statement.argument);
  prepared->primary_pattern = worker_.policy().matches_primary_pattern(statement.argument);
  // All of the text was read as the session was before it.
  if (std::none_of(text.statements.begin(), text.statements.end(), changes_session)) prepared->prepare_text = statement.argument;
  if (active_ != nullptr) active_->prepared.insert_or_assign(prepared->name, prepared->generation);
  names_.define(std::move(prepared));
}

// Of a text that could not be looked at.
void ClientSession::note_tag(std::string_view tag) {
  if (tag == "PREPARE" || tag.starts_with("DEALLOCATE")) names_in_doubt_ = sql_prepared_ = true;
}

}  // namespace weir::child
