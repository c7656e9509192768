// Runs test/tables/route_sql.tsv: statements as people write them, from text to target.
#include <gtest/gtest.h>

#include <fstream>

#include "lb/builtin.h"
#include "lb/catalog_query.h"
#include "lb/effects.h"
#include "lb/resolve.h"
#include "lb/route.h"
#include "parser/classify.h"
#include "test/unit/lb/route_words.h"
#include "test/unit/lb/support.h"
#include "test/unit/parser/grammar.h"

namespace weir::lb {
namespace {

using shmem::FactKind;

// The database that the table speaks of; everything else does not exist in it.
FakeCatalog database() {
  FakeCatalog catalog;
  for (const char* name : {"t", "u", "orders", "items", "pgbench_accounts", "part", "mat"}) {
    catalog.table("public", name);
  }
  catalog.table("app", "t2");
  catalog.add(FactKind::Relation, "logs", {"public", false, true, false});        // unlogged
  catalog.add(FactKind::Relation, "triggered", {"public", true, false, false});
  for (const char* name : {"v", "secured", "foreign_t"}) catalog.view("public", name);
  catalog.table("app", "shadow");
  catalog.view("public", "shadow");
  for (const char* name : {"pg_class", "pg_stat_activity", "pg_settings", "pg_tables"}) {
    catalog.add(FactKind::Relation, name, {"pg_catalog", false, false, true});
  }
  for (const std::string_view name : harmless_functions()) catalog.builtin_function(std::string(name));
  for (const char* name : {"nextval", "currval", "setval", "set_config", "setseed", "pg_advisory_lock", "txid_current",
                           "pg_advisory_xact_lock", "pg_is_in_recovery", "pg_backend_pid", "query_to_xml", "pg_notify",
                           "current_setting", "lo_create", "pg_current_wal_lsn", "pg_terminate_backend",
                           "inet_server_port", "to_regclass", "pg_relation_size", "currtid2", "pg_stat_reset",
                           "system_user"}) {
    catalog.builtin_function(name);
  }
  for (const char* name : {"f", "volatile_fn", "dblink"}) catalog.user_function("public", name);
  catalog.user_function("app", "trim_it");
  for (const char* name : {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "~~", "!~~", "~~*", "!~~*",
                           "~", "~*", "!~", "!~*", "->", "->>", "#>", "@>", "<@", "?", "&&", "@@"}) {
    catalog.builtin_operator(name);
  }
  catalog.add(FactKind::Operator, "===", {"public", false, false, false});
  catalog.add(FactKind::Type, "mood", {"public", true, false, false});
  catalog.add(FactKind::Type, "citext", {"public", false, false, false});
  catalog.add(FactKind::Relation, "good_v", {"public", true, false, false, true});
  catalog.add(FactKind::Function, "stable_fn", {"public", true, false, false, true, true});
  catalog.add(FactKind::Function, "stable_too", {"app", true, false, false, true, true});
  catalog.add(FactKind::Function, "path_fn", {"public", true, false, false, true, true, "napp\nnother"});
  catalog.add(FactKind::Operator, "%%%", {"public", true, false, false, true});
  catalog.add(FactKind::Type, "tidy", {"public", true, false, false, true});
  catalog.close();
  return catalog;
}

class RouteSql : public testing::Test {
 protected:
  Target route_sql(const std::string& words, const std::string& sql) {
    SessionRouting session;
    PolicySettings settings;
    for (const std::string& word : split(words, ' ')) apply_session_word(session, settings, word);
    const Policy policy = std::move(compile_policy(settings)).value();
    facts_ = parser::classify(sql);
    resolved_ = resolve(facts_, {"db", path_, true, false}, policy, catalog_);
    const RouteItem item{&facts_, &resolved_, policy.matches_primary_pattern(sql)};
    return route({&item, 1}, session, policy);
  }

  FakeCatalog catalog_ = database();
  std::vector<std::string> path_{"public"};
  parser::StatementFacts facts_;
  Resolved resolved_;
};

TEST_F(RouteSql, EveryRow) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/test/tables/route_sql.tsv");
  ASSERT_TRUE(in.is_open());
  int rows = 0;
  int line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    const auto first = line.find('\t');
    const auto second = line.find('\t', first + 1);
    ASSERT_NE(second, std::string::npos) << "line " << line_number;
    std::string expected = line.substr(second + 1);
    const auto last = expected.rfind('\t');
    if (const auto holds = parser::holds_for_grammar(expected.substr(last + 1))) {
      if (!*holds) continue;
      expected.resize(last);
    }
    const Target target = route_sql(line.substr(0, first), line.substr(first + 1, second - first - 1));
    EXPECT_EQ(target_text(target), expected) << "line " << line_number << ": " << line;
    ++rows;
  }
  EXPECT_GE(rows, 200);
}

// What may not be seen in the session afterwards, for statements as people write them.
struct EffectRow {
  const char* sql;
  bool temp;
  bool opaque;
  bool unverified;
  bool catalog;
};

TEST_F(RouteSql, Effects) {
  const EffectRow rows[] = {
      {"INSERT INTO t VALUES (1)", false, false, false, false},
      {"UPDATE t SET a = a + 1 WHERE id = $1", false, false, false, false},
      {"DELETE FROM t WHERE id IN (SELECT id FROM u)", false, false, false, false},
      {"INSERT INTO t SELECT nextval('s'), now()", false, false, false, false},
      {"INSERT INTO triggered VALUES (1)", false, true, false, false},
      {"INSERT INTO unheard_of VALUES (1)", false, false, true, false},
      {"INSERT INTO t SELECT * FROM v", false, true, false, false},
      {"WITH x AS (DELETE FROM triggered RETURNING *) SELECT * FROM x", false, true, false, false},
      {"SELECT f()", false, true, false, false},
      {"SELECT * FROM v", false, true, false, false},
      {"SELECT * FROM logs", false, false, false, false},
      {"SELECT * FROM pg_class", false, false, false, false},
      {"SELECT relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace", false,
       false, false, false},
      {"SELECT pg_advisory_xact_lock(1)", false, false, false, false},
      {"SELECT setseed(0.5)", false, true, false, false},
      {"SELECT set_config('work_mem', '1MB', false)", false, false, false, false},
      {"SELECT set_config(name, '1MB', false) FROM t", false, true, false, false},
      {"DO $$ BEGIN END $$", false, true, false, true},
      {"CALL f()", false, true, false, false},
      {"CREATE TEMP TABLE x (a int)", true, false, false, false},
      {"CREATE TEMP TABLE x (a int DEFAULT f())", true, true, false, false},
      {"CREATE TEMP TABLE x (a citext)", true, true, false, false},
      {"CREATE TEMP VIEW x AS SELECT * FROM v", true, true, false, false},
      {"CREATE TEMP VIEW x AS SELECT * FROM good_v", true, false, false, false},
      {"CREATE TEMP TABLE x () INHERITS (t)", true, false, false, true},
      {"CREATE TABLE x (a text DEFAULT 'pg_temp')", true, false, false, true},
      {"CREATE TABLE pg_temp.x (a int)", true, false, false, false},
      {"SELECT 1 INTO TEMP x", true, false, false, false},
      {"CREATE TABLE x (a int)", false, false, false, true},
      {"CREATE TABLE x AS SELECT * FROM v", false, true, false, true},
      {"CREATE VIEW w AS SELECT * FROM v", false, false, false, true},
      {"CREATE INDEX ON t (a)", false, false, false, true},
      {"DROP TABLE t", false, false, false, true},
      {"ALTER TABLE v RENAME TO w", false, false, false, true},
      {"SET search_path = pg_temp, public", true, false, false, false},
      {"SET work_mem = '1MB'", false, false, false, false},
      {"LOCK TABLE v", false, false, false, false},
      {"VACUUM t", false, false, false, false},
      {"COPY t FROM STDIN", false, false, false, false},
      {"COPY triggered FROM STDIN", false, true, false, false},
      {"COPY v TO STDOUT", false, true, false, false},
      {"SELECT '", true, true, false, true},
      {"SET CONSTRAINTS fk IMMEDIATE", false, false, false, false},
      {"BEGIN", false, false, false, false},
      {"PREPARE p AS INSERT INTO triggered VALUES (1)", false, true, false, false},
      {"EXPLAIN ANALYZE INSERT INTO triggered VALUES (1)", false, true, false, false},
      {"SELECT 'x'::citext", false, true, false, false},
      {"SELECT 1 === 2", false, true, false, false},
      {"SELECT stable_fn(a) FROM good_v", false, false, false, false},
      {"INSERT INTO t SELECT stable_fn(a) FROM good_v", false, false, false, false},
      {"INSERT INTO good_v VALUES (1)", false, true, false, false},
  };
  catalog_.add_nothing(FactKind::Function, std::string(kEventTriggers));
  for (const EffectRow& row : rows) {
    route_sql("-", row.sql);
    const lb::Effects result = effects(facts_, resolved_);
    EXPECT_EQ(result.may_have_temp, row.temp) << row.sql;
    EXPECT_EQ(result.opaque_state, row.opaque) << row.sql;
    EXPECT_EQ(!result.unverified.empty(), row.unverified) << row.sql;
    EXPECT_EQ(result.changes_catalog, row.catalog) << row.sql;
  }
}

// Which names temporary objects may have afterwards; "-": nothing is told, "?": it is not clear.
TEST_F(RouteSql, TempNames) {
  const std::pair<const char*, const char*> rows[] = {
      {"CREATE TEMP TABLE x (a int)", "x"},
      {"CREATE TEMPORARY TABLE IF NOT EXISTS x (LIKE t)", "x"},
      {"CREATE TEMP TABLE x (a int) ON COMMIT DROP", "x"},
      {"CREATE TABLE pg_temp.x (a int)", "x"},
      {"CREATE TABLE pg_temp_3.x (a int)", "x"},
      {"CREATE TEMP TABLE x AS SELECT * FROM t", "x"},
      {"SELECT * INTO TEMP x FROM t", "x"},
      {"SELECT * INTO pg_temp.x FROM t", "x"},
      {"CREATE TEMP VIEW x AS SELECT * FROM t", "x"},
      {"CREATE TEMP SEQUENCE x", "x"},
      {"CREATE TEMP TABLE \"X y\" (a serial)", "X y"},
      {"CREATE TABLE x (a int)", "-"},
      {"CREATE TABLE x AS SELECT 1", "-"},
      {"CREATE INDEX ON x (a)", "-"},
      {"DROP TABLE x", "-"},
      {"DROP TABLE pg_temp.x", "-"},
      {"TRUNCATE x", "-"},
      {"SELECT * FROM pg_temp.x", "-"},
      {"INSERT INTO pg_temp.x VALUES (1)", "-"},
      {"SELECT 'pg_temp'", "-"},
      {"SELECT 1", "-"},
      {"DISCARD TEMP", "-"},
      {"CREATE TEMP TABLE x () INHERITS (t)", "?"},
      {"CREATE TEMP TABLE x PARTITION OF t DEFAULT", "?"},
      {"CREATE TABLE x (a text DEFAULT 'pg_temp')", "?"},
      {"CREATE VIEW x AS SELECT * FROM t", "?"},
      {"CREATE TYPE pg_temp.x AS ENUM ('a')", "?"},
      {"CREATE FUNCTION pg_temp.x() RETURNS int LANGUAGE sql AS 'SELECT 1'", "?"},
      {"ALTER TABLE x RENAME TO y", "?"},
      {"ALTER TABLE x ADD COLUMN b int", "?"},
      {"CREATE TRIGGER x BEFORE INSERT ON x FOR EACH ROW EXECUTE FUNCTION f()", "?"},
      {"CREATE SCHEMA s CREATE TEMP TABLE x (a int)", "?"},
      {"EXPLAIN ANALYZE CREATE TEMP TABLE x AS SELECT 1", "?"},
      {"SET search_path = pg_temp, public", "?"},
      {"SELECT set_config('search_path', 'pg_temp', false)", "?"},
      {"SELECT '", "?"},
  };
  for (const auto& [sql, expected] : rows) {
    route_sql("-", sql);
    const lb::Effects result = effects(facts_, resolved_);
    std::string told = result.temp_unclear ? "?" : "-";
    for (const NamedEffect& named : result.named) {
      if (named.change == NamedChange::CreateTemp) told = std::string(named.name) + (result.temp_unclear ? "?" : "");
    }
    EXPECT_EQ(told, expected) << sql;
  }
}

}  // namespace
}  // namespace weir::lb
