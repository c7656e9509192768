// Which prepared statements are shared by those who send the same text: see client_session.h. A server reads some of a text
// by the settings of the moment at which it is parsed: literals, and names. Texts are the same only where these are.
#include <algorithm>

#include "child/client_session.h"
#include "child/worker.h"
#include "common/config/config.h"

namespace weir::child {
namespace {

using parser::StatementKind;

// What a literal or a name is taken for when it is parsed. A server looks at search_path again whenever it has changed, but
// refuses the statement if its result has other columns then.
constexpr std::string_view kSettings[] = {"array_nulls", "backslash_quote", "client_encoding", "datestyle", "default_text_search_config",
                                          "intervalstyle", "lc_monetary", "role", "search_path", "session_authorization",
                                          "standard_conforming_strings", "timezone", "transform_null_equals", "xmloption"};

// A statement of which only the plan is worth keeping.
bool is_worth_keeping(const parser::StatementFacts& facts) {
  if (facts.statements.size() != 1 || !facts.runs.empty()) return false;
  const parser::Statement& statement = facts.statements.front();
  if (statement.mentions_temp || statement.opaque_effects || !statement.sets.empty()) return false;
  switch (statement.kind) {
    case StatementKind::Select:
    case StatementKind::Insert:
    case StatementKind::Update:
    case StatementKind::Delete:
    case StatementKind::Merge: return true;
    default: return false;
  }
}

}  // namespace

bool ClientSession::keeps_unnamed() const { return worker_.config().plan_unnamed && renames(); }

// Nothing that only this session has, or only for now, can bear on what its texts mean.
bool ClientSession::means_what_others_mean() const {
  if (state_of_session_.has_local() || routing_.may_have_temp || routing_.opaque_state) return false;
  // A SET that is under way may succeed or not.
  return std::none_of(running_.begin() + static_cast<std::ptrdiff_t>(std::min(running_head_, running_.size())), running_.end(), [](const Running& running) {
    if (running.facts == nullptr) return true;
    const auto& statements = running.facts->facts.statements;
    return std::any_of(statements.begin(), statements.end(), [](const parser::Statement& statement) {
      return !statement.sets.empty() || statement.kind == StatementKind::Discard || statement.kind == StatementKind::Rollback || statement.kind == StatementKind::RollbackTo;
    });
  });
}

// The session's settings of the kind, those that are not the server's own; nothing if some are not known.
std::optional<std::string> ClientSession::parse_settings() const {
  if (!means_what_others_mean()) return std::nullopt;
  std::string settings;
  for (const std::string_view name : kSettings) {
    const auto value = state_of_session_.literal(name);
    if (!value && state_of_session_.has_set(name)) return std::nullopt;
    if (value) ((((settings += name) += '=') += *value) += '\n');
  }
  return settings;
}

SharedStatementPtr ClientSession::share(Bytes message, std::string_view text) const {
  const auto settings = names_a_moment(text) ? std::nullopt : parse_settings();
  return settings ? worker_.statements().intern(message, *settings) : worker_.statements().alone(message);
}

// Null: it stays without a name.
SharedStatementPtr ClientSession::share_unnamed(Bytes message, std::string_view text, const FactsPtr& facts) const {
  if (facts == nullptr || !is_worth_keeping(facts->facts) || names_a_moment(text)) return nullptr;
  const auto settings = parse_settings();
  return settings ? worker_.statements().intern(message, *settings) : nullptr;
}

}  // namespace weir::child
