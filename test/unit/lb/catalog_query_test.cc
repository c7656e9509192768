#include "lb/catalog_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace weir::lb {
namespace {

using shmem::FactKind;

std::string field(bool value) { return value ? "t" : "f"; }

CatalogRow row(const char* kind, const char* name, const char* schema, bool plain, bool to_write, bool builtin) {
  return {kind, name, schema, field(plain), field(to_write), field(builtin), "t", "f", "", "f", "f", "f"};
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
  EXPECT_TRUE(mentions(FactKind::Relation, "pg_trigger"));
  EXPECT_FALSE(mentions(FactKind::Operator, "pg_trigger"));
  EXPECT_FALSE(mentions(FactKind::Function, "pg_trigger"));
  EXPECT_TRUE(mentions(FactKind::Function, "pg_event_trigger"));
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
            (std::vector<SchemaFlags>{{"a", true, true, false, true}, {"b", false, true, false, true}}));
  EXPECT_EQ((*facts)[1].schemas, (std::vector<SchemaFlags>{{"pg_catalog", false, false, true, true}}));
  EXPECT_EQ((*facts)[2].name, "u");
  EXPECT_TRUE((*facts)[2].schemas.empty());
}

TEST(CatalogRows, AnythingUnexpectedSpoilsTheAnswer) {
  const CatalogRow good = row("r", "t", "a", true, true, false);
  EXPECT_TRUE(parse_catalog_rows(kAsked, std::vector<CatalogRow>{good}).has_value());
  std::vector<CatalogRow> bad(14, good);
  bad[0].pop_back();
  bad[1].push_back("t");
  bad[2][0] = "o";       // not asked for of that kind
  bad[3][1] = "other";   // not asked for
  bad[4][2] = std::nullopt;
  bad[5][3] = "true";
  bad[6][5] = std::nullopt;
  bad[7][2] = "";        // would stand for any schema
  bad[8][6] = "";
  bad[9][7] = std::nullopt;
  bad[10][8] = std::nullopt;
  bad[11][9] = std::nullopt;
  bad[12][10] = "1";
  bad[13][11] = std::nullopt;
  for (const CatalogRow& one : bad) EXPECT_FALSE(parse_catalog_rows(kAsked, std::vector<CatalogRow>{good, one}));
}

// What PostgreSQL's own functions and relations, met on the way, make of a fact.
SchemaFlags with_uses(const std::string& uses) {
  CatalogRow one = row("r", "t", "a", true, true, false);
  one[8] = uses;
  const auto facts = parse_catalog_rows(kAsked, std::vector<CatalogRow>{one});
  return facts ? facts->at(0).schemas.at(0) : SchemaFlags{};
}

TEST(CatalogUses, HarmlessOnesChangeNothing) {
  for (const char* uses : {"", "\n", "f:count", "f:lower\nf:random\nf:count", "f:lower@app"}) {
    EXPECT_EQ(with_uses(uses), (SchemaFlags{"a", true, true, false, true})) << uses;
  }
  for (const char* uses : {"c:", "f:lower\nf:now", "f:now@app"}) {
    EXPECT_EQ(with_uses(uses), (SchemaFlags{"a", true, true, false, true, false, {}, false, false, false, true})) << uses;
  }
  EXPECT_EQ(with_uses("r:pg_catalog.pg_class"), (SchemaFlags{"a", true, true, false, true, true}));
  EXPECT_EQ(with_uses("f:to_regclass"), (SchemaFlags{"a", true, true, false, true, true}));
}

TEST(CatalogUses, OnesThatNeedThePrimary) {
  for (const char* uses : {"f:nextval", "f:count\nf:inet_server_addr", "f:current_setting"}) {
    EXPECT_EQ(with_uses(uses), (SchemaFlags{"a", false, true, false, true})) << uses;
  }
  EXPECT_EQ(with_uses("r:pg_catalog.pg_stat_activity"), (SchemaFlags{"a", false, true, false, true, true}));
}

TEST(CatalogUses, OnesThatChangeTheSession) {
  for (const char* uses : {"f:setseed", "f:pg_advisory_lock", "f:query_to_xml", "x:", "nonsense", "n:"}) {
    const SchemaFlags flags = with_uses(uses);
    EXPECT_FALSE(flags.plain || flags.quiet || flags.plain_to_write) << uses;
  }
}

TEST(CatalogUses, OnesThatHangOnThePath) {
  const SchemaFlags flags = with_uses("n:@shadow\nf:nextval@app\nf:lower@other\nq:@app\nf:setseed@b\nn:@app");
  EXPECT_TRUE(flags.plain && flags.quiet);
  EXPECT_EQ(flags.path_doubts, "nshadow\nqapp\nnb\nnapp");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "n:@schema_" + std::to_string(i) + "\n";
  EXPECT_FALSE(with_uses(many).plain || with_uses(many).quiet);
  EXPECT_EQ(with_uses(many).path_doubts, "");
}

// The rest needs a server: PGWEIR_TEST_CONNINFO names a database in which objects may be made. psql must be on the
// path.
std::string run_psql(const std::string& conninfo, const std::string& file) {
  const std::string command =
      "psql -X -q -A -t -v ON_ERROR_STOP=1 -F '\t' -R '\x1E' -d '" + conninfo + "' -f '" + file + "' 2>&1";
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
    text += one.schema + " " + field(one.plain) + " " + field(one.plain_to_write) + " " + field(one.builtin) + " " +
            field(one.quiet) + " " + field(one.late);
    std::string doubts = one.path_doubts;
    std::replace(doubts.begin(), doubts.end(), '\n', ',');
    if (!doubts.empty()) text += " " + doubts;
    if (one.tells_time) text += " time";
  }
  return text.empty() ? "-" : text;
}

std::optional<std::vector<CatalogFact>> ask_server(const char* conninfo, const char* strings,
                                                   const std::vector<Missing>& names) {
  const std::string question = testing::TempDir() + "/catalog_question.sql";
  std::ofstream(question) << "SET standard_conforming_strings = " << strings << ";\n" << catalog_query(names) << ";\n";
  std::vector<CatalogRow> rows;
  std::istringstream answer(run_psql(conninfo, question));
  for (std::string line; std::getline(answer, line, '\x1E');) {
    while (line.ends_with('\n')) line.pop_back();
    if (line.empty()) continue;
    CatalogRow one;
    std::istringstream fields(line + '\t');
    for (std::string value; std::getline(fields, value, '\t');) one.push_back(value);
    rows.push_back(one);
  }
  auto facts = parse_catalog_rows(names, rows);
  EXPECT_TRUE(facts.has_value()) << answer.str();
  return facts;
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

  // reads_itself and writes_itself.
  const std::map<std::string, std::string> kReach = {
      {"plain", "tt"}, {"a_view", "ff"}, {"mat", "tf"}, {"seq", "ff"}, {"unlogged", "tt"}, {"part", "ff"}, {"part_1", "tt"}, {"parent", "ff"}, {"child", "tt"}, {"middle", "ff"},
      {"referenced", "tf"}, {"cascading", "tt"}, {"referenced_strictly", "tt"}, {"strict", "tt"}, {"with_row_function", "ff"}, {"triggered", "tt"}};
  std::size_t reached = 0;
  for (const char* strings : {"on", "off"}) {
    for (std::size_t at = 0; at < names.size(); at += kMaxQueryNames) {
      const std::vector<Missing> some(names.begin() + static_cast<std::ptrdiff_t>(at),
                                      names.begin() + static_cast<std::ptrdiff_t>(std::min(at + kMaxQueryNames, names.size())));
      const auto facts = ask_server(conninfo, strings, some);
      ASSERT_TRUE(facts.has_value());
      for (std::size_t i = 0; i < some.size(); ++i) {
        EXPECT_EQ(cell((*facts)[i].schemas), expected[at + i]) << names[at + i].name;
        const auto reach = kReach.find(names[at + i].name);
        if (reach == kReach.end() || names[at + i].kind != FactKind::Relation) continue;
        ASSERT_EQ((*facts)[i].schemas.size(), 1U) << reach->first;
        const SchemaFlags& flags = (*facts)[i].schemas[0];
        EXPECT_EQ(field(flags.reads_itself) + field(flags.writes_itself), reach->second) << reach->first;
        ++reached;
      }
    }
  }
  EXPECT_EQ(reached, 2 * kReach.size());
}

}  // namespace
}  // namespace weir::lb
