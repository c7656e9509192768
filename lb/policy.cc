#include "lb/policy.h"

#include <algorithm>
#include <utility>

#include "common/base/sqlstate.h"
#include "common/config/pattern.h"

namespace weir::lb {
namespace {

using Patterns = std::vector<config::Pattern>;

void compile_into(Patterns& patterns, const std::vector<std::string>& texts, const char* parameter,
                  std::string& problems) {
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    auto pattern = config::Pattern::compile(text);
    if (pattern) {
      patterns.push_back(std::move(*pattern));
      continue;
    }
    if (!problems.empty()) problems += "; ";
    problems += std::string(parameter) + " \"" + text + "\": " + pattern.error().message;
  }
}

bool any_matches(const Patterns& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const config::Pattern& pattern) { return pattern.matches(text); });
}

// How long a measurement counts: a few periods, since one may be missed and its answer takes its time.
constexpr std::int64_t kStalePeriods = 3;
constexpr std::int64_t kLeastStale = 5000;  // ms

// Only where servers stream from each other a delay can be measured.
DelayLimit delay_limit_of(const config::Config& config) {
  DelayLimit limit;
  if (config.backend_clustering_mode != "streaming_replication") return limit;
  limit.bytes = config.delay_threshold;
  limit.milliseconds = config.delay_threshold_by_time;
  limit.stale_after = std::max(kLeastStale, kStalePeriods * 1000 * config.sr_check_period);
  limit.prefer_lower = config.prefer_lower_delay_standby;
  return limit;
}

Algorithm algorithm_of(const config::Config& config) {
  if (config.load_balance_algorithm == "least_connections") return Algorithm::LeastConnections;
  return config.load_balance_algorithm == "least_latency" ? Algorithm::LeastLatency : Algorithm::Weighted;
}

WriteKeeps write_keeps_of(std::string_view mode) {
  if (mode == "off") return WriteKeeps::Nothing;
  if (mode == "dml_adaptive") return WriteKeeps::Tables;
  if (mode == "trans_transaction") return WriteKeeps::Transactions;
  if (mode == "always") return WriteKeeps::Everything;
  return mode == "dml_adaptive_global" ? WriteKeeps::RecentTables : WriteKeeps::Transaction;
}

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

struct Policy::Lists {
  Patterns read_only_functions;
  Patterns write_functions;
  Patterns primary_queries;
  RedirectLists redirects;
  bool ignore_leading_white_space = true;
};

Policy::Policy() = default;
Policy::~Policy() = default;
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;

bool Policy::matches_primary_pattern_slow(std::string_view text) const {
  if (lists_->ignore_leading_white_space) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  }
  if (any_matches(lists_->primary_queries, text)) return true;
  std::string_view trimmed = text;
  while (!trimmed.empty() && (is_blank(trimmed.back()) || trimmed.back() == ';')) trimmed.remove_suffix(1);
  return trimmed.size() != text.size() && any_matches(lists_->primary_queries, trimmed);
}

FunctionListing Policy::function_listing_slow(std::string_view schema, std::string_view name) const {
  std::string qualified;
  if (!schema.empty()) qualified = std::string(schema) + "." + std::string(name);
  const auto listed = [&](const Patterns& listed_patterns, bool bare_too) {
    if (schema.empty()) return any_matches(listed_patterns, name);
    return any_matches(listed_patterns, qualified) || (bare_too && any_matches(listed_patterns, name));
  };
  if (!lists_->read_only_functions.empty()) {
    const bool read_only = listed(lists_->read_only_functions, schema == "pg_catalog");
    return read_only ? FunctionListing::ReadOnly : FunctionListing::Write;
  }
  return listed(lists_->write_functions, true) ? FunctionListing::Write : FunctionListing::Unlisted;
}

Redirect Policy::redirect_slow(std::string_view app_name, std::string_view database, std::string_view user) const {
  return lists_->redirects.find(app_name, database, user);
}

Result<Policy> compile_policy(const PolicySettings& settings) {
  Policy policy;
  policy.load_balance_ = settings.load_balance_mode;
  policy.per_statement_ = settings.statement_level_load_balance;
  policy.write_keeps_ = settings.write_keeps;
  policy.delay_limit_ = settings.delay_limit;
  policy.algorithm_ = settings.algorithm;
  policy.lists_ = std::make_unique<Policy::Lists>();
  Policy::Lists& lists = *policy.lists_;
  std::string problems;
  compile_into(lists.read_only_functions, settings.read_only_function_list, "read_only_function_list", problems);
  compile_into(lists.write_functions, settings.write_function_list, "write_function_list", problems);
  compile_into(lists.primary_queries, settings.primary_routing_query_pattern_list,
               "primary_routing_query_pattern_list", problems);
  if (!problems.empty()) {
    return fail(make_error(sqlstate::kInvalidParameterValue, "invalid regular expression", std::move(problems)));
  }
  auto redirects = RedirectLists::compile(settings.redirects);
  if (!redirects) return fail(redirects.error());
  lists.redirects = std::move(*redirects);
  auto relations = ObjectRelations::compile(settings.object_relations);
  if (!relations) return fail(relations.error());
  if (settings.write_keeps == WriteKeeps::Tables) policy.relations_ = std::move(*relations);
  policy.has_redirects_ = !lists.redirects.empty();
  lists.ignore_leading_white_space = settings.ignore_leading_white_space;
  policy.has_function_lists_ = !lists.read_only_functions.empty() || !lists.write_functions.empty();
  policy.has_primary_patterns_ = !lists.primary_queries.empty();
  return policy;
}

Result<Policy> compile_policy(const config::Config& config) {
  PolicySettings settings;
  settings.load_balance_mode = config.load_balance_mode && config.backend_clustering_mode != "raw";
  settings.statement_level_load_balance = config.statement_level_load_balance;
  settings.ignore_leading_white_space = config.ignore_leading_white_space;
  settings.write_keeps = write_keeps_of(config.disable_load_balance_on_write);
  settings.object_relations = config.dml_adaptive_object_relationship_list;
  settings.read_only_function_list = config.read_only_function_list;
  settings.write_function_list = config.write_function_list;
  settings.primary_routing_query_pattern_list = config.primary_routing_query_pattern_list;
  settings.delay_limit = delay_limit_of(config);
  settings.algorithm = algorithm_of(config);
  settings.redirects.app_name_redirect_preference_list = config.app_name_redirect_preference_list;
  settings.redirects.database_redirect_preference_list = config.database_redirect_preference_list;
  settings.redirects.user_redirect_preference_list = config.user_redirect_preference_list;
  return compile_policy(settings);
}

}  // namespace weir::lb
