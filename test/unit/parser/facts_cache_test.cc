#include "parser/facts_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "parser/classify.h"
#include "test/unit/parser/describe.h"

namespace {
std::atomic<long> allocations{0};
} // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace weir::parser {
namespace {

TEST(FactsCache, FindsByTextAndBySkeleton) {
  FactsCache cache;
  const auto first = cache.get("SELECT * FROM t WHERE id = 1");
  EXPECT_EQ(cache.counters().misses, 1U);
  EXPECT_EQ(cache.get("SELECT * FROM t WHERE id = 2"), first);
  EXPECT_EQ(cache.get("SELECT * FROM t WHERE id = 1"), first);
  EXPECT_EQ(cache.counters().skeletons, 2U);
  EXPECT_NE(cache.get("SELECT * FROM t WHERE id = '1'"), first);
  const auto plain = cache.get("SELECT * FROM t");
  EXPECT_EQ(cache.get("SELECT * FROM t"), plain);
  EXPECT_EQ(cache.counters().exact, 1U);
  EXPECT_EQ(cache.counters().misses, 3U);
}

TEST(FactsCache, HitsAllocateNothing) {
  FactsCache cache;
  const std::string exact = "SELECT * FROM t WHERE a > b ORDER BY c";
  const std::string texts[] = {"SELECT abalance FROM pgbench_accounts WHERE aid = 1",
                               "SELECT abalance FROM pgbench_accounts WHERE aid = 12345"};
  cache.get(exact);
  for (const std::string& text : texts)
    cache.get(text);
  const long before = allocations;
  for (int i = 0; i < 100; ++i) {
    cache.get(exact);
    for (const std::string& text : texts)
      cache.get(text);
  }
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(cache.counters().misses, 2U);
}

TEST(FactsCache, FactsOfLiteralsAreNotShared) {
  FactsCache cache;
  const auto a = cache.get("SELECT set_config('a.b', 'x', false)");
  const auto b = cache.get("SELECT set_config('a.b', 'y', false)");
  ASSERT_EQ(a->facts.statements.front().sets.size(), 1U);
  EXPECT_EQ(a->facts.statements.front().sets.front().literal, "x");
  EXPECT_EQ(b->facts.statements.front().sets.front().literal, "y");
  EXPECT_EQ(cache.get("SELECT set_config('a.b', 'x', false)"), a);
  EXPECT_EQ(cache.counters().exact, 1U);
}

TEST(FactsCache, AWordThatMattersIsNotHiddenByOneThatDoesNot) {
  FactsCache cache;
  EXPECT_FALSE(cache.get("SELECT * FROM t WHERE d = 'never'")->facts.statements.front().now_like);
  EXPECT_TRUE(cache.get("SELECT * FROM t WHERE d = 'now'")->facts.statements.front().now_like);
  EXPECT_FALSE(cache.get("SELECT * FROM t WHERE d = 'other'")->facts.statements.front().now_like);
  EXPECT_FALSE(cache.get("SELECT 'x'")->facts.statements.front().mentions_temp);
  EXPECT_TRUE(cache.get("SELECT 'pg_temp'")->facts.statements.front().mentions_temp);
}

TEST(FactsCache, HintsAreTold) {
  FactsCache cache;
  EXPECT_EQ(cache.get("SELECT 1")->facts.hint.kind, Hint::Kind::None);
  EXPECT_EQ(cache.get("/*NO LOAD BALANCE*/ SELECT 1")->facts.hint.kind, Hint::Kind::NoLoadBalance);
  EXPECT_EQ(cache.get("/*pgweir: primary*/ SELECT 1")->facts.hint.kind, Hint::Kind::Primary);
  EXPECT_EQ(cache.get("SELECT 2")->facts.hint.kind, Hint::Kind::None);
}

// Texts that differ in what cannot be taken out come once; one that comes again is kept.
TEST(FactsCache, OddTextsAreKeptTheSecondTime) {
  FactsCache cache;
  for (int i = 0; i < 100; ++i)
    cache.get("SELECT E'" + std::to_string(i) + "'");
  EXPECT_EQ(cache.exact_usage().entries, 0U);
  cache.get("SELECT E'0'");
  cache.get("SELECT E'0'");
  EXPECT_EQ(cache.exact_usage().entries, 1U);
  EXPECT_EQ(cache.counters().exact, 1U);
}

TEST(FactsCache, ChangingLiteralsKeepOneEntry) {
  FactsCache cache;
  for (int i = 0; i < 1000; ++i)
    cache.get("SELECT abalance FROM accounts WHERE aid = " + std::to_string(i));
  EXPECT_EQ(cache.exact_usage().entries, 0U);
  EXPECT_EQ(cache.skeleton_usage().entries, 1U);
  EXPECT_EQ(cache.counters().misses, 1U);
}

TEST(FactsCache, KeepsTheLatestEntries) {
  FactsCache cache(3, 1U << 20U);
  for (const char* text : {"SELECT a", "SELECT b", "SELECT c", "SELECT a", "SELECT d"})
    cache.get(text);
  EXPECT_EQ(cache.exact_usage().entries, 3U);
  const auto misses = cache.counters().misses;
  for (const char* text : {"SELECT a", "SELECT c", "SELECT d"})
    cache.get(text);
  EXPECT_EQ(cache.counters().misses, misses);
  cache.get("SELECT b");
  EXPECT_EQ(cache.counters().misses, misses + 1);
}

TEST(FactsCache, BytesAreBounded) {
  constexpr std::size_t kBytes = 64U << 10U;
  FactsCache cache(100000, kBytes);
  for (int i = 0; i < 2000; ++i) {
    cache.get("SELECT a" + std::to_string(i) + std::string(static_cast<std::size_t>(i % 500), ' '));
    cache.get("SELECT b" + std::to_string(i) + " FROM t WHERE a = 'x'");
    ASSERT_LE(cache.exact_usage().bytes, kBytes);
    ASSERT_LE(cache.skeleton_usage().bytes, kBytes);
  }
  EXPECT_GT(cache.exact_usage().entries, 10U);
}

// Facts may be far larger than their text.
TEST(FactsCache, ManyStatementsCountByTheirFacts) {
  FactsCache cache(100, 1U << 20U);
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += "TABLE t;";
  const auto entry = cache.get(text);
  EXPECT_EQ(entry->facts.statements.size(), 5000U);
  EXPECT_EQ(cache.exact_usage().entries, 0U);
  EXPECT_EQ(cache.exact_usage().bytes, 0U);
}

TEST(FactsCache, NoRoomIsNoHarm) {
  FactsCache cache(0, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(describe(cache.get("SELECT a")->facts), "Select");
    EXPECT_EQ(describe(cache.get("SELECT 1")->facts), "Select");
  }
  EXPECT_EQ(cache.exact_usage().entries, 0U);
}

TEST(FactsCache, LongTextsAreUnknownAndNotKept) {
  FactsCache cache;
  const std::string text = "SELECT '" + std::string(kMaxText, 'x') + "'";
  EXPECT_EQ(cache.get(text)->facts.statements.front().kind, StatementKind::Unknown);
  EXPECT_EQ(cache.get("SELECT 'x'")->facts.statements.front().kind, StatementKind::Select);
  EXPECT_EQ(cache.get(text)->facts.statements.front().kind, StatementKind::Unknown);
  EXPECT_EQ(cache.exact_usage().entries, 0U);
}

TEST(FactsCache, AnEntryOutlivesItsPlace) {
  FactsCache cache(1, 1U << 20U);
  const auto entry = cache.get("SELECT * FROM a");
  cache.get("SELECT * FROM b");
  EXPECT_EQ(describe(entry->facts), "Select r=a");
  EXPECT_NE(cache.get("SELECT * FROM a"), entry);
}

TEST(FactsCache, TheMemoIsTheCallers) {
  FactsCache cache;
  cache.get("SELECT 1")->memo[0] = {7, 42};
  EXPECT_EQ(cache.get("SELECT 2")->memo[0].key, 7U);
  EXPECT_EQ(cache.get("SELECT 2")->memo[0].value, 42U);
}

} // namespace
} // namespace weir::parser
