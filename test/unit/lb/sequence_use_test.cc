#include "lb/sequence_use.h"

#include <gtest/gtest.h>

#include <string>

#include "parser/classify.h"
#include "test/unit/lb/support.h"

namespace weir::lb {
namespace {

// "d" draws, "a" asks, "n" by name.
std::string use_of(const std::string& sql, bool told = false) {
  FakeCatalog catalog;
  catalog.table("public", "plain");
  catalog.add(shmem::FactKind::Relation, "serial", {"public", true, true, false, false, false, {}, true, true, false});
  catalog.view("public", "a_view");
  catalog.user_function("public", "mine");
  for (const char* name : {"nextval", "setval", "currval", "lastval", "lower", "now"}) catalog.builtin_function(name);
  catalog.add_nothing(shmem::FactKind::Function, "");
  const Policy policy;
  const std::vector<std::string> path{"public"};
  const parser::StatementFacts facts = parser::classify(sql);
  const Resolved resolved = resolve(facts, {"db", path, true, false}, policy, catalog);
  const SequenceUse use = sequence_use(facts, resolved, told);
  return std::string(use.draws ? "d" : "") + (use.asks ? "a" : "") + (use.named ? "n" : "");
}

TEST(SequenceUse, by_statement) {
  struct {
    const char* sql;
    const char* use;
  } const cases[] = {
      // User-defined functions of which the catalogue does not say that they are harmless count as both.
      {"SELECT 1", ""},
      {"SELECT x FROM plain", ""},
      {"SELECT lower(x) FROM plain", ""},
      {"INSERT INTO plain VALUES (1)", ""},
      {"UPDATE plain SET x = 1", ""},
      {"DELETE FROM plain", ""},
      {"INSERT INTO serial VALUES (1)", "da"},
      {"UPDATE serial SET x = DEFAULT", "da"},
      {"WITH w AS (INSERT INTO serial DEFAULT VALUES RETURNING 1) SELECT 1", "da"},
      {"INSERT INTO not_looked_up VALUES (1)", "da"},
      {"SELECT nextval('s')", "d"},
      {"SELECT setval('s', 1)", "d"},
      {"INSERT INTO plain SELECT nextval('s')", "d"},
      {"SELECT currval('s')", "an"},
      {"SELECT pg_catalog.lastval()", "an"},
      {"SELECT nextval('s'), lastval()", "dan"},
      {"INSERT INTO plain VALUES (currval('s'))", "an"},
      {"SELECT 1; SELECT lastval()", "an"},
      {"SELECT mine()", "da"},
      {"SELECT x FROM a_view", "da"},
      {"DO $$BEGIN END$$", "da"},
      {"CALL mine()", "da"},
      {"EXECUTE s", "da"},
      {"CREATE TABLE t (x serial)", "d"},
      {"CREATE TABLE t (x bigint DEFAULT lastval())", "da"},
      {"COPY serial FROM STDIN", "da"},
      {"COPY plain FROM STDIN", ""},
      {"COPY (SELECT currval('s')) TO STDOUT", "an"},
      {"MERGE INTO serial USING plain ON true WHEN NOT MATCHED THEN INSERT DEFAULT VALUES", "da"},
      {"EXPLAIN ANALYZE INSERT INTO serial DEFAULT VALUES", "da"},
      {"DECLARE c CURSOR FOR SELECT currval('s')", "an"},
      // Like every DDL: what it names may be a default that is not called now.
      {"CREATE TABLE t AS SELECT currval('s')", "da"},
      {"SELECT lastval() INTO t", "an"},
      // One letter is enough: others' values are forgotten before anything that is not empty here.
      {"REFRESH MATERIALIZED VIEW m", "d"},
      {"ALTER TABLE plain ADD COLUMN y bigint DEFAULT lastval()", "da"},
      {"CREATE INDEX ON plain (mine(x))", "da"},
      {"BEGIN", ""},
      {"COMMIT", ""},
      {"SET work_mem = '4MB'", ""},
      {"not a statement", "da"},
  };
  for (const auto& c : cases) EXPECT_EQ(use_of(c.sql), c.use) << c.sql;
  EXPECT_EQ(use_of("EXECUTE s", true), "");
}

}  // namespace
}  // namespace weir::lb
