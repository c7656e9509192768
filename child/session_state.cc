#include "child/session_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/sql_literal.h"

namespace weir::child {

bool is_identity(std::string_view parameter) { return parameter == "role" || parameter == "session_authorization"; }

std::string reset_text(const std::string& parameter) {
  if (parameter == "session_authorization") return "RESET SESSION AUTHORIZATION";
  std::string quoted = "RESET \"";
  for (char c : parameter) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

namespace {

bool back_to_default(const parser::SetChange& change) {
  return change.to_default || change.action == parser::SetAction::Reset;
}

std::string set_text(std::string_view parameter, std::string_view value, bool local) {
  std::string text = "SELECT pg_catalog.set_config(";
  text += sql_literal(parameter);
  text += ", ";
  text += sql_literal(value);
  return text + (local ? ", true)" : ", false)");
}

std::string savepoint_text(std::string_view verb, std::string_view name) {
  std::string text(verb);
  text += " \"";
  for (char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

std::string with_modes(std::string text, const parser::TransactionModes& modes) {
  using Isolation = parser::TransactionModes::Isolation;
  if (modes.isolation == Isolation::ReadUncommitted) text += " ISOLATION LEVEL READ UNCOMMITTED";
  if (modes.isolation == Isolation::ReadCommitted) text += " ISOLATION LEVEL READ COMMITTED";
  if (modes.isolation == Isolation::RepeatableRead) text += " ISOLATION LEVEL REPEATABLE READ";
  if (modes.isolation == Isolation::Serializable) text += " ISOLATION LEVEL SERIALIZABLE";
  if (modes.read_only == parser::Tristate::Yes) text += " READ ONLY";
  if (modes.read_only == parser::Tristate::No) text += " READ WRITE";
  if (modes.deferrable == parser::Tristate::Yes) text += " DEFERRABLE";
  if (modes.deferrable == parser::Tristate::No) text += " NOT DEFERRABLE";
  return text;
}

}  // namespace

void SessionState::set_startup_parameters(Parameters parameters) {
  startup_ = std::move(parameters);
  if (startup_.empty()) startup_stamp_ = 0;
}

std::optional<SessionState::Saved> SessionState::saved() const {
  if (in_block_ || base_ || owes_startup() || has_local_) return std::nullopt;
  return Saved{startup_, entries_, in_packets_, version_, startup_stamp_, reset_stamp_, discard_stamp_};
}

void SessionState::restore_saved(Saved saved) {
  startup_ = std::move(saved.startup);
  entries_ = std::move(saved.entries);
  in_packets_ = saved.in_packets;
  version_ = saved.version;
  startup_stamp_ = saved.startup_stamp;
  reset_stamp_ = saved.reset_stamp;
  discard_stamp_ = saved.discard_stamp;
}

const SessionState::Entry* SessionState::find(const std::vector<Entry>& entries, std::string_view parameter) {
  for (const Entry& entry : entries) {
    if (entry.parameter == parameter) return &entry;
  }
  return nullptr;
}

const std::string* SessionState::startup_value(std::string_view parameter) const {
  if (in_packets_) return nullptr;
  for (const auto& [name, value] : startup_) {
    if (name == parameter) return &value;
  }
  return nullptr;
}

bool SessionState::takes_back_startup(const parser::Statement& statement) const {
  if (startup_.empty() || in_packets_) return false;
  if (statement.kind == parser::StatementKind::Unknown) return true;  // it could
  if (statement.kind == parser::StatementKind::Discard) return statement.all;
  return std::any_of(statement.sets.begin(), statement.sets.end(), [this](const parser::SetChange& change) {
    return change.action == parser::SetAction::ResetAll || (back_to_default(change) && startup_value(change.parameter) != nullptr);
  });
}

void SessionState::remember_base() {
  if (!base_) base_ = entries_;
}

void SessionState::apply(const parser::SetChange& change) {
  if (change.scope == parser::SetScope::Local) {
    has_local_ = true;
    const std::string* value = back_to_default(change) && in_block_ ? startup_value(change.parameter) : nullptr;
    if (value != nullptr) local_again_.emplace_back(change.parameter, *value);
    return;
  }
  if (change.action == parser::SetAction::ResetAll) {
    reset_everything(false);
    return;
  }
  remember_base();
  std::erase_if(entries_, [&](const Entry& entry) { return entry.parameter == change.parameter; });
  // SET SESSION AUTHORIZATION resets the role.
  if (change.parameter == "session_authorization") {
    std::erase_if(entries_, [](const Entry& entry) { return entry.parameter == "role"; });
  }
  Entry entry;
  entry.parameter = change.parameter;
  entry.replay = change.replay;
  entry.literal = change.literal;
  entry.has_literal = change.has_literal && change.action == parser::SetAction::Value;
  entry.is_reset = back_to_default(change);
  entry.stamp = ++version_;
  // RESET and SET ... TO DEFAULT go back to the client's own startup value, which the server does not know.
  if (entry.is_reset && startup_value(entry.parameter) != nullptr) startup_again_ = true;
  entries_.push_back(std::move(entry));
}

// SET SESSION CHARACTERISTICS is kept as what it sets: the same parameters can be set and reset by their names.
void SessionState::apply_characteristics(const parser::TransactionModes& modes) {
  using Isolation = parser::TransactionModes::Isolation;
  const auto set = [this](const char* parameter, const char* value) {
    parser::SetChange change;
    change.parameter = parameter;
    change.literal = value;
    change.has_literal = true;
    change.replay = std::string("SET ") + parameter + " = '" + value + "'";
    apply(change);
  };
  if (modes.isolation == Isolation::ReadUncommitted) set("default_transaction_isolation", "read uncommitted");
  if (modes.isolation == Isolation::ReadCommitted) set("default_transaction_isolation", "read committed");
  if (modes.isolation == Isolation::RepeatableRead) set("default_transaction_isolation", "repeatable read");
  if (modes.isolation == Isolation::Serializable) set("default_transaction_isolation", "serializable");
  if (modes.read_only != parser::Tristate::Unset) set("default_transaction_read_only", modes.read_only == parser::Tristate::Yes ? "on" : "off");
  if (modes.deferrable != parser::Tristate::Unset) set("default_transaction_deferrable", modes.deferrable == parser::Tristate::Yes ? "on" : "off");
}

void SessionState::reset_everything(bool discard) {
  remember_base();
  // RESET ALL leaves role and authorization alone; DISCARD ALL resets them too.
  std::erase_if(entries_, [&](const Entry& entry) { return discard || !is_identity(entry.parameter); });
  ++version_;
  (discard ? discard_stamp_ : reset_stamp_) = version_;
  if (!startup_.empty() && !in_packets_) startup_again_ = true;
}

void SessionState::restore(std::vector<Entry> entries) {
  std::vector<Entry> undone;
  for (const Entry& now : entries_) {
    const auto was = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.parameter == now.parameter; });
    if (was != entries.end()) continue;
    Entry reset;
    reset.replay = reset_text(now.parameter);
    reset.parameter = now.parameter;
    reset.is_reset = true;
    undone.push_back(std::move(reset));
  }
  bool changed = !undone.empty();
  for (Entry& was : entries) {
    const Entry* now = find(was.parameter);
    if (now == nullptr || now->stamp != was.stamp) {
      was.stamp = version_ + 1;
      changed = true;
    }
  }
  if (!changed) return;
  ++version_;
  for (Entry& reset : undone) {
    reset.stamp = version_;
    entries.push_back(std::move(reset));
  }
  entries_ = std::move(entries);
}

void SessionState::note_block(std::string text) {
  if (in_block_) block_texts_.push_back(std::move(text));
}

// INHERITED: from the block that this one is chained to. Those it keeps when it fails, as a server does; what BEGIN and SET
// TRANSACTION say a failed block has forgotten.
void SessionState::begin_block(const parser::TransactionModes& modes, bool inherited) {
  if (in_block_) return;  // a second BEGIN is only a warning
  in_block_ = true;
  block_repeatable_ = true;
  block_failed_ = false;
  block_version_ = version_;
  query_at_ = kNoQuery;
  block_modes_ = modes;
  savepoints_.clear();
  block_texts_.clear();
  block_texts_.push_back(with_modes("BEGIN", modes));
  inherited_modes_ = inherited ? modes : parser::TransactionModes{};
  if (inherited_modes_ != parser::TransactionModes{}) block_texts_.push_back("COMMIT AND CHAIN");
}

// As it must be done on a server that does not know the startup values.
void SessionState::note_set(const parser::SetChange& change) {
  const std::string* value = back_to_default(change) ? startup_value(change.parameter) : nullptr;
  note_block(value != nullptr ? set_text(change.parameter, *value, change.scope == parser::SetScope::Local) : change.replay);
  if (change.action != parser::SetAction::ResetAll || in_packets_) return;
  for (const auto& [name, startup] : startup_) note_block(set_text(name, startup, false));
}

void SessionState::note_query() {
  query_at_ = block_texts_.size();
  block_texts_.push_back("SELECT 1");
}

void SessionState::set_block_modes(const parser::TransactionModes& modes) {
  using parser::Tristate;
  if (!in_block_) return;
  const bool isolation = modes.isolation != parser::TransactionModes::Isolation::Unset;
  if (!isolation && modes.read_only == Tristate::Unset && modes.deferrable == Tristate::Unset) block_repeatable_ = false;  // a snapshot
  if (isolation) block_modes_.isolation = modes.isolation;
  if (modes.read_only != Tristate::Unset) block_modes_.read_only = modes.read_only;
  if (modes.deferrable != Tristate::Unset) block_modes_.deferrable = modes.deferrable;
  note_block(with_modes("SET TRANSACTION", modes));
}

bool SessionState::has_savepoint(std::string_view name) const {
  return std::any_of(savepoints_.begin(), savepoints_.end(), [&](const Savepoint& savepoint) { return savepoint.name == name; });
}

void SessionState::end_block() {
  in_block_ = false;
  savepoints_.clear();
  block_texts_.clear();
}

void SessionState::on_completed(const parser::Statement& statement, std::string_view completion) {
  using parser::StatementKind;
  switch (statement.kind) {
    case StatementKind::Begin: begin_block(statement.transaction, false); break;
    case StatementKind::Commit:
    case StatementKind::Rollback:
    case StatementKind::TwoPhase: {
      if (statement.kind == StatementKind::TwoPhase && completion != "PREPARE TRANSACTION" && completion != "ROLLBACK") break;
      const bool committed = completion == "COMMIT" || completion == "PREPARE TRANSACTION";
      if (!committed && base_) restore(*std::exchange(base_, std::nullopt));
      base_.reset();
      end_block();
      if (statement.transaction.chain) begin_block(parser::TransactionModes(block_failed_ ? inherited_modes_ : block_modes_), true);
      break;
    }
    case StatementKind::Savepoint:
      savepoints_.push_back({statement.identifier, entries_, block_texts_.size() + 1, block_modes_});
      note_block(savepoint_text("SAVEPOINT", statement.identifier));
      break;
    case StatementKind::Release: {
      const auto it = std::find_if(savepoints_.rbegin(), savepoints_.rend(), [&](const Savepoint& s) { return s.name == statement.identifier; });
      if (it != savepoints_.rend()) savepoints_.erase(std::next(it).base(), savepoints_.end());
      note_block(savepoint_text("RELEASE SAVEPOINT", statement.identifier));
      break;
    }
    case StatementKind::RollbackTo: {
      const auto it = std::find_if(savepoints_.rbegin(), savepoints_.rend(), [&](const Savepoint& s) { return s.name == statement.identifier; });
      if (it == savepoints_.rend()) break;
      restore(it->entries);
      block_texts_.resize(std::min(block_texts_.size(), it->block_size));
      block_modes_ = it->modes;
      block_failed_ = false;
      if (query_at_ != kNoQuery && query_at_ >= block_texts_.size()) note_query();
      savepoints_.erase(it.base(), savepoints_.end());
      break;
    }
    case StatementKind::Discard:
      if (statement.all) reset_everything(true);
      break;
    case StatementKind::Unknown:
      // A text that could not be looked at: only its tags tell.
      if (completion == "RESET" || completion == "SET") startup_again_ = !startup_.empty() && !in_packets_;
      break;
    default: break;
  }
  for (const parser::SetChange& change : statement.sets) {
    if (change.parameter == "session_characteristics") {
      apply_characteristics(statement.transaction);
    } else {
      apply(change);
    }
    if (in_block_) note_set(change);
  }
  if (statement.kind == StatementKind::SetTransaction) set_block_modes(statement.transaction);
}

StateVersion SessionState::on_ready(char status, bool failed) {
  if (status != 'T') local_again_.clear();
  if (status == 'E') block_failed_ = true;
  if (status != 'I') return version_;
  has_local_ = false;
  if (failed && base_) restore(*base_);
  base_.reset();
  end_block();
  const StateVersion reached = version_;
  if (startup_again_) {
    startup_again_ = false;
    startup_stamp_ = ++version_;
  }
  return reached;
}

const SessionState::Parameters& SessionState::owed_startup() const {
  static const Parameters none;
  return startup_again_ ? startup_ : none;
}

void SessionState::startup_restored() {
  local_again_.clear();
  if (std::exchange(startup_again_, false)) startup_stamp_ = ++version_;
}

Replay SessionState::difference(StateVersion applied, bool before_block) const {
  const std::vector<Entry>& wanted = before_block && base_ ? *base_ : entries_;
  Replay replay;
  if (applied == version_) return replay;
  const bool had_state = applied != 0;
  replay.discard_all = had_state && applied < discard_stamp_;
  const bool everything = applied == 0 || replay.discard_all;
  replay.reset_all = had_state && !replay.discard_all && applied < reset_stamp_;
  const bool after_reset = replay.reset_all;
  bool parameters_follow = false;
  std::vector<const Entry*> identity;
  std::vector<const Entry*> others;
  for (const Entry& entry : wanted) {
    const bool needed = everything ? !entry.is_reset : (entry.stamp > applied || after_reset);
    if (is_identity(entry.parameter)) {
      if (needed) parameters_follow = true;
      identity.push_back(&entry);
    } else if (needed) {
      others.push_back(&entry);
    }
  }
  const bool startup = !startup_.empty() && !in_packets_ && (everything || after_reset || applied < startup_stamp_);
  const bool work = startup || !others.empty() || parameters_follow;
  // Parameters are set with the rights of the login role: go back to it first, and into the role again at the end.
  if (work && !identity.empty() && !everything) replay.reset_identity = true;
  if (startup) {
    for (const auto& parameter : startup_) {
      const Entry* entry = find(wanted, parameter.first);
      if (entry != nullptr && !entry->is_reset) continue;  // overridden: below, or the backend has that already
      replay.parameters.push_back(parameter);
    }
  }
  std::stable_sort(others.begin(), others.end(), [](const Entry* a, const Entry* b) { return a->stamp < b->stamp; });
  for (const Entry* entry : others) {
    // Back to the startup value, which the server does not know.
    if (const std::string* value = startup_value(entry->parameter); entry->is_reset && value != nullptr) {
      if (!startup) replay.parameters.emplace_back(entry->parameter, *value);
      continue;
    }
    replay.statements.push_back(entry->replay);
  }
  if (work || replay.discard_all) {
    for (std::string_view identity_name : {std::string_view("session_authorization"), std::string_view("role")}) {
      for (const Entry* entry : identity) {
        if (entry->parameter == identity_name && !entry->is_reset) replay.statements.push_back(entry->replay);
      }
    }
  }
  return replay;
}

StateImage SessionState::image(bool before_block) const {
  const std::vector<Entry>& wanted = before_block && base_ ? *base_ : entries_;
  StateImage image;
  if (!in_packets_) {
    for (const auto& [name, value] : startup_) {
      const Entry* entry = find(wanted, name);
      if (entry == nullptr || entry->is_reset) image.settings.push_back({name, set_text(name, value, false)});
    }
  }
  std::vector<const Entry*> set;
  for (const Entry& entry : wanted) {
    if (!entry.is_reset) set.push_back(&entry);
  }
  const auto rank = [](const Entry* entry) { return entry->parameter == "role" ? 2 : entry->parameter == "session_authorization" ? 1 : 0; };
  std::sort(set.begin(), set.end(), [&](const Entry* a, const Entry* b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->stamp < b->stamp;
  });
  for (const Entry* entry : set) image.settings.push_back({entry->parameter, entry->replay});
  return image;
}

std::optional<std::string_view> SessionState::literal(std::string_view parameter) const {
  if (const Entry* entry = find(parameter); entry != nullptr && !entry->is_reset) {
    if (entry->has_literal) return entry->literal;
    return std::nullopt;
  }
  for (const auto& startup : startup_) {
    if (startup.first == parameter) return startup.second;
  }
  return std::nullopt;
}

std::vector<std::string> SessionState::known_parameters() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (!entry.is_reset) names.push_back(entry.parameter);
  }
  for (const auto& startup : startup_) names.push_back(startup.first);
  return names;
}

}  // namespace weir::child
