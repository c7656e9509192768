#include "lb/policy.h"

#include <re2/re2.h>

#include <utility>

#include "common/base/sqlstate.h"

namespace weir::lb {
namespace {

using Regexes = std::vector<std::unique_ptr<RE2>>;

// Bytes, not characters: a subject in any encoding must still match the patterns that it matches as ASCII.
RE2::Options options() {
  RE2::Options result;
  result.set_encoding(RE2::Options::EncodingLatin1);
  result.set_case_sensitive(false);
  result.set_dot_nl(true);
  result.set_log_errors(false);
  result.set_never_capture(true);
  return result;
}

void compile_into(Regexes& regexes, const std::vector<std::string>& patterns, const char* parameter,
                  std::string& problems) {
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) continue;
    // As text, as Pgpool-II does: "a|b" means "^a|b$".
    std::string anchored = pattern.starts_with('^') ? pattern : "^" + pattern;
    if (!anchored.ends_with('$')) anchored += '$';
    auto regex = std::make_unique<RE2>(anchored, options());
    if (regex->ok()) {
      regexes.push_back(std::move(regex));
      continue;
    }
    if (!problems.empty()) problems += "; ";
    problems += std::string(parameter) + " \"" + pattern + "\": " + regex->error();
  }
}

bool any_matches(const Regexes& regexes, std::string_view text) {
  const re2::StringPiece subject(text.data(), text.size());
  for (const auto& regex : regexes) {
    if (RE2::PartialMatch(subject, *regex)) return true;
  }
  return false;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

struct Policy::Patterns {
  Regexes read_only_functions;
  Regexes write_functions;
  Regexes primary_queries;
  bool ignore_leading_white_space = true;
};

Policy::Policy() = default;
Policy::~Policy() = default;
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;

bool Policy::matches_primary_pattern_slow(std::string_view text) const {
  if (patterns_->ignore_leading_white_space) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  }
  if (any_matches(patterns_->primary_queries, text)) return true;
  std::string_view trimmed = text;
  while (!trimmed.empty() && (is_blank(trimmed.back()) || trimmed.back() == ';')) trimmed.remove_suffix(1);
  return trimmed.size() != text.size() && any_matches(patterns_->primary_queries, trimmed);
}

FunctionListing Policy::function_listing_slow(std::string_view schema, std::string_view name) const {
  std::string qualified;
  if (!schema.empty()) qualified = std::string(schema) + "." + std::string(name);
  const auto listed = [&](const Regexes& regexes, bool bare_too) {
    if (schema.empty()) return any_matches(regexes, name);
    return any_matches(regexes, qualified) || (bare_too && any_matches(regexes, name));
  };
  if (!patterns_->read_only_functions.empty()) {
    const bool read_only = listed(patterns_->read_only_functions, schema == "pg_catalog");
    return read_only ? FunctionListing::ReadOnly : FunctionListing::Write;
  }
  return listed(patterns_->write_functions, true) ? FunctionListing::Write : FunctionListing::Unlisted;
}

Result<Policy> compile_policy(const PolicySettings& settings) {
  Policy policy;
  policy.load_balance_ = settings.load_balance_mode;
  policy.per_statement_ = settings.statement_level_load_balance;
  policy.write_keeps_ = settings.write_keeps;
  policy.patterns_ = std::make_unique<Policy::Patterns>();
  Policy::Patterns& patterns = *policy.patterns_;
  std::string problems;
  compile_into(patterns.read_only_functions, settings.read_only_function_list, "read_only_function_list", problems);
  compile_into(patterns.write_functions, settings.write_function_list, "write_function_list", problems);
  compile_into(patterns.primary_queries, settings.primary_routing_query_pattern_list,
               "primary_routing_query_pattern_list", problems);
  if (!problems.empty()) {
    return fail(make_error(sqlstate::kInvalidParameterValue, "invalid regular expression", std::move(problems)));
  }
  patterns.ignore_leading_white_space = settings.ignore_leading_white_space;
  policy.has_function_lists_ = !patterns.read_only_functions.empty() || !patterns.write_functions.empty();
  policy.has_primary_patterns_ = !patterns.primary_queries.empty();
  return policy;
}

Result<Policy> compile_policy(const config::Config& config) {
  PolicySettings settings;
  settings.load_balance_mode = config.load_balance_mode && config.backend_clustering_mode != "raw";
  settings.statement_level_load_balance = config.statement_level_load_balance;
  settings.ignore_leading_white_space = config.ignore_leading_white_space;
  if (config.disable_load_balance_on_write == "trans_transaction") settings.write_keeps = WriteKeeps::Transactions;
  if (config.disable_load_balance_on_write == "always" || config.disable_load_balance_on_write == "dml_adaptive_global") settings.write_keeps = WriteKeeps::Everything;
  settings.read_only_function_list = config.read_only_function_list;
  settings.write_function_list = config.write_function_list;
  settings.primary_routing_query_pattern_list = config.primary_routing_query_pattern_list;
  return compile_policy(settings);
}

}  // namespace weir::lb
