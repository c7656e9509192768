#include "test/compare/grammar.h"

#include <utility>

namespace weir::compare {
namespace {

using Names = std::vector<std::string>;

// What a standby can answer for, most of the time.
const Names kPlainRelations = {"t1",
                               "t1",
                               "t1",
                               "t2",
                               "t2",
                               "wr",
                               "wr",
                               "part",
                               "parent",
                               "heir",
                               "mat",
                               "v_plain",
                               "v_nested",
                               "public.t1",
                               "other.t1",
                               "other.t3",
                               "ONLY parent",
                               "\"naïve\"",
                               "U&\"na\\00EFve\"",
                               "T1",
                               "\"t1\"",
                               "secured",
                               "ruled",
                               "triggered",
                               "v_user",
                               "v_updatable",
                               "part_1",
                               "ser"};
const Names kDoubtfulRelations = {
    "t3",          "pg_temp.t1",    "tmp",           "tmp",       "unlogged",   "part_mixed",
    "secured_bad", "typed",         "v_lock",        "v_next",    "v_vol",      "v_on_vol",
    "v_op",        "v_unlogged",    "v_recovery",    "v_setting", "shadow.t2",  "audit",
    "seq",         "foreign_t",     "gen",           "absent",    "scratch.s1", "scratch.s2",
    "s1",          "U&\"t\\0031\"", "\"Mixed Case\""};

const Names kSpecial = {"current_user",
                        "session_user",
                        "current_schema",
                        "current_schemas(false)",
                        "current_setting('search_path')",
                        "current_setting('work_mem')",
                        "current_setting('cmp.x', true)",
                        "pg_is_in_recovery()",
                        "current_role",
                        "current_setting('transaction_read_only')",
                        "current_setting('transaction_isolation')",
                        "current_catalog",
                        "pg_typeof(1)",
                        "'t1'::regclass::text",
                        "to_regclass('tmp')::text",
                        "'tmp'::regclass::text",
                        "to_regclass('pg_temp.t1')::text",
                        "pg_get_viewdef('v_plain'::regclass)",
                        "has_table_privilege('t2', 'select')",
                        "lastval()",
                        "currval('seq')",
                        "nextval('seq')",
                        "setval('seq', 7)",
                        "to_regtype('tmp_type')::text",
                        "pg_table_is_visible('t1'::regclass)",
                        "current_setting('in_hot_standby', true)",
                        "current_setting('cmp.leak', true)",
                        "current_setting('cmp.trigger', true)",
                        "pg_relation_is_updatable('wr', true)",
                        "(SELECT count(*) FROM pg_cursors)",
                        "pg_trigger_depth()",
                        "col_description('t1'::regclass, 1)",
                        "pg_get_functiondef('f_imm(int)'::regprocedure)",
                        "txid_current_if_assigned() IS NULL",
                        "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')",
                        "pg_try_advisory_lock(7)",
                        "pg_advisory_unlock(7)",
                        "query_to_xml('select 1', true, true, '')",
                        "set_config('cmp.x', 'by function', false)",
                        "set_config('search_path', 'other, public', true)",
                        "(SELECT count(*) FROM pg_prepared_statements WHERE from_sql)",
                        "(SELECT setting FROM pg_settings WHERE name = 'work_mem')",
                        "pg_notify('chan', 'p')",
                        "string_agg('x', ',')"};

const Names kNature = {"now()",
                       "random()",
                       "clock_timestamp()",
                       "pg_backend_pid()",
                       "gen_random_uuid()",
                       "current_timestamp",
                       "txid_current()",
                       "localtime",
                       "current_date",
                       "inet_server_port()",
                       "pg_current_xact_id()",
                       "pg_postmaster_start_time()",
                       "timeofday()"};

} // namespace

std::string plain_names() {
  std::string sql = "SELECT 1 %%= 2, f_imm(1), f_stb(1), f_plr(1), f_raise(1), f_atomic(1), "
                    "f_variadic(1, 2), f_reads_wr(), f_path(), f_own_path(), f_secdef(), "
                    "id + 3, id * 2, v || 'z', f_notice('x'), other.by_schema(), agg_good(1)";
  for (const std::string& each : kPlainRelations)
    sql += ", (SELECT 1 FROM " + each + " WHERE false)";
  return sql + " FROM t1 WHERE false";
}

bool Grammar::take_differs() {
  return std::exchange(differs_, false);
}

std::string Grammar::constant() {
  static const Names types = {"integer",  "integer",
                              "integer",  "text",
                              "text",     "numeric",
                              "date",     "boolean",
                              "jsonb",    "timestamp with time zone",
                              "interval", "double precision"};
  const std::string type =
      random_.chance(calm_ ? 85 : 40) ? pick({"integer", "text"}) : pick(types);
  if (parameters_ != nullptr && parameters_->size() < 9 && random_.chance(35)) {
    std::string value = bare_literal(random_, type);
    for (std::size_t at = value.find("''"); at != std::string::npos; at = value.find("''", at + 1))
      value.erase(at, 1);
    parameters_->push_back(random_.chance(6) ? std::nullopt : std::optional<std::string>(value));
    return "$" + std::to_string(parameters_->size()) + "::" + type;
  }
  if (type == "integer" && random_.chance(80))
    return std::to_string(random_.between(-2, 20));
  if (random_.chance(calm_ ? 2 : 10))
    return pick({"$$dollar ' quoted$$",
                 "$q$x$q$",
                 "E'esc\\n\\x41'",
                 "U&'\\0041'",
                 "B'101'",
                 "X'1F'",
                 "N'n'",
                 "'ok'::mood",
                 "'x'::dom_bad",
                 "5::positive",
                 "(-5)::positive",
                 "ROW(1,'a')::pair",
                 "'[1,2)'::span",
                 "ROW(1)::cast_from::text",
                 "'(1,x)'::pair::text",
                 "CAST('7' AS int)",
                 "int '8'",
                 "interval '1' day",
                 "NULL",
                 "true",
                 "ARRAY[1,2,3]",
                 "1e3",
                 "'t1'::regclass"});
  return literal(random_, type);
}

std::string Grammar::column() {
  if (random_.chance(calm_ ? 93 : 70))
    return pick({"id", "v", "x.id", "x.v", "id", "v", "\"v\"", "ID"});
  return pick({"id",      "id",
               "v",       "v",
               "x.id",    "x.v",
               "x",       "x.*",
               "n",       "d",
               "j",       "a",
               "b",       "f",
               "x.full",  "x.doubtful",
               "\"V\"",   "ID",
               "j->>'t'", "a[1]",
               "x.ctid",  "x.tableoid::regclass::text",
               "p",       "(p).l",
               "m",       "s",
               "who"});
}

std::string Grammar::plain_call(int depth) {
  switch (random_.below(4)) {
  case 0:
    return pick({"f_imm", "f_stb", "f_plr", "f_raise", "f_atomic", "public.f_stb", "F_IMM",
                 "\"f_imm\"", "abs", "f_variadic", "chr", "sqrt", "to_hex"}) +
           "(" + pick({"id", "3", "7", "length(v)", "id + 1", "x.id"}) + ")";
  case 1:
    return pick({"f_notice", "upper", "lower", "length", "md5", "pg_catalog.lower", "quote_ident",
                 "initcap", "reverse"}) +
           "((" + expression(depth - 1) + ")::text)";
  case 2:
    return pick({"f_reads_wr()", "f_path()", "f_own_path()", "f_secdef()", "f_variadic(1, 2, 3)",
                 "f_variadic(VARIADIC ARRAY[1, 2])", "other.by_schema()", "agg_good(1)", "pi()",
                 "current_user", "current_schema", "'t1'::regclass::text"});
  default:
    return "coalesce(" + pick({"v", "id::text", "x.v || 'c'", "NULL"}) + ", '" + pick({"a", "b"}) +
           "')";
  }
}

std::string Grammar::user_call(int depth) {
  if (random_.chance(calm_ ? 98 : 30))
    return plain_call(depth);
  static const Names taking_int = {"f_imm",        "f_imm",
                                   "f_stb",        "f_stb",
                                   "f_plr",        "f_vol",
                                   "f_write",      "f_plw",
                                   "f_lie",        "f_lie_sql",
                                   "f_lie_imm",    "f_default",
                                   "f_raise",      "f_swallows",
                                   "over_load",    "f_atomic",
                                   "f_lock",       "f_lock_lie",
                                   "public.f_stb", "F_IMM",
                                   "\"f_imm\"",    "U&\"f_\\0069mm\"",
                                   "f_variadic",   "f_out",
                                   "scratch.g",    "g",
                                   "absent_f"};
  static const Names taking_text = {
      "over_load",   "f_notice", "f_warn",          "upper",        "lower",
      "length",      "md5",      "f_leaks_setting", "shadow.lower", "pg_catalog.lower",
      "quote_ident", "initcap",  "to_regclass"};
  static const Names whole = {"f_reads_wr()",
                              "f_reads_unlogged()",
                              "f_path()",
                              "f_own_path()",
                              "f_secdef()",
                              "f_set()",
                              "f_recovery()",
                              "f_readonly()",
                              "f_raises_readonly()",
                              "f_raises_conflict()",
                              "by_schema()",
                              "other.by_schema()",
                              "shadow.by_schema()",
                              "f_variadic(1, 2, 3)",
                              "f_variadic(VARIADIC ARRAY[1, 2])",
                              "f_default(1)",
                              "f_default(1, 2)",
                              "f_default(k => 3, i => 4)",
                              "f_dynamic('select 1')",
                              "f_dynamic('select nextval(''public.seq'')')",
                              "f_temp()",
                              "f_seed()",
                              "f_leaks_path('other, public')",
                              "f_leaks_stable('other')",
                              "f_dynamic('select pg_is_in_recovery()')",
                              "f_dynamic('select count(*) from t1')",
                              "agg_good(1)",
                              "agg_bad(1)"};
  switch (random_.below(3)) {
  case 0:
    return pick(taking_int) + "(" + expression(depth - 1) + ")";
  case 1:
    return pick(taking_text) + "((" + expression(depth - 1) + ")::text)";
  default:
    return pick(whole);
  }
}

std::string Grammar::expression(int depth) {
  if (depth <= 0)
    return random_.chance(50) ? column() : constant();
  switch (random_.below(16)) {
  case 0:
  case 1:
    return column();
  case 2:
    return constant();
  case 3: {
    static const Names operators = {"+",
                                    "-",
                                    "*",
                                    "||",
                                    "=",
                                    "<",
                                    "%%=",
                                    "%%!",
                                    "%",
                                    "OPERATOR(pg_catalog.+)",
                                    "OPERATOR(shadow.+)",
                                    "->",
                                    "<>",
                                    "~",
                                    "IS DISTINCT FROM"};
    if (random_.chance(calm_ ? 85 : 40))
      return pick({"(id + 3)", "(id * 2)", "(v || 'z')", "(id %%= 1)",
                   "(x.id OPERATOR(pg_catalog.+) 1)", "(v < 'row 4')", "(id IS DISTINCT FROM 3)",
                   "(v ~ '1')"});
    return "(" + expression(depth - 1) + " " + pick(operators) + " " + expression(depth - 1) + ")";
  }
  case 4:
    return "CASE WHEN " + condition(depth - 1) + " THEN (" + expression(depth - 1) +
           ")::text ELSE (" + expression(depth - 1) + ")::text END";
  case 5:
    return "(" + expression(depth - 1) + ")::" +
           pick(random_.chance(60) ? Names{"text", "varchar"}
                                   : Names{"text", "int", "numeric", "name", "positive", "dom_bad",
                                           "regclass", "bool", "pg_catalog.int4", "mood"});
  case 6:
    return "(SELECT " + expression(depth - 1) + " FROM " + relation() +
           " y WHERE y.id = " + std::to_string(random_.below(9)) + ")";
  case 7:
    return "coalesce((" + expression(depth - 1) + ")::text, (" + expression(depth - 1) + ")::text)";
  case 8:
    // Beside plain columns most of these are errors.
    if (random_.chance(calm_ ? 85 : 50))
      return pick({"row_number() OVER (ORDER BY id)", "lag(id) OVER (ORDER BY id)",
                   "agg_good(id) OVER (ORDER BY id)", "count(*) OVER ()"});
    return pick({"count(*)", "sum(id)", "max(v)", "agg_good(id)", "agg_bad(id)",
                 "array_agg(id ORDER BY id)", "count(DISTINCT v)", "bool_and(b)",
                 "row_number() OVER (ORDER BY id)", "lag(id) OVER (ORDER BY id)",
                 "agg_good(id) OVER (ORDER BY id)", "sum(id) FILTER (WHERE id > 2)",
                 "percentile_cont(0.5) WITHIN GROUP (ORDER BY id)", "GROUPING(id)"});
  case 9:
  case 10:
  case 11:
    return user_call(depth);
  case 12:
    if (random_.chance(calm_ ? 93 : 10))
      return plain_call(depth);
    if (random_.chance(25)) {
      differs_ = true;
      return pick(kNature);
    }
    return pick(kSpecial);
  case 13:
    return "EXISTS (SELECT FROM " + relation() + " z WHERE " + condition(depth - 1) + ")";
  case 14: {
    if (random_.chance(calm_ ? 80 : 30))
      return column();
    const BuiltIn& function =
        built_ins_.at(static_cast<std::size_t>(random_.below(static_cast<int>(built_ins_.size()))));
    differs_ = differs_ || function.differs;
    return call(random_, function);
  }
  default:
    return "ARRAY(SELECT " + expression(depth - 1) + ")";
  }
}

std::string Grammar::condition(int depth) {
  switch (random_.below(9)) {
  case 0:
    return random_.chance(80) ? "id = " + std::to_string(random_.below(9)) : "id = " + constant();
  case 1:
    return "id < " + std::to_string(random_.below(12));
  case 2:
    return "v LIKE 'r%'";
  case 3:
    return "id IN (SELECT id FROM " + relation() + ")";
  case 4:
    return depth > 0 ? "(" + expression(depth - 1) + ") IS NOT NULL" : "true";
  case 5:
    return depth > 0 ? "(" + condition(depth - 1) + " AND " + condition(depth - 1) + ")" : "id > 1";
  case 6:
    return "id %%= 1";
  case 7:
    return depth > 0 ? "NOT " + condition(depth - 1) : "false";
  default:
    return "id BETWEEN 2 AND 7";
  }
}

std::string Grammar::relation() {
  return pick(random_.chance(calm_ ? 99 : 55) ? kPlainRelations : kDoubtfulRelations);
}

std::string Grammar::from() {
  switch (random_.below(14)) {
  case 0:
    return "(SELECT id, v FROM " + relation() +
           pick({"", " FOR UPDATE", " WHERE id > 2", " ORDER BY 1, 2 LIMIT 3"}) + ") x";
  case 1:
    return relation() + " x JOIN " + relation() + " y USING (id)";
  case 2:
    return relation() + " x LEFT JOIN LATERAL (SELECT " + expression(1) + " AS l) q ON true";
  case 3:
    return pick({"f_set_of(5)", "f_table(4)", "generate_series(1, 4)",
                 "generate_series(1, f_plw(2))", "f_out(3)", "unnest(ARRAY[1,2])", "f_default(2)",
                 "ROWS FROM (f_table(3), generate_series(1, 2))", "jsonb_each('{\"a\":1}')"}) +
           " x" + pick({"", "(id)", "(id, v)"});
  case 4:
    return "(VALUES (1, 'a'), (2, 'b')) x(id, v)";
  case 5:
    return relation() + " x TABLESAMPLE SYSTEM (100)";
  case 6:
    return relation() + " x, " + relation() + " w";
  case 7:
    return relation() + " AS x (id, v)";
  case 8:
    return calm_ ? "(SELECT id, v FROM " + relation() + ") x" : relation() + " x";
  default:
    return relation() + " x";
  }
}

std::string Grammar::core() {
  if (random_.chance(12)) {
    return "SELECT " +
           pick({"count(*), max(v)", "agg_good(id), min(id)", "array_agg(id ORDER BY id)",
                 "sum(id) FILTER (WHERE id > 2)", "string_agg(v, ',' ORDER BY v)",
                 "id % 3, count(*)", "count(DISTINCT v)"}) +
           " FROM " + relation() + " x WHERE " + condition(1) +
           (random_.chance(30) ? " GROUP BY id" : "");
  }
  std::string sql = "SELECT " + std::string(random_.chance(8) ? "DISTINCT " : "");
  if (random_.chance(8))
    return sql + expression(2);
  for (int i = random_.below(3); i >= 0; --i)
    sql += expression(random_.below(3)) + (i > 0 ? ", " : "");
  sql += " FROM " + from();
  if (random_.chance(50))
    sql += " WHERE " + condition(2);
  if (random_.chance(calm_ ? 3 : 10))
    sql += " GROUP BY " + pick({"id", "id, v", "1", "ROLLUP (id)", "x.id, x.v"});
  if (random_.chance(calm_ ? 1 : 4))
    sql += " HAVING count(*) > 0";
  return sql;
}

std::string Grammar::ordered(const std::string& sql) {
  // Without a total order LIMIT may give other rows on another node, rightly.
  if (random_.chance(20))
    return "SELECT * FROM (" + sql + ") o ORDER BY o::text LIMIT " +
           std::to_string(random_.below(5));
  return random_.chance(20) ? sql + " ORDER BY 1" : sql;
}

std::string Grammar::with_read() {
  const std::string write =
      pick({"INSERT INTO wr VALUES (50, 'cte') ON CONFLICT DO NOTHING RETURNING id, v",
            "UPDATE wr SET v = 'cte' WHERE id = 3 RETURNING id, v",
            "DELETE FROM wr WHERE id = 4 RETURNING id, v"});
  switch (random_.below(5)) {
  case 0:
    return "WITH c AS (" + core() + ") SELECT count(*) FROM c";
  case 1:
    return "WITH t1 AS (SELECT 1 AS id, 'cte'::text AS v) SELECT " + expression(1) + " FROM t1 x";
  case 2:
    return "WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r WHERE id < 5) "
           "SELECT " +
           expression(1) + " FROM r x";
  case 3:
    return calm_ ? "WITH c AS (SELECT id FROM t1) SELECT count(*) FROM c"
                 : "WITH c AS (" + write + ") SELECT * FROM c";
  default:
    return "WITH c AS MATERIALIZED (SELECT id, v FROM " + relation() +
           "), e AS (SELECT * FROM c) SELECT " + expression(1) + " FROM e x";
  }
}

std::string Grammar::read() {
  // From 8 on: what is left; 6 and 7 lock or make tables.
  const int kind = random_.below(20);
  switch (calm_ && (kind == 7 || (kind == 6 && random_.chance(85))) ? 19 : kind) {
  case 0:
    return "TABLE " + relation();
  case 1:
    return "VALUES (" + constant() + "), (" + (random_.chance(50) ? "NULL" : constant()) + ")";
  case 2:
  case 3:
    return with_read();
  case 4:
  case 5:
    return ordered("SELECT id, v FROM " + relation() + " " +
                   pick({"UNION", "UNION ALL", "EXCEPT", "INTERSECT"}) + " SELECT id, v FROM " +
                   relation());
  case 6:
    return "SELECT id, v FROM " + relation() + " x WHERE " + condition(1) +
           pick({" FOR UPDATE", " FOR SHARE", " FOR KEY SHARE NOWAIT",
                 " FOR NO KEY UPDATE SKIP LOCKED"});
  case 7:
    return "SELECT id, v INTO " +
           pick({"TEMP tmp", "scratch.s2", "TEMPORARY TABLE tmp2", "pg_temp.t1"}) + " FROM " +
           relation();
  case 8:
    return "SELECT " + (calm_ ? plain_call(2) + " FROM t1 x" : expression(3));
  default:
    return ordered(core());
  }
}

std::string Grammar::function_read() {
  const BuiltIn& function =
      built_ins_.at(static_cast<std::size_t>(random_.below(static_cast<int>(built_ins_.size()))));
  differs_ = differs_ || function.differs;
  const std::string text = call(random_, function);
  if (function.kind != 'f')
    return "SELECT " + text + " FROM t1";
  if (function.set && random_.chance(50))
    return "SELECT * FROM " + text + pick({"", " AS x", " WITH ORDINALITY"});
  return "SELECT " + text + (random_.chance(30) ? " FROM t2 WHERE id < 3" : "");
}

std::string Grammar::write() {
  const std::string id = std::to_string(random_.between(1, 60));
  switch (random_.below(14)) {
  case 0:
  case 1:
    return "INSERT INTO wr VALUES (" + id + ", 'ins', 1)" +
           pick({"", " ON CONFLICT DO NOTHING", " ON CONFLICT (id) DO UPDATE SET v = 'up'",
                 " RETURNING *"});
  case 2:
    return "UPDATE wr SET v = 'upd' || id, x = " + id + " WHERE id < 4" +
           pick({"", " RETURNING id, v"});
  case 3:
    return "DELETE FROM wr WHERE id = " + std::to_string(random_.between(1, 9));
  case 4:
    return "INSERT INTO ser(v) SELECT v FROM " + relation() + " ORDER BY 1 LIMIT 2 RETURNING v";
  case 5:
    return "INSERT INTO triggered VALUES (" + id + ", 'trg')";
  case 6:
    return "INSERT INTO ruled VALUES (" + id + ", 'rul')";
  case 7:
    return "INSERT INTO gen(v) VALUES ('g') RETURNING id, w";
  case 8:
    return "MERGE INTO wr USING t1 s ON wr.id = s.id WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT "
           "MATCHED THEN INSERT VALUES (s.id, 'mi', 0)";
  case 9:
    return "UPDATE v_updatable SET v = 'view' WHERE id = 2";
  case 10:
    return "INSERT INTO tmp VALUES (" + id + ", 'tmp')";
  case 11:
    return "UPDATE tmp SET v = 'tmp u'";
  case 12:
    return "TRUNCATE " + pick({"ser", "audit", "tmp", "scratch.s1"});
  default:
    return "WITH c AS (DELETE FROM wr WHERE id > 6 RETURNING *) INSERT INTO audit SELECT id, v "
           "FROM c RETURNING *";
  }
}

std::string Grammar::ddl() {
  return pick(
      {"CREATE TABLE scratch.s1 AS SELECT id, v FROM t1",
       "CREATE TABLE scratch.s1 (id int, v text DEFAULT 'd')",
       "CREATE VIEW scratch.s2 AS SELECT id, v FROM t1",
       "CREATE OR REPLACE VIEW scratch.s2 AS SELECT id, nextval('seq')::text AS v FROM t1",
       "DROP TABLE IF EXISTS scratch.s1",
       "DROP VIEW IF EXISTS scratch.s2 CASCADE",
       "ALTER TABLE scratch.s1 ADD COLUMN extra int DEFAULT 5",
       "ALTER TABLE scratch.s1 DROP COLUMN v",
       "ALTER TABLE scratch.s1 RENAME TO s3",
       "ALTER TABLE scratch.s3 RENAME TO s1",
       "CREATE OR REPLACE FUNCTION scratch.g(i int) RETURNS int LANGUAGE sql STABLE AS 'SELECT i'",
       "CREATE OR REPLACE FUNCTION scratch.g(i int) RETURNS int LANGUAGE plpgsql VOLATILE AS "
       "$$BEGIN INSERT INTO public.audit VALUES (i, 'g'); RETURN i + 100; END$$",
       "DROP FUNCTION IF EXISTS scratch.g(int)",
       "CREATE UNLOGGED TABLE scratch.s1 (id int, v text)",
       "ALTER TABLE scratch.s1 SET UNLOGGED",
       "ALTER TABLE scratch.s1 SET LOGGED",
       "CREATE FUNCTION scratch.upper(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO "
       "public.audit VALUES (3, $1); RETURN 'scratch'; END$$",
       "CREATE TABLE scratch.t1 (id int, v text)",
       "INSERT INTO scratch.s1 VALUES (77, 'scratch')",
       "CREATE RULE \"_RETURN\" AS ON SELECT TO scratch.s1 DO INSTEAD SELECT 1",
       "ALTER TABLE scratch.s1 ENABLE ROW LEVEL SECURITY",
       "CREATE POLICY p ON scratch.s1 USING (f_plw(id) > 0)",
       "ALTER TABLE scratch.s1 FORCE ROW LEVEL SECURITY",
       "CREATE TABLE scratch.s1 PARTITION OF part FOR VALUES FROM (2000) TO (3000)",
       "ALTER FUNCTION scratch.g(int) STABLE",
       "ALTER FUNCTION scratch.g(int) VOLATILE",
       "CREATE TYPE scratch.ty AS ENUM ('x')",
       "COMMENT ON TABLE scratch.s1 IS 'told'",
       "CREATE OPERATOR scratch.- (LEFTARG = int, RIGHTARG = int, FUNCTION = shadow.count_it)",
       "CREATE INDEX ON scratch.s1 (id)",
       "ALTER SCHEMA scratch RENAME TO scratch",
       "REINDEX TABLE t2",
       "REFRESH MATERIALIZED VIEW mat"});
}

std::string Grammar::decorated(const std::string& sql) {
  switch (random_.below(24)) {
  case 0:
    return "/* a /* nested */ comment */ " + sql;
  case 1:
    return sql + " -- behind";
  case 2:
    return "-- in front\n" + sql;
  // Hints for a standby are left out: what they ask for may rightly differ.
  case 4:
    return "/*NO LOAD BALANCE*/ " + sql;
  case 5:
    return "  \n\t" + sql + " ; ";
  case 6:
    return sql + ";;";
  default:
    return sql;
  }
}

} // namespace weir::compare
