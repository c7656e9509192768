#include "lb/policy.h"

#include <gtest/gtest.h>

namespace weir::lb {
namespace {

Policy compiled(const PolicySettings& settings) {
  auto policy = compile_policy(settings);
  EXPECT_TRUE(policy.has_value());
  return std::move(policy).value();
}

Policy with_patterns(std::vector<std::string> patterns) {
  PolicySettings settings;
  settings.primary_routing_query_pattern_list = std::move(patterns);
  return compiled(settings);
}

TEST(Policy, TheDefaultBalancesAndListsNothing) {
  const Policy policy;
  EXPECT_TRUE(policy.load_balance());
  EXPECT_FALSE(policy.per_statement());
  EXPECT_FALSE(policy.matches_primary_pattern("SELECT 1"));
  EXPECT_EQ(policy.function_listing("", "f"), FunctionListing::Unlisted);
}

TEST(Policy, SwitchesAreCarried) {
  PolicySettings settings;
  settings.load_balance_mode = false;
  settings.statement_level_load_balance = true;
  const Policy policy = compiled(settings);
  EXPECT_FALSE(policy.load_balance());
  EXPECT_TRUE(policy.per_statement());
}

TEST(Policy, PatternsAreAnchoredAndBlindToCase) {
  const Policy policy = with_patterns({"select.*from secrets.*"});
  EXPECT_TRUE(policy.matches_primary_pattern("SELECT * FROM Secrets WHERE id = 1"));
  EXPECT_TRUE(policy.matches_primary_pattern("select 1\n from secrets"));  // a dot takes a newline too
  EXPECT_FALSE(policy.matches_primary_pattern("WITH x AS (select 1 from secrets) SELECT 1"));
  EXPECT_FALSE(policy.matches_primary_pattern("SELECT * FROM public"));
  EXPECT_TRUE(with_patterns({"^select 1$"}).matches_primary_pattern("SELECT 1"));
}

TEST(Policy, AnAlternativeIsAnchoredAsTextLikePgpool) {
  const Policy policy = with_patterns({"select a|from b"});
  EXPECT_TRUE(policy.matches_primary_pattern("select a, c from x"));   // ^select a
  EXPECT_TRUE(policy.matches_primary_pattern("select c from b"));      // from b$
  EXPECT_FALSE(policy.matches_primary_pattern("select c from b, x"));
}

TEST(Policy, BlanksAndSemicolonsAtTheEndsDoNotHideAMatch) {
  const Policy policy = with_patterns({"SELECT 1"});
  for (const char* text : {"SELECT 1", "SELECT 1;", "SELECT 1 ; ", "  \n\tSELECT 1", "SELECT 1\n"}) {
    EXPECT_TRUE(policy.matches_primary_pattern(text)) << text;
  }
  PolicySettings settings;
  settings.primary_routing_query_pattern_list = {"SELECT 1"};
  settings.ignore_leading_white_space = false;
  EXPECT_FALSE(compiled(settings).matches_primary_pattern(" SELECT 1"));
  EXPECT_TRUE(compiled(settings).matches_primary_pattern("SELECT 1;"));
}

TEST(Policy, AnyBytesCanBeMatched) {
  const Policy policy = with_patterns({".*secret.*"});
  EXPECT_TRUE(policy.matches_primary_pattern("SELECT '\xE9' FROM secret"));  // no UTF-8
  EXPECT_TRUE(policy.matches_primary_pattern(std::string_view("SELECT \0 secret", 15)));
  EXPECT_TRUE(with_patterns({".*\xC3\xA9.*"}).matches_primary_pattern("SELECT 'caf\xC3\xA9'"));
}

TEST(Policy, OnePatternOfSeveralIsEnough) {
  const Policy policy = with_patterns({"a.*", "b.*"});
  EXPECT_TRUE(policy.matches_primary_pattern("bcd"));
  EXPECT_FALSE(policy.matches_primary_pattern("cd"));
}

TEST(Policy, WriteFunctionList) {
  PolicySettings settings;
  settings.write_function_list = {"nextval", "set_.*", "app\\.touch"};
  const Policy policy = compiled(settings);
  EXPECT_EQ(policy.function_listing("", "nextval"), FunctionListing::Write);
  EXPECT_EQ(policy.function_listing("", "NEXTVAL"), FunctionListing::Write);
  EXPECT_EQ(policy.function_listing("", "set_it"), FunctionListing::Write);
  EXPECT_EQ(policy.function_listing("any", "set_it"), FunctionListing::Write);  // the bare name counts for writes
  EXPECT_EQ(policy.function_listing("app", "touch"), FunctionListing::Write);
  EXPECT_EQ(policy.function_listing("", "touch"), FunctionListing::Unlisted);
  EXPECT_EQ(policy.function_listing("", "reset_it"), FunctionListing::Unlisted);
}

TEST(Policy, ReadOnlyFunctionListRulesAlone) {
  PolicySettings settings;
  settings.read_only_function_list = {"lower", "get_.*", "app\\.peek"};
  settings.write_function_list = {"get_write"};
  const Policy policy = compiled(settings);
  EXPECT_EQ(policy.function_listing("", "lower"), FunctionListing::ReadOnly);
  EXPECT_EQ(policy.function_listing("", "get_write"), FunctionListing::ReadOnly);  // the other list is without effect
  EXPECT_EQ(policy.function_listing("", "upper"), FunctionListing::Write);
  EXPECT_EQ(policy.function_listing("pg_catalog", "lower"), FunctionListing::ReadOnly);
  EXPECT_EQ(policy.function_listing("app", "get_x"), FunctionListing::Write);  // must be listed with its schema
  EXPECT_EQ(policy.function_listing("app", "peek"), FunctionListing::ReadOnly);
}

TEST(Policy, EveryBadPatternIsNamed) {
  PolicySettings settings;
  settings.read_only_function_list = {"fine", "(open"};
  settings.write_function_list = {"[a"};
  settings.primary_routing_query_pattern_list = {"a{2,1}"};
  const auto policy = compile_policy(settings);
  ASSERT_FALSE(policy.has_value());
  const std::string& detail = policy.error().detail;
  for (const char* part : {"read_only_function_list \"(open\"", "write_function_list \"[a\"",
                           "primary_routing_query_pattern_list \"a{2,1}\""}) {
    EXPECT_NE(detail.find(part), std::string::npos) << detail;
  }
  EXPECT_EQ(detail.find("fine"), std::string::npos);
  EXPECT_EQ(policy.error().sqlstate, "22023");
}

TEST(Policy, EmptyPatternsDoNotCount) {
  PolicySettings settings;
  settings.read_only_function_list = {""};
  settings.primary_routing_query_pattern_list = {""};
  const Policy policy = compiled(settings);
  EXPECT_EQ(policy.function_listing("", "f"), FunctionListing::Unlisted);
  EXPECT_FALSE(policy.matches_primary_pattern(""));
}

TEST(Policy, OfAConfiguration) {
  config::Config config;
  config.load_balance_mode = true;
  config.statement_level_load_balance = true;
  config.write_function_list = {"f"};
  config.primary_routing_query_pattern_list = {"select 1"};
  config.backend_clustering_mode = "streaming_replication";
  const auto policy = compile_policy(config);
  ASSERT_TRUE(policy.has_value());
  EXPECT_TRUE(policy->load_balance() && policy->per_statement());
  EXPECT_EQ(policy->function_listing("", "f"), FunctionListing::Write);
  EXPECT_TRUE(policy->matches_primary_pattern("SELECT 1"));
  config.backend_clustering_mode = "raw";
  EXPECT_FALSE(compile_policy(config)->load_balance());
  config.write_function_list = {"("};
  EXPECT_FALSE(compile_policy(config).has_value());
}

TEST(Policy, CanBeMovedAndReplaced) {
  Policy policy = with_patterns({"a"});
  Policy other = std::move(policy);
  EXPECT_TRUE(other.matches_primary_pattern("a"));
  other = Policy();
  EXPECT_FALSE(other.matches_primary_pattern("a"));
}

}  // namespace
}  // namespace weir::lb
