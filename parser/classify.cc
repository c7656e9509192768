#include "parser/classify.h"

#include <string>

#include "parser/big_stack.h"
#include "parser/fact_walker.h"
#include "parser/hints.h"
#include "parser/pg_tree.h"

namespace weir::parser {
namespace {

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(read_lead(text).length);
  while (!text.empty() && (text.back() == ';' || static_cast<unsigned char>(text.back()) <= ' ')) text.remove_suffix(1);
  return text;
}

std::string_view slice(std::string_view text, int location, int length) {
  if (location < 0 || static_cast<std::size_t>(location) > text.size()) return text;
  text.remove_prefix(static_cast<std::size_t>(location));
  return trimmed(length > 0 ? text.substr(0, static_cast<std::size_t>(length)) : text);
}

void unknown(StatementFacts& facts) {
  facts.statements.clear();
  facts.statements.emplace_back();
  facts.statements.back().kind = StatementKind::Unknown;
  facts.statements.back().opaque_effects = true;
  facts.statements.back().mentions_temp = true;
  facts.exact_text_only = true;
}

void parse(std::string_view view, StatementFacts& facts) {
  const std::string text(view);
  const PgTree tree(text);
  if (tree.get() == nullptr) return unknown(facts);
  for (size_t i = 0; i < tree.get()->n_stmts; ++i) {
    const PgQuery__RawStmt* raw = tree.get()->stmts[i];
    if (raw == nullptr || raw->stmt == nullptr) continue;
    Statement statement;
    FactWalker walker(slice(view, raw->stmt_location, raw->stmt_len), statement);
    walker.run(raw->stmt);
    if (walker.too_deep()) return unknown(facts);
    facts.exact_text_only = facts.exact_text_only || walker.exact_text_only();
    facts.statements.push_back(std::move(statement));
  }
  if (facts.statements.empty()) {
    facts.statements.emplace_back();
    facts.statements.back().kind = StatementKind::Empty;
  }
}

}  // namespace

StatementFacts classify(std::string_view text) {
  StatementFacts facts;
  facts.hint = read_lead(text.substr(0, kMaxText)).hint;
  if (text.size() > kMaxText || text.find('\0') != std::string_view::npos) {
    unknown(facts);
  } else if (text.size() <= kSmallText) {
    parse(text, facts);
  } else if (!run_on_big_stack([&] { parse(text, facts); })) {
    unknown(facts);
  }
  return facts;
}

}  // namespace weir::parser
