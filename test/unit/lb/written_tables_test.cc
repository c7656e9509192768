// What counts as written, and which reads meet it: dml_adaptive and its list of dependent objects.
#include "lb/written_tables.h"

#include <gtest/gtest.h>

#include "lb/policy.h"
#include "parser/classify.h"
#include "test/unit/lb/support.h"

namespace weir::lb {
namespace {

using shmem::FactKind;

FakeCatalog database() {
  FakeCatalog catalog;
  for (const char* table : {"a", "b", "c"}) catalog.table("public", table);
  catalog.table("other", "a");
  catalog.add(FactKind::Relation, "plain_view", {"public", true, false, false, true});
  catalog.add(FactKind::Relation, "parent", {"public", true, true, false, true});
  catalog.add(FactKind::Relation, "referenced", {"public", true, true, false, true, false, {}, true, false});
  catalog.add(FactKind::Relation, "triggered", {"public", true, false, false, true, false, {}, true, true});
  catalog.add(FactKind::Relation, "unlogged", {"public", false, true, false, true, false, {}, true, true});
  catalog.add(FactKind::Relation, "pg_class", {"pg_catalog", false, false, true});
  catalog.add(FactKind::Function, "reader", {"public", true, false, false, true});
  catalog.add(FactKind::Function, "writer", {"public", false, false, false, false});
  catalog.add(FactKind::Function, "from_sequence", {"public", false, false, false, true});
  for (const char* function : {"count", "nextval", "now", "lower", "random", "query_to_xml"}) catalog.builtin_function(function);
  for (const char* symbol : {"=", "+", "<", ">"}) catalog.builtin_operator(symbol);
  catalog.close();
  catalog.add_nothing(FactKind::Function, "");
  return catalog;
}

class Written {
 public:
  explicit Written(const std::vector<std::string>& list = {}, const FakeCatalog& catalog = database()) : catalog_(catalog) {
    PolicySettings settings;
    settings.write_keeps = WriteKeeps::Tables;
    settings.object_relations = list;
    auto policy = compile_policy(settings);
    if (policy) policy_ = std::move(*policy);
  }
  Written(Written&&) = default;
  Written& run(const char* sql, bool executed = false) & {
    const auto facts = parser::classify(sql);
    note_written(facts, resolved(facts), executed, policy_.relations(), written_);
    return *this;
  }
  Written run(const char* sql) && {
    static_cast<Written&>(*this).run(sql);
    return std::move(*this);
  }
  bool meets(const char* sql) const {
    const auto facts = parser::classify(sql);
    return reads_written(facts, resolved(facts), written_);
  }
  const WrittenTables& tables() const { return written_; }

 private:
  Resolved resolved(const parser::StatementFacts& facts) const {
    const std::vector<std::string> path = {"public"};
    return resolve(facts, {"db", path, true, false}, policy_, catalog_);
  }
  FakeCatalog catalog_;
  Policy policy_;
  WrittenTables written_;
};

TEST(WrittenTables, WhatWritesNothing) {
  for (const char* sql : {"SELECT * FROM a", "SELECT * FROM plain_view", "SELECT reader()", "SELECT nextval('s')", "SELECT * FROM a FOR UPDATE",
                          "SELECT * FROM unlogged", "SELECT * FROM pg_class", "COPY (SELECT * FROM a) TO STDOUT", "SHOW work_mem",
                          "SET work_mem = '1MB'", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s", "LOCK a", "DECLARE c CURSOR FOR SELECT * FROM a", "FETCH c",
                          "NOTIFY x", "EXPLAIN ANALYZE SELECT * FROM a", "COPY a TO STDOUT", ""}) {
    EXPECT_TRUE(Written().run(sql).tables().none()) << sql;
  }
}

TEST(WrittenTables, WhatWritesItsTable) {
  for (const char* sql : {"INSERT INTO a VALUES (1)", "INSERT INTO A SELECT * FROM b", "UPDATE a SET x = 1", "DELETE FROM a USING b WHERE true",
                          "INSERT INTO public.a VALUES (nextval('s'), now())", "COPY a FROM STDIN", "WITH w AS (DELETE FROM a RETURNING *) SELECT * FROM w",
                          "INSERT INTO a SELECT * FROM plain_view", "SELECT 1; UPDATE a SET x = lower(y)"}) {
    const Written written = Written().run(sql);
    EXPECT_EQ(written.tables().names(), std::vector<std::string>{"a"}) << sql;
    EXPECT_FALSE(written.tables().everything()) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM a")) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM other.a")) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM b WHERE EXISTS (SELECT FROM a)")) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM plain_view")) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM parent")) << sql;
    EXPECT_TRUE(written.meets("SELECT reader()")) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM pg_class")) << sql;
    EXPECT_FALSE(written.meets("SELECT * FROM b")) << sql;
    EXPECT_FALSE(written.meets("SELECT count(*) + 1 FROM b JOIN c ON b.x = c.x")) << sql;
    EXPECT_FALSE(written.meets("SELECT * FROM referenced")) << sql;
    EXPECT_FALSE(written.meets("SELECT 1")) << sql;
  }
}

TEST(WrittenTables, WhatMayWriteAnything) {
  for (const char* sql : {"INSERT INTO parent VALUES (1)", "DELETE FROM referenced", "INSERT INTO triggered VALUES (1)", "INSERT INTO plain_view VALUES (1)",
                          "INSERT INTO nobody_knows VALUES (1)", "INSERT INTO a VALUES (writer())", "SELECT writer()", "SELECT nobody_knows()", "SELECT from_sequence()",
                          "SELECT query_to_xml('DELETE FROM a', true, true, '')", "CREATE TABLE d (x int)", "TRUNCATE a", "ALTER TABLE a ADD y int",
                          "CREATE TEMP TABLE d (x int)", "SELECT 1 AS x INTO d", "DO 'BEGIN END'", "CALL writer()", "EXECUTE p", "EXPLAIN ANALYZE DELETE FROM a", "EXPLAIN ANALYZE SELECT writer()",
                          "no SQL at all", "REFRESH MATERIALIZED VIEW a", "COMMIT PREPARED 'x'", "SELECT * FROM a; SELECT writer()"}) {
    const Written written = Written().run(sql);
    EXPECT_TRUE(written.tables().everything()) << sql;
    EXPECT_TRUE(written.meets("SELECT * FROM b")) << sql;
    EXPECT_TRUE(written.meets("SELECT 1")) << sql;
  }
}

TEST(WrittenTables, WhatIsPreparedWritesWhenItIsExecuted) {
  for (const char* sql : {"PREPARE p AS DELETE FROM a", "PREPARE p AS SELECT 1", "PREPARE p AS SELECT writer()"}) EXPECT_TRUE(Written().run(sql).tables().none()) << sql;
  Written written;
  written.run("PREPARE p AS SELECT * FROM a", true);
  EXPECT_TRUE(written.tables().none());
  written.run("PREPARE p AS DELETE FROM a", true);
  EXPECT_EQ(written.tables().names(), std::vector<std::string>{"a"});
  written.run("PREPARE p AS SELECT writer()", true);
  EXPECT_TRUE(written.tables().everything());
}

TEST(WrittenTables, WhatIsNotKnownYetMayWriteAnything) {
  FakeCatalog empty;
  EXPECT_TRUE(Written({}, empty).run("INSERT INTO a VALUES (1)").tables().everything());
}

TEST(WrittenTables, NothingIsTakenBack) {
  Written written;
  written.run("SAVEPOINT s").run("INSERT INTO a VALUES (1)").run("ROLLBACK TO s").run("INSERT INTO a VALUES (2)");
  EXPECT_EQ(written.tables().names(), std::vector<std::string>{"a"});
  EXPECT_TRUE(written.meets("SELECT * FROM a"));
}

TEST(WrittenTables, TooManyAreAll) {
  FakeCatalog catalog;
  WrittenTables written;
  const ObjectRelations none;
  for (std::size_t i = 0; i < WrittenTables::kMaxNames; ++i) written.add("t" + std::to_string(i), none);
  EXPECT_FALSE(written.everything());
  written.add("t0", none);
  EXPECT_FALSE(written.everything());
  written.add("one more", none);
  EXPECT_TRUE(written.everything());
  written.clear();
  EXPECT_TRUE(written.none());
}

TEST(ObjectRelations, DependentsCountAsWritten) {
  const Written chain = Written({"a:b", "B:public.c", "c:a"}).run("INSERT INTO a VALUES (1)");
  EXPECT_EQ(chain.tables().names(), (std::vector<std::string>{"a", "b", "c"}));
  const Written view = Written({"a:plain_view", "b:reader()"}).run("INSERT INTO b VALUES (1)");
  EXPECT_FALSE(view.meets("SELECT * FROM plain_view"));  // listed: what it reads is told
  EXPECT_TRUE(view.meets("SELECT reader()"));
  EXPECT_TRUE(view.meets("SELECT * FROM parent"));
  const Written function = Written({"WRITER():a"}).run("SELECT writer()");
  EXPECT_FALSE(function.tables().everything());
  EXPECT_TRUE(function.meets("SELECT * FROM a"));
  EXPECT_FALSE(function.meets("SELECT * FROM b"));
}

TEST(ObjectRelations, Entries) {
  struct Row {
    const char* entry;
    const char* object;
    const char* dependent;
  };
  for (const Row& row : {Row{"a:b", "a", "b"}, Row{" A : s.B ", "a", "b"}, Row{"f():b", "f()", "b"}, Row{"a:s.f()", "a", "f()"},
                         Row{"a\\:x:b", "a:x", "b"}, Row{"a\\\\:b", "a\\", "b"}, Row{"\\ a\\ :b c", " a ", "b c"}, Row{"\xC3\x84:b", "\xC3\x84", "b"}}) {
    const auto relations = ObjectRelations::compile({"", " ", row.entry});
    ASSERT_TRUE(relations.has_value()) << row.entry;
    ASSERT_NE(relations->dependents(row.object), nullptr) << row.entry;
    EXPECT_EQ(*relations->dependents(row.object), std::vector<std::string>{row.dependent}) << row.entry;
    EXPECT_TRUE(relations->is_object(row.object) && relations->is_dependent(row.dependent)) << row.entry;
    EXPECT_FALSE(relations->is_object(row.dependent) || relations->is_dependent(row.object)) << row.entry;
  }
  for (const char* entry : {"a", ":", "a:", ":b", "a:b:c", "():b", "a\\:b", "s.:b"}) {
    const auto relations = ObjectRelations::compile({"x:y", entry});
    ASSERT_FALSE(relations.has_value()) << entry;
    EXPECT_EQ(relations.error().sqlstate, "22023");
  }
}

}  // namespace
}  // namespace weir::lb
