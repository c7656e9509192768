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

const char* kind_text(StatementKind kind) {
  using Kind = StatementKind;
  switch (kind) {
  case Kind::Unknown: return "unknown";
  case Kind::Empty: return "empty";
  case Kind::Insert: return "insert";
  case Kind::Update: return "update";
  case Kind::Delete: return "delete";
  case Kind::Select: return "select";
  case Kind::CopyOut: return "copy query";
  case Kind::CopyOther: return "copy";
  case Kind::Prepare: return "prepare";
  case Kind::Set: return "set";
  case Kind::Reset: return "reset";
  case Kind::Show: return "show";
  case Kind::Begin: return "begin";
  case Kind::Commit: return "commit";
  case Kind::Rollback: return "rollback";
  case Kind::Savepoint: return "savepoint";
  case Kind::Ddl: return "ddl";
  case Kind::Do: return "do";
  case Kind::Call: return "call";
  default: return "?";
  }
}

std::string shown(const Statement& s) {
  std::string out = kind_text(s.kind);
  if (!s.identifier.empty())
    out += " " + s.identifier;
  for (const SetChange& set : s.sets)
    out += (set.scope == SetScope::Local ? " local[" : " [") + set.replay + "]";
  if (s.modifying_cte)
    out += " modifying";
  if (s.creates_temp)
    out += " temp";
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

// Statements that are alike have one entry, and are shown where they are met first.
std::string shown(const StatementFacts& facts) {
  std::string out = shown(facts.statements.at(0));
  for (std::size_t i = 1; i < facts.statements.size(); ++i)
    out += "; " + shown(facts.statements[i]);
  for (const StatementRun& run : facts.runs)
    out += (&run == facts.runs.data() ? " = " : " ") + std::to_string(run.index) + "x" + std::to_string(run.count);
  return out;
}

// Longer than what is parsed, without a name in it.
std::string filler() {
  std::string text = "1";
  while (text.size() <= StreamLexer::kMaxKept)
    text += ", 1";
  return text;
}

struct Row {
  const char* text;
  const char* facts;
};

// By their words, since there is too much of them to be parsed: ~ stands for that. Rather too many names than too few, and
// unknown for whatever is odd.
const std::vector<Row> kWords = {
    {"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (~);", "insert w:t"},
    {"insert into app.\"T x\" (a, \"b\") values ($1, $2), ($3, 'it''s'), (~)", "insert w:app.T x"},
    {"INSERT INTO t VALUES (~) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING a", "insert w:t"},
    {"INSERT INTO t AS x (a, b) VALUES (f(1), now(), s.g('x'), ~)", "insert w:t f:f now s.g"},
    {"INSERT INTO t VALUES ('1'::money, date '2020-01-01', '{}'::app.t, ~)", "insert w:t t:money date app.t"},
    {"INSERT INTO t VALUES (CAST('1' AS app.t), cast(2 as numeric(5, 2)), ~)", "insert w:t t:app.t pg_catalog.numeric"},
    {"INSERT INTO t SELECT a FROM u, v JOIN w ON x IN (SELECT y FROM z), q WHERE a IN (~)", "insert w:t r:u v w z q"},
    {"INSERT INTO t SELECT a FROM (SELECT b FROM u WHERE b IN (~)) s, hidden h", "insert w:t r:u hidden"},
    {"INSERT INTO t SELECT * FROM generate_series(1, 2) AS g(a), u x (b) WHERE a IN (~)", "insert w:t r:u f:generate_series"},
    {"UPDATE ONLY t SET a = b + 1 FROM u WHERE t.a IN (~)", "update w:t r:u"},
    {"DELETE FROM s.t USING u JOIN v USING (id) WHERE a IN (~)", "delete w:s.t r:u v"},
    {"SELECT a, count(*), t.* FROM t WHERE id IN (~) AND b LIKE ('x') ORDER BY a, b LIMIT 5 -- end", "select r:t f:count"},
    {"SELECT (f)(1), ~", "select"},
    {"VALUES (1), (~)", "select"},
    {"(SELECT 1) UNION ALL SELECT a FROM t WHERE a IN (~)", "select r:t"},
    {"/* a /* b */ 'c */ INSERT INTO t VALUES (-1, - 2, 3 - -4, .5, ~)", "insert w:t"},
    {"INSERT INTO t VALUES ('--', '/*', ';', 'DROP TABLE x', ~)", "insert w:t"},
    {"SELECT extract(epoch FROM a), substring(a from 1), a IS DISTINCT FROM b FROM t WHERE a IN (~)", "select r:t f:extract substring"},
    {"SELECT interval '1', timestamp with time zone '2', double precision '3', a AT TIME ZONE 'x', ~",
     "select t:pg_catalog.interval pg_catalog.timestamptz pg_catalog.float8"},
    {"SELECT 1 + ANY (ARRAY[~]), rank() OVER (PARTITION BY a), coalesce(1, 2), max(a) FILTER (WHERE true) FROM t", "select r:t f:rank max"},
    {"SELECT a -> 'b' ->> 'c' @> '{}' || x FROM t WHERE a <-> b IN (~)", "select r:t"},
    // every form of a literal
    {"INSERT INTO t VALUES (E'\\'); SELECT f(); --', ~)", "insert w:t"},
    {"INSERT INTO t VALUES ($$a'$$, f('b'), $a$ ' $b$ $$ $a$, ~)", "insert w:t f:f"},
    {"INSERT INTO t VALUES (U&'\\0041', b'1', X'f', n'x', ~)", "insert w:t"},
    {"INSERT INTO t VALUES ('a'\n'b', E'a' -- x\n '\\', f(1)', ~)", "insert w:t"},
    // WITH
    {"WITH x AS (SELECT * FROM u), y (a) AS NOT MATERIALIZED (SELECT 1 FROM x, x.x) INSERT INTO t SELECT a FROM x, y WHERE a IN (~)",
     "insert w:t r:u x.x"},
    {"WITH RECURSIVE x AS (SELECT 1 UNION ALL SELECT a FROM x) SELECT f(a) FROM x WHERE a IN (~)", "select f:f"},
    {"WITH x AS (SELECT a FROM x WHERE a IN (~)) SELECT 1", "select r:x"},
    {"SELECT 1 FROM (WITH x AS (SELECT 1) SELECT a FROM x) y, x WHERE a IN (~)", "select r:x"},
    {"WITH x AS (INSERT INTO u VALUES (~) RETURNING a), y AS (DELETE FROM v) UPDATE t SET a = 1 FROM x", "update modifying w:u v t"},
    {"WITH x AS (UPDATE u SET a = 1) SELECT * FROM x WHERE a IN (~)", "select modifying w:u"},
    {"INSERT INTO t WITH x AS (SELECT 1) SELECT * FROM x WHERE a IN (~)", "insert w:t"},
    {"WITH x AS (SELECT 1) MERGE INTO t USING x ON a IN (~) WHEN MATCHED THEN DELETE", "unknown"},
    // COPY, PREPARE
    {"COPY (SELECT a FROM t WHERE a IN (~)) TO STDOUT WITH (FORMAT csv)", "copy query r:t"},
    {"COPY (DELETE FROM t WHERE a IN (~) RETURNING a) TO STDOUT", "copy w:t"},
    {"COPY (SELECT a FROM t WHERE a IN (~)) TO '/tmp/x'", "unknown"},
    {"COPY (SELECT a FROM t WHERE a IN (~)) TO PROGRAM 'x'", "unknown"},
    {"PREPARE p AS SELECT f(a) FROM t WHERE a IN (~)", "prepare p r:t f:f"},
    {"PREPARE \"P\" (int, app.t) AS INSERT INTO t VALUES (~)", "prepare P w:t t:pg_catalog.int4 app.t"},
    {"PREPARE TRANSACTION 'x' ~", "unknown"},
    // another one
    {"SELECT a INTO TEMP x FROM t WHERE a IN (~)", "unknown"},
    {"SELECT a INTO x FROM t WHERE a IN (~)", "unknown"},
    {"SELECT set_config('a', 'b', false), ~", "unknown"},
    {"SELECT pg_catalog.\"set_config\"('a', 'b', false), ~", "unknown"},
    {"SELECT setseed(0.5), ~", "unknown"},
    {"INSERT INTO pg_temp.t VALUES (~)", "unknown"},
    {"SELECT * FROM f() AS (a app.t) WHERE a IN (~)", "unknown"},
    {"SELECT * FROM f() x (a app.t) WHERE a IN (~)", "unknown"},
    {"SELECT app.t (3) '1', ~", "unknown"},
    {"SELECT U&\"f\"(1), ~", "unknown"},
    {"CALL f(~)", "unknown"},
    {"SELECT 1 ### ~", "select"},
    {"INSERT INTO t VALUES (~", "unknown"},
    {"INSERT INTO t VALUES (~))", "unknown"},
    {"INSERT INTO t VALUES (~) 'a", "unknown"},
    {"INSERT INTO t VALUES (~, $a$)", "unknown"},
    {"INSERT INTO t VALUES (~, \"a", "unknown"},
    {"INSERT INTO t VALUES (~) /* a", "unknown"},
    {"SELECT 1e'x' ~", "unknown"},
};

// What is short is parsed, alone or as one of many.
const std::vector<Row> kParsed = {
    {"/* long */ SET a = 'b' -- c", "set a [SET a = 'b']"},
    {"--\n SET LOCAL /* c */ a.b TO 1, /* d */ 2", "set a.b local[SET LOCAL a.b TO 1, 2]"},
    {"SET a = 'b' -- c\n'd';", "set a [SET a = 'b'\n'd']"},
    {"/* */ RESET a", "reset a [RESET a]"},
    {"/* */ SHOW a", "show a"},
    {"SHOW pool_nodes", "unknown"},
    {"SELECT set_config('a', 'b', false)", "select [SELECT pg_catalog.set_config('a', 'b', false)] f:set_config"},
    {"CREATE TEMP TABLE x (a int)", "ddl temp w:x t:pg_catalog.int4"},
    {"COPY t FROM STDIN", "copy w:t"},
    {"COPY t TO STDOUT", "copy query r:t"},
    {"DO $$ BEGIN; END $$", "do"},
    {"INSERT INTO t VALUES (1); SELECT f()", "insert w:t; select f:f = 0x1 1x1"},
    {"INSERT INTO t VALUES (1); ; INSERT INTO u VALUES (f(2));SELECT 1;INSERT INTO t VALUES (1);", "insert w:t u f:f; select = 0x2 1x1 0x1"},
    {"BEGIN; INSERT INTO t VALUES (1); COMMIT; BEGIN; SAVEPOINT a; ROLLBACK",
     "begin; insert w:t; commit; savepoint a; rollback = 0x1 1x1 2x1 0x1 3x1 4x1"},
    {"START TRANSACTION READ ONLY; SET LOCAL a = b; COMMIT AND CHAIN", "begin start transaction; set a local[SET LOCAL a = b]; commit = 0x1 1x1 2x1"},
    {"SET a = b; SET a = c; SET a = b", "set a [SET a = b]; set a [SET a = c] = 0x1 1x1 0x1"},
    {"CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3", "ddl w:t; select = 0x1 1x1"},
    {"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END", "unknown"},
    {"SELECT 1; SELEC 2", "unknown"},
    {"SELECT 1; SHOW pool_nodes", "unknown"},
    {"", "empty"},
    {"-- nothing", "empty"},
    {"/* a */ ; ;", "empty"},
};

std::string with_filler(std::string text) {
  if (const std::size_t at = text.find('~'); at != std::string::npos)
    text.replace(at, 1, filler());
  return text;
}

TEST(LongText, Words) {
  for (const Row& row : kWords)
    EXPECT_EQ(shown(look(with_filler(row.text))), row.facts) << row.text;
}

TEST(LongText, Parsed) {
  for (const Row& row : kParsed)
    EXPECT_EQ(shown(look(row.text)), row.facts) << row.text;
}

TEST(LongText, CommentsDoNotCount) {
  const std::string comment = "/*" + std::string(100000, '\'') + "*/ -- " + std::string(100000, '"') + "\n";
  for (const Row& row : kParsed) {
    const std::string text = comment + row.text;
    EXPECT_EQ(shown(look(text, 4096)), row.facts) << row.text;
  }
}

TEST(LongText, PiecesDoNotMatter) {
  for (const Row& row : kParsed) {
    const std::string text = row.text;
    for (std::size_t piece = 1; piece <= text.size(); ++piece)
      EXPECT_EQ(shown(look(text, piece)), row.facts) << row.text << " by " << piece;
  }
  for (const Row& row : kWords) {
    for (std::size_t piece : {1, 2, 3, 7, 1000})
      EXPECT_EQ(shown(look(with_filler(row.text), piece)), row.facts) << row.text << " by " << piece;
  }
}

TEST(LongText, KeepsLittleOfMuch) {
  std::string text = "INSERT INTO t VALUES (1, 'x')";
  for (int i = 0; i < 100000; ++i)
    text += ", (" + std::to_string(i) + ", 'some text')";
  EXPECT_EQ(shown(look(text, 65536)), "insert w:t");
  EXPECT_EQ(shown(look("INSERT INTO t VALUES (" + std::string(100000, 'a') + ")")), "unknown");
  std::string many;
  for (int i = 0; i < 10000; ++i)
    many += "INSERT INTO t VALUES (1, 'x');";
  EXPECT_EQ(shown(look(many, 65536)), "insert w:t = 0x10000");
  std::string calls = "SELECT 1";
  for (int i = 0; i < 1000; ++i)
    calls += ", f" + std::to_string(i) + "()";
  EXPECT_EQ(shown(look(calls)), "unknown");
}

} // namespace
} // namespace weir::parser
