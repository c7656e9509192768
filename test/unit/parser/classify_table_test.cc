// Runs test/tables/classify.tsv: text to facts.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "parser/classify.h"
#include "parser/facts_cache.h"
#include "test/unit/parser/describe.h"
#include "test/unit/parser/table.h"

namespace weir::parser {
namespace {

TEST(ClassifyTable, EveryRow) {
  const std::vector<TableRow> rows = read_classify_table();
  ASSERT_GE(rows.size(), 500U);
  for (const TableRow& row : rows) {
    EXPECT_EQ(describe(classify(row.text)), row.facts) << "line " << row.line << ": " << row.text;
  }
}

// The cache must never change what a text means, whatever it has seen before.
TEST(ClassifyTable, TheCacheAgreesWithIt) {
  FactsCache cache;
  for (int round = 0; round < 3; ++round) {
    for (const TableRow& row : read_classify_table()) {
      EXPECT_EQ(describe(cache.get(row.text)->facts), row.facts)
          << "line " << row.line << ": " << row.text;
    }
  }
  EXPECT_GT(cache.counters().skeletons, 0U);
  EXPECT_GT(cache.counters().exact, cache.counters().misses);
}

TEST(ClassifyTable, NamesEveryKind) {
  std::set<StatementKind> seen;
  for (const TableRow& row : read_classify_table()) {
    for (const Statement& statement : classify(row.text).statements)
      seen.insert(statement.kind);
  }
  for (int kind = 0; kind <= static_cast<int>(StatementKind::PoolShow); ++kind) {
    EXPECT_TRUE(seen.count(static_cast<StatementKind>(kind)) == 1)
        << kind_name(static_cast<StatementKind>(kind));
  }
}

TEST(Classify, NulBytesAreUnknown) {
  const std::string text("SELECT 1\0; DROP TABLE t", 23);
  EXPECT_EQ(describe(classify(text)), "exact Unknown mentions_temp opaque");
}

TEST(Classify, TooLongIsUnknownButItsHintCounts) {
  const std::string text = "/*pgweir: standby*/ SELECT '" + std::string(kMaxText, 'x') + "'";
  EXPECT_EQ(describe(classify(text)), "standby: exact Unknown mentions_temp opaque");
}

TEST(Classify, TheLimitItselfIsLookedAt) {
  std::string text = "SELECT '";
  text.append(kMaxText - text.size() - 1, 'x').append("'");
  ASSERT_EQ(text.size(), kMaxText);
  EXPECT_EQ(describe(classify(text)), "Select");
  EXPECT_EQ(describe(classify(text + " ")), "exact Unknown mentions_temp opaque");
}

TEST(Classify, AnySplitOfAStatementIsSurvived) {
  const std::string text =
      "/* x */ WITH a AS (SELECT E'\\'', $$b$$, U&'c' FROM \"d\") SELECT 1.5e3::int4 + $1 -- z\n";
  for (std::size_t from = 0; from <= text.size(); ++from) {
    for (std::size_t length = 0; from + length <= text.size(); ++length) {
      EXPECT_FALSE(classify(text.substr(from, length)).statements.empty());
    }
  }
}

} // namespace
} // namespace weir::parser
