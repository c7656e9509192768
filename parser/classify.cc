#include "parser/classify.h"

#include <algorithm>
#include <string>
#include <utility>

#include "parser/big_stack.h"
#include "parser/fact_walker.h"
#include "parser/hints.h"
#include "parser/nesting.h"
#include "parser/own_command.h"
#include "parser/pg_tree.h"

namespace weir::parser {
namespace {

// All that is not Unknown's own follows from that kind; the marks are for those who look at single
// ones.
void unknown(StatementFacts& facts) {
  facts.statements.assign(1, Statement{});
  facts.statements.back().opaque_effects = true;
  facts.statements.back().mentions_temp = true;
}

// The part of TEXT that is this statement, without what stands before it.
std::string_view slice(std::string_view text, int location, int length) {
  if (location < 0 || static_cast<std::size_t>(location) > text.size())
    return text;
  text.remove_prefix(static_cast<std::size_t>(location));
  if (length > 0)
    text = text.substr(0, static_cast<std::size_t>(length));
  return text.substr(read_lead(text).length);
}

// A hint before a later statement of a string counts if it asks for the primary: the string runs whole on one node.
// TEXT begins with the semicolon, or several, behind the statement before.
void add_later_hint(std::string_view text, StatementFacts& facts) {
  while (text.starts_with(';')) {
    text.remove_prefix(1);
    const Lead lead = read_lead(text);
    if (lead.hint.kind == Hint::Kind::NoLoadBalance || lead.hint.kind == Hint::Kind::Primary)
      facts.hint = lead.hint;
    text.remove_prefix(lead.length);
  }
}

void parse(std::string_view text, StatementFacts& facts) {
  const PgTree tree{std::string(text)};
  if (tree.get() == nullptr) {
    facts.exact_text_only = begins_own_command(text);
    auto own = read_own_command(text);
    if (!own)
      return unknown(facts); // whatever its literals are, but for those
    facts.statements.assign(1, std::move(*own));
    return;
  }
  std::size_t end = 0; // of the statement before
  for (std::size_t i = 0; i < tree.get()->n_stmts; ++i) {
    const PgQuery__RawStmt* raw = tree.get()->stmts[i];
    if (raw == nullptr || raw->stmt == nullptr)
      continue;
    if (i > 0 && end < text.size())
      add_later_hint(text.substr(end), facts);
    end = static_cast<std::size_t>(std::max(raw->stmt_location, 0) + std::max(raw->stmt_len, 0));
    Statement statement;
    FactWalker walker(slice(text, raw->stmt_location, raw->stmt_len), statement);
    walker.run(*raw->stmt);
    if (walker.too_deep()) {
      facts.exact_text_only = true;
      return unknown(facts);
    }
    facts.exact_text_only = facts.exact_text_only || walker.exact_text_only();
    facts.statements.push_back(std::move(statement));
  }
  if (facts.statements.empty()) {
    facts.statements.emplace_back();
    facts.statements.back().kind = StatementKind::Empty;
  }
}

} // namespace

StatementFacts classify(std::string_view text) {
  StatementFacts facts;
  facts.hint = read_lead(text.substr(0, kMaxText)).hint;
  if (text.size() > kMaxText || text.find('\0') != std::string_view::npos || nests_too_deep(text)) {
    facts.exact_text_only = true;
    unknown(facts);
  } else if (text.size() <= kSmallText) {
    parse(text, facts);
  } else if (!run_on_big_stack([&] { parse(text, facts); })) {
    facts.exact_text_only = true;
    unknown(facts);
  }
  return facts;
}

} // namespace weir::parser
