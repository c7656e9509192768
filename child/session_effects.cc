// What exchanges do to the session as routing sees it: see client_session.h.
#include <algorithm>
#include <cctype>

#include "child/client_session.h"
#include "child/search_path.h"
#include "child/worker.h"
#include "lb/resolve.h"
#include "parser/names.h"

namespace weir::child {

// What sending the batch may do to the session counts from now on.
void ClientSession::apply_effects() {
  if (batch_.kind == Batch::Kind::Function) routing_.opaque_state = catalog_suspect_ = true;
  for (const Resolution* resolution : resolutions_) note_effects(*resolution);
  for (const Executed& executed : executed_) note_execution(*executed.prepared);
  note_written_unseen();
  if (!unverified_now_.empty()) verify_writes();
}

void ClientSession::note_effects(const Resolution& resolution) {
  note_write(resolution, false);
  if (resolution.effects.none()) return;
  note_fears(resolution.effects);
  for (const lb::NamedEffect& named : resolution.effects.named) apply_named(named);
}

void ClientSession::note_fears(const lb::Effects& effects) {
  note_temp(effects);
  routing_.opaque_state |= effects.opaque_state;
  catalog_suspect_ |= effects.opaque_state;
  routing_.unusual_isolation |= effects.unusual_isolation;
  routing_.serializable_default |= effects.serializable_default;
  session_locks_ |= effects.session_locks;
  catalog_changed_ |= effects.changes_catalog && !effects.catalog_by_tag;
  // A pipeline may use the same names a thousand times before any of it is answered.
  for (const lb::Unverified& use : effects.unverified) {
    if (std::find(unverified_now_.begin(), unverified_now_.end(), use) == unverified_now_.end()) unverified_now_.push_back(use);
  }
}

// What PREPARED was made of is executed now. Parse, unlike PREPARE, takes any statement.
void ClientSession::note_execution(const Resolution& prepared) {
  using parser::StatementKind;
  note_write(prepared, true);
  note_fears(prepared.effects);
  const auto& statements = prepared.facts->facts.statements;
  const bool usual = std::all_of(statements.begin(), statements.end(), [](const parser::Statement& statement) {
    switch (statement.kind) {
      case StatementKind::Prepare:
      case StatementKind::Select:
      case StatementKind::Insert:
      case StatementKind::Update:
      case StatementKind::Delete:
      case StatementKind::Merge: return true;
      default: return false;
    }
  });
  if (!usual) routing_.opaque_state = true;
}

// disable_load_balance_on_write
void ClientSession::note_write(const Resolution& resolution, bool executed) {
  const lb::WriteKeeps keeps = worker_.policy().write_keeps();
  if (keeps == lb::WriteKeeps::Transaction) return;
  // An EXECUTE of something known counts as that.
  if (std::any_of(executed_.begin(), executed_.end(), [&](const Executed& one) { return one.by == &resolution; })) return;
  const bool tables = keeps == lb::WriteKeeps::Nothing || keeps == lb::WriteKeeps::Tables || keeps == lb::WriteKeeps::RecentTables;
  if (tables) return note_written(resolution, executed);
  const auto& facts = resolution.facts->facts;
  if (!(executed ? lb::execution_counts_as_write(facts, resolution.resolved) : lb::counts_as_write(facts, resolution.resolved))) return;
  if (keeps == lb::WriteKeeps::Everything) routing_.reads_kept = true;
  const bool in_block = status_ != 'I' || std::any_of(resolutions_.begin(), resolutions_.end(), [](const Resolution* other) {
    const auto& statements = other->facts->facts.statements;
    return std::any_of(statements.begin(), statements.end(), [](const parser::Statement& s) { return s.kind == parser::StatementKind::Begin; });
  });
  if (in_block) routing_.transactions_kept = true;
}

// Which temporary objects there may be.
void ClientSession::note_temp(const lb::Effects& effects) {
  if (!routing_.may_have_temp && effects.may_have_temp) {
    routing_.may_have_temp = routing_.temp_names_known = true;
    routing_.temp_names.clear();
  }
  if (effects.temp_unclear && routing_.may_have_temp) routing_.temp_names_known = false;
}

// A temporary relation of this session: what runs with it was looked at when it was made.
bool ClientSession::is_known_temp(const lb::Unverified& use) const {
  if (use.use != lb::NameUse::Read && use.use != lb::NameUse::Written) return false;
  if (!use.name.schema.empty() && use.name.schema != "pg_temp") return false;
  const auto& names = routing_.temp_names;
  return routing_.temp_names_known && std::find(names.begin(), names.end(), use.name.name) != names.end();
}

ClientSession::Fears ClientSession::fears() const {
  return {routing_.may_have_temp, routing_.opaque_state, routing_.unusual_isolation, routing_.serializable_default, routing_.listening, routing_.temp_names_known};
}

void ClientSession::fears(const Fears& fears) {
  routing_.may_have_temp = fears.may_have_temp;
  routing_.opaque_state = fears.opaque_state;
  routing_.unusual_isolation = fears.unusual_isolation;
  routing_.serializable_default = fears.serializable_default;
  routing_.listening = fears.listening;
  routing_.temp_names_known = fears.temp_names_known;
}

void ClientSession::apply_named(const lb::NamedEffect& named) {
  switch (named.change) {
    case lb::NamedChange::OpenCursor: routing_.open_cursor = true; break;
    case lb::NamedChange::OpenHoldCursor: routing_.open_cursor = hold_cursor_ = true; break;
    case lb::NamedChange::Prepare: sql_prepared_ = true; break;
    case lb::NamedChange::Listen: routing_.listening = true; break;
    case lb::NamedChange::CreateTemp: {
      constexpr std::size_t kMaxNames = 100;
      constexpr std::size_t kMaxNameBytes = 63;  // the server cuts longer ones
      auto& names = routing_.temp_names;
      if (std::find(names.begin(), names.end(), named.name) != names.end()) break;
      if (names.size() >= kMaxNames || named.name.size() > kMaxNameBytes) {
        routing_.temp_names_known = false;
      } else {
        names.emplace_back(named.name);
      }
      break;
    }
    default: break;
  }
}

// Between two transactions, with all effects known: what the defaults of a transaction are by now.
void ClientSession::settle_isolation() {
  if (info_ == nullptr || routing_.opaque_state || !unverified_.empty()) return;
  bool unusual = info_->unusual_isolation;
  bool serializable = info_->serializable_default;
  const auto note = [&](std::string_view parameter, auto is_usual) {
    const auto literal = state_of_session_.literal(parameter);
    if (!literal && !state_of_session_.has_set(parameter)) return;
    const std::string value = parser::lower(literal.value_or(""));
    if (!is_usual(value)) unusual = true;
    if (parameter == "default_transaction_isolation") serializable = !is_usual(value) && value != "repeatable read";
  };
  const auto off = [](const std::string& value) { return value == "off" || value == "false" || value == "no" || value == "0"; };
  note("default_transaction_isolation", [](const std::string& value) { return value == "read committed" || value == "read uncommitted"; });
  note("default_transaction_read_only", off);
  note("default_transaction_deferrable", off);
  routing_.unusual_isolation = unusual;
  routing_.serializable_default = serializable;
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
  // "$user" is another one after SET ROLE, and pg_temp and "$user" mean nothing to those who may not use them: all count.
  const auto& fixed = identity_.key.fixed;
  const bool other_role = std::any_of(fixed.begin(), fixed.end(), [](const auto& p) { return p.first == "role" || p.first == "session_authorization"; });
  const bool other_user = other_role || state_of_session_.has_set("role") || state_of_session_.has_set("session_authorization");
  const auto given_path = state_of_session_.literal("search_path");
  if (other_user || given_path || state_of_session_.has_set("search_path")) {
    auto path = given_path && !other_user ? path_of_literal(*given_path, identity_.user) : std::nullopt;
    context.search_path_known = path.has_value();
    context.search_path = std::move(path).value_or(std::vector<std::string>{});
  }
  if (status_ == 'I' && tracker_.idle()) settle_isolation();
  // What the session has set, else what the server has told of a fresh login.
  const auto current = [this](std::string_view name) -> std::optional<std::string_view> {
    const auto own = state_of_session_.literal(name);
    if (own || state_of_session_.has_set(name) || info_ == nullptr) return own;
    const auto it = std::find_if(info_->parameters.begin(), info_->parameters.end(), [&](const auto& p) { return p.first == name; });
    return it != info_->parameters.end() ? std::optional<std::string_view>(it->second) : std::nullopt;
  };
  const auto encoding = current("client_encoding");
  routing_.unsafe_encoding = !encoding && state_of_session_.has_set("client_encoding");
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
  const auto strings = current("standard_conforming_strings");
  routing_.nonstandard_strings = state_of_session_.has_set("standard_conforming_strings") ? !is(strings, "on") && !is(strings, "true") && !is(strings, "1")
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

void ClientSession::verify_writes() {
  bool opaque = false;
  routing_.unverified_writes.clear();
  routing_.unverified_effects = false;
  for (auto* list : {&unverified_, &unverified_now_}) {
    std::erase_if(*list, [&](const lb::Unverified& use) {
      lb::Verification verdict = worker_.resolver().verify(use, context_);
      if (verdict == lb::Verification::Unknown && is_known_temp(use)) verdict = lb::Verification::Harmless;
      opaque = opaque || verdict == lb::Verification::Opaque;
      return verdict != lb::Verification::Unknown;
    });
    for (const lb::Unverified& use : *list) {
      if (use.use == lb::NameUse::Written) routing_.unverified_writes.push_back(use.name);
      if (use.use != lb::NameUse::Written) routing_.unverified_effects = true;
    }
  }
  if (opaque) routing_.opaque_state = catalog_suspect_ = true;
}

}  // namespace weir::child
