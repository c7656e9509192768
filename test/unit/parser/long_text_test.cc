#include "parser/long_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::parser {
namespace {

StatementFacts look(const std::string& text, std::size_t piece = std::string::npos) {
  LongText scan;
  for (std::size_t at = 0; at < text.size(); at += piece == std::string::npos ? text.size() : piece)
    scan.feed(std::string_view(text).substr(at, piece));
  return scan.finish();
}

std::string names(const std::vector<Name>& list) {
  std::string out;
  for (const Name& name : list)
    out += (out.empty() ? "" : " ") + (name.schema.empty() ? "" : name.schema + ".") + name.name;
  return out;
}

std::string shown(const StatementFacts& facts) {
  const Statement& s = facts.statements.at(0);
  switch (s.kind) {
  case StatementKind::Unknown:
    return "unknown";
  case StatementKind::Insert:
  case StatementKind::Update:
  case StatementKind::Delete:
  case StatementKind::Select:
    break;
  default:
    return "?";
  }
  std::string out = s.kind == StatementKind::Insert   ? "insert"
                    : s.kind == StatementKind::Update ? "update"
                    : s.kind == StatementKind::Delete ? "delete"
                                                      : "select";
  if (!s.written_relations.empty())
    out += " w:" + names(s.written_relations);
  if (!s.relations.empty())
    out += " r:" + names(s.relations);
  if (!s.functions.empty())
    out += " f:" + names(s.functions);
  if (!s.types.empty())
    out += " t:" + names(s.types);
  return out;
}

struct Row {
  const char* text;
  const char* facts;
};

// What a reviewer looks at: rather too many names than too few, and unknown for whatever is odd.
const std::vector<Row> kRows = {
    {"INSERT INTO t VALUES (1, 'a'), (2, 'b');", "insert w:t"},
    {"insert into app.\"T x\" (a, \"b\") values ($1, $2), ($3, 'it''s')", "insert w:app.T x"},
    {"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING a", "insert w:t"},
    {"INSERT INTO t VALUES (f(1), now(), s.g('x'))", "insert w:t f:f now s.g"},
    {"INSERT INTO t VALUES ('1'::money, date '2020-01-01', '{}'::app.t)", "insert w:t t:money date app.t"},
    {"INSERT INTO t SELECT a FROM u, v JOIN w ON true WHERE x IN (SELECT y FROM z), q", "insert w:t r:u v w z q"},
    {"INSERT INTO t SELECT a FROM (SELECT b FROM u WHERE b > 1) s, hidden h", "insert w:t r:u hidden"},
    {"INSERT INTO t SELECT * FROM generate_series(1, 2)", "insert w:t r:generate_series f:generate_series"},
    {"UPDATE ONLY t SET a = b + 1 FROM u WHERE t.a = u.a", "update w:t r:u"},
    {"DELETE FROM s.t USING u WHERE a IN (1, 2, 3)", "delete w:s.t r:u"},
    {"SELECT a, b FROM t WHERE id IN (1, 2, 3) ORDER BY a, b LIMIT 5 -- end", "select r:t"},
    {"SELECT (f)(1)", "select"},
    {"VALUES (1), (2)", "select"},
    {"/* a /* b */ 'c */ INSERT INTO t VALUES (-1, - 2, 3 - -4)", "insert w:t"},
    {"INSERT INTO t VALUES ('--', '/*', ';', 'DROP TABLE x')", "insert w:t"},
    // more than one statement, or another
    {"INSERT INTO t VALUES (1); SELECT f()", "unknown"},
    {"INSERT INTO t VALUES (1); ;", "insert w:t"},
    {"CREATE TEMP TABLE x (a int)", "unknown"},
    {"SET search_path = a", "unknown"},
    {"DO $$ BEGIN END $$", "unknown"},
    {"CALL f()", "unknown"},
    {"WITH x AS (INSERT INTO t VALUES (1) RETURNING 1) SELECT 1", "unknown"},
    {"SELECT a INTO TEMP x FROM t", "unknown"},
    {"SELECT a INTO x FROM t", "unknown"},
    {"SELECT set_config('a', 'b', false)", "unknown"},
    {"SELECT \"set_config\"('a', 'b', false)", "unknown"},
    {"SELECT pg_catalog.set_config('a', 'b', false)", "unknown"},
    {"SELECT setseed(0.5)", "unknown"},
    {"INSERT INTO pg_temp.t VALUES (1)", "unknown"},
    {"INSERT INTO t VALUES (CAST('1' AS app.t))", "unknown"},
    // texts that are not what they look like
    {"INSERT INTO t VALUES (E'\\'); SELECT f(); --')", "unknown"},
    {"INSERT INTO t VALUES ($$a'$$, f('b'))", "unknown"},
    {"INSERT INTO t VALUES ($a$ ' $a$)", "unknown"},
    {"INSERT INTO t VALUES (U&'\\0041')", "unknown"},
    {"INSERT INTO t VALUES ('a'\n'b')", "unknown"},
    {"INSERT INTO t VALUES (1 ### 2)", "unknown"},
    {"INSERT INTO t VALUES (1", "unknown"},
    {"INSERT INTO t VALUES (1))", "unknown"},
    {"INSERT INTO t VALUES ('a", "unknown"},
    {"INSERT INTO t VALUES (\"a", "unknown"},
    {"INSERT INTO t VALUES (1) /* a", "unknown"},
    {"INSERT INTO", "unknown"},
    {"INSERT", "unknown"},
    {"", "unknown"},
    {"-- nothing", "unknown"},
};

TEST(LongText, Table) {
  for (const Row& row : kRows)
    EXPECT_EQ(shown(look(row.text)), row.facts) << row.text;
}

TEST(LongText, PiecesDoNotMatter) {
  for (const Row& row : kRows) {
    const std::string text = row.text;
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
      EXPECT_EQ(shown(look(text, piece)), row.facts) << row.text << " by " << piece;
  }
}

TEST(LongText, KeepsLittleOfMuch) {
  std::string text = "INSERT INTO t VALUES (1, 'x')";
  for (int i = 0; i < 100000; ++i)
    text += ", (" + std::to_string(i) + ", 'some text')";
  EXPECT_EQ(shown(look(text, 65536)), "insert w:t");
  EXPECT_EQ(shown(look("INSERT INTO t VALUES (" + std::string(100000, 'a') + ")")), "unknown");
  std::string calls = "SELECT 1";
  for (int i = 0; i < 1000; ++i)
    calls += ", f" + std::to_string(i) + "()";
  EXPECT_EQ(shown(look(calls)), "unknown");
}

} // namespace
} // namespace weir::parser
