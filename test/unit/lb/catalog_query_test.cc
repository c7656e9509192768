#include "lb/catalog_query.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace weir::lb {
namespace {

using shmem::FactKind;

std::string field(bool value) { return value ? "t" : "f"; }

CatalogRow row(const char* kind, const char* name, const char* schema, bool plain, bool to_write, bool builtin) {
  return {kind, name, schema, field(plain), field(to_write), field(builtin)};
}

const std::vector<Missing> kAsked = {{FactKind::Relation, "t"}, {FactKind::Function, "t"}, {FactKind::Type, "u"}};

TEST(CatalogQuery, NamesAreQuotedForEitherKindOfStrings) {
  const std::string text = catalog_query(std::vector<Missing>{{FactKind::Relation, "a'b\\c\"d"}});
  EXPECT_NE(text.find("('r', E'a''b\\\\c\"d')"), std::string::npos) << text;
}

TEST(CatalogQuery, NoNameBreaksOutOfItsLiteral) {
  const std::string hostile = "x'), ('r', 'y'); DROP TABLE t; --\\";
  const std::string text = catalog_query(std::vector<Missing>{{FactKind::Relation, hostile}});
  EXPECT_NE(text.find("E'x''), (''r'', ''y''); DROP TABLE t; --\\\\')"), std::string::npos);
}

TEST(CatalogQuery, ANulEndsTheName) {
  const std::string text = catalog_query(std::vector<Missing>{{FactKind::Relation, std::string("a\0b", 3)}});
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_NE(text.find("E'a')"), std::string::npos);
}

TEST(CatalogQuery, OnlyWhatIsWantedIsAsked) {
  const auto mentions = [](FactKind kind, const char* table) {
    return catalog_query(std::vector<Missing>{{kind, "x"}}).find(table) != std::string::npos;
  };
  EXPECT_TRUE(mentions(FactKind::Relation, "pg_inherits"));
  EXPECT_FALSE(mentions(FactKind::Relation, "JOIN pg_catalog.pg_operator"));
  EXPECT_TRUE(mentions(FactKind::Operator, "JOIN pg_catalog.pg_operator"));
  EXPECT_FALSE(mentions(FactKind::Operator, "pg_inherits"));
  EXPECT_FALSE(mentions(FactKind::Function, "pg_depend"));
  EXPECT_TRUE(mentions(FactKind::Function, "pg_event_trigger"));
  EXPECT_TRUE(mentions(FactKind::Type, "pg_depend"));
}

TEST(CatalogQuery, TheNumberOfNamesIsBounded) {
  std::vector<Missing> names;
  for (int i = 0; i < 1000; ++i) names.push_back({FactKind::Function, "f" + std::to_string(i)});
  const std::string text = catalog_query(names);
  EXPECT_NE(text.find("E'f99'"), std::string::npos);
  EXPECT_EQ(text.find("E'f100'"), std::string::npos);
}

TEST(CatalogQuery, NothingAskedIsStillAQuestion) {
  EXPECT_NE(catalog_query({}).find("SELECT"), std::string::npos);
}

TEST(CatalogRows, AreSortedToTheirNames) {
  const std::vector<CatalogRow> rows = {row("r", "t", "a", true, true, false), row("r", "t", "b", false, true, false),
                                        row("f", "t", "pg_catalog", false, false, true)};
  const auto facts = parse_catalog_rows(kAsked, rows);
  ASSERT_TRUE(facts.has_value());
  ASSERT_EQ(facts->size(), 3U);
  EXPECT_EQ((*facts)[0].schemas,
            (std::vector<SchemaFlags>{{"a", true, true, false}, {"b", false, true, false}}));
  EXPECT_EQ((*facts)[1].schemas, (std::vector<SchemaFlags>{{"pg_catalog", false, false, true}}));
  EXPECT_EQ((*facts)[2].name, "u");
  EXPECT_TRUE((*facts)[2].schemas.empty());
}

TEST(CatalogRows, AnythingUnexpectedSpoilsTheAnswer) {
  const CatalogRow good = row("r", "t", "a", true, true, false);
  EXPECT_TRUE(parse_catalog_rows(kAsked, std::vector<CatalogRow>{good}).has_value());
  std::vector<CatalogRow> bad(8, good);
  bad[0].pop_back();
  bad[1].push_back("t");
  bad[2][0] = "o";       // not asked for of that kind
  bad[3][1] = "other";   // not asked for
  bad[4][2] = std::nullopt;
  bad[5][3] = "true";
  bad[6][5] = std::nullopt;
  bad[7][2] = "";        // would stand for any schema
  for (const CatalogRow& one : bad) EXPECT_FALSE(parse_catalog_rows(kAsked, std::vector<CatalogRow>{good, one}));
}

// The rest needs a server: PGWEIR_TEST_CONNINFO names a database in which objects may be made. psql must be on the
// path.
std::string run_psql(const std::string& conninfo, const std::string& file) {
  const std::string command =
      "psql -X -q -A -t -v ON_ERROR_STOP=1 -F '\t' -d '" + conninfo + "' -f '" + file + "' 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "psql cannot be started";
  std::array<char, 4096> buffer{};
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
  const int status = pclose(pipe);
  return status == 0 ? output : "psql failed: " + output;
}

std::string cell(const std::vector<SchemaFlags>& schemas) {
  std::string text;
  for (const SchemaFlags& one : schemas) {
    if (!text.empty()) text += '|';
    text += one.schema + " " + field(one.plain) + " " + field(one.plain_to_write) + " " + field(one.builtin);
  }
  return text.empty() ? "-" : text;
}

TEST(CatalogServer, FindsWhatTheTableSays) {
  const char* conninfo = std::getenv("PGWEIR_TEST_CONNINFO");
  if (conninfo == nullptr) GTEST_SKIP() << "PGWEIR_TEST_CONNINFO is not set";
  const std::string tables = std::string(WEIR_SOURCE_DIR) + "/test/tables/";
  ASSERT_EQ(run_psql(conninfo, tables + "catalog_objects.sql"), "");

  std::vector<Missing> names;
  std::vector<std::string> expected;
  std::ifstream in(tables + "catalog_facts.tsv");
  const std::string letters = "rfot";
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto second = line.find('\t', 2);
    names.push_back({static_cast<FactKind>(letters.find(line[0])), line.substr(2, second - 2)});
    expected.push_back(line.substr(second + 1));
  }
  ASSERT_GT(names.size(), 60U);

  const std::string question = testing::TempDir() + "/catalog_question.sql";
  for (const char* strings : {"on", "off"}) {
    std::ofstream(question) << "SET standard_conforming_strings = " << strings << ";\n"
                            << catalog_query(names) << ";\n";
    std::vector<CatalogRow> rows;
    std::istringstream answer(run_psql(conninfo, question));
    for (std::string line; std::getline(answer, line);) {
      CatalogRow one;
      std::istringstream fields(line);
      for (std::string value; std::getline(fields, value, '\t');) one.push_back(value);
      rows.push_back(one);
    }
    const auto facts = parse_catalog_rows(names, rows);
    ASSERT_TRUE(facts.has_value()) << answer.str();
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(cell((*facts)[i].schemas), expected[i]) << names[i].name;
  }
}

}  // namespace
}  // namespace weir::lb
