#include "test/compare/script.h"

#include <array>
#include <utility>

namespace weir::compare {
namespace {

using Names = std::vector<std::string>;

const Names kModes = {"",
                      "",
                      "",
                      " READ ONLY",
                      " READ WRITE",
                      " ISOLATION LEVEL READ COMMITTED",
                      " ISOLATION LEVEL REPEATABLE READ",
                      " ISOLATION LEVEL REPEATABLE READ READ ONLY",
                      " ISOLATION LEVEL SERIALIZABLE",
                      " ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE",
                      " ISOLATION LEVEL READ UNCOMMITTED"};

} // namespace

std::string ScriptMaker::transaction() {
  if (!in_block_ && random_.chance(80)) {
    if (random_.chance(5))
      return "SET SESSION CHARACTERISTICS AS TRANSACTION" +
             pick({" READ ONLY", " READ WRITE", " ISOLATION LEVEL REPEATABLE READ",
                   " ISOLATION LEVEL SERIALIZABLE"});
    return pick({"BEGIN", "BEGIN", "START TRANSACTION", "BEGIN TRANSACTION", "begin work"}) +
           pick(kModes);
  }
  switch (random_.below(12)) {
  case 0:
  case 1:
    return "SAVEPOINT " + pick({"s1", "s2"});
  case 2:
  case 3:
    return "ROLLBACK TO " + pick({"s1", "SAVEPOINT s2"});
  case 4:
    return "RELEASE " + pick({"s1", "s2"});
  case 5:
    return "SET TRANSACTION" + pick({" READ ONLY", " ISOLATION LEVEL REPEATABLE READ",
                                     " ISOLATION LEVEL SERIALIZABLE", " READ WRITE"});
  case 6:
    return "SET LOCAL " + pick({"search_path = other, public", "work_mem = '2MB'",
                                "transaction_read_only = on", "cmp.x = 'local'", "ROLE cmp_other"});
  case 7:
    return pick({"COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "BEGIN", "PREPARE TRANSACTION 'never'"});
  default:
    return pick({"COMMIT", "COMMIT", "END", "ROLLBACK", "ABORT"});
  }
}

std::string ScriptMaker::session() {
  return pick({"SET search_path = other, public",
               "SET search_path TO shadow, public",
               "SET search_path = scratch, public",
               "SET search_path TO public, pg_catalog, shadow",
               "SET search_path = ''",
               "SET search_path TO DEFAULT",
               "RESET search_path",
               "RESET ALL",
               "SET work_mem = '5MB'",
               "SET ROLE cmp_other",
               "RESET ROLE",
               "SET ROLE NONE",
               "SET SESSION AUTHORIZATION cmp_other",
               "SET SESSION AUTHORIZATION DEFAULT",
               "RESET SESSION AUTHORIZATION",
               "SET cmp.x = 'set'",
               "SET DateStyle = 'SQL, DMY'",
               "SET IntervalStyle = 'iso_8601'",
               "SET TimeZone = 'Europe/Paris'",
               "SET bytea_output = 'escape'",
               "SET extra_float_digits = 0",
               "SET standard_conforming_strings = off",
               "SET standard_conforming_strings = on",
               "SET client_encoding = 'LATIN1'",
               "SET client_encoding = 'SJIS'",
               "SET NAMES 'UTF8'",
               "SET application_name = 'cmp app'",
               "SET default_transaction_read_only = on",
               "SET default_transaction_read_only = off",
               "SET default_transaction_isolation = 'repeatable read'",
               "SET default_transaction_isolation = 'serializable'",
               "RESET default_transaction_isolation",
               "SELECT set_config('default_transaction_isolation', 'serializable', false)",
               "SELECT set_config('search_path', 'other, public', false)",
               "SELECT set_config('role', 'cmp_other', false)",
               "SELECT set_config('default_transaction_read_only', 'on', false)",
               "DISCARD ALL",
               "DISCARD TEMP",
               "DISCARD PLANS",
               "DISCARD SEQUENCES",
               "SET row_security = off",
               "SET row_security = on",
               "SHOW search_path",
               "SHOW transaction_isolation",
               "SHOW transaction_read_only",
               "SHOW in_hot_standby",
               "SHOW work_mem",
               "SHOW role",
               "SHOW session_authorization",
               "SHOW cmp.x",
               "SHOW client_encoding",
               "SHOW TimeZone",
               "SHOW default_transaction_read_only",
               "SHOW is_superuser",
               "SHOW absent_one",
               "SET xmloption = document",
               "SET lc_messages = 'C'",
               "SET statement_timeout = '30s'",
               "SET plan_cache_mode = force_generic_plan",
               "SET SESSION search_path = \"$user\", public",
               "SET enable_seqscan = off",
               "SET absent = 1",
               "SET transform_null_equals = on",
               "SET quote_all_identifiers = on",
               "SET array_nulls = off",
               "SET xmlbinary = hex",
               "SET check_function_bodies = off",
               "SET TIME ZONE 'UTC'",
               "SET TIME ZONE LOCAL",
               "SET LOCAL work_mem = '7MB'",
               "SET temp_tablespaces = ''",
               "SET default_tablespace = ''"});
}

std::string ScriptMaker::temp() {
  return pick({"CREATE TEMP TABLE tmp (id int, v text)",
               "CREATE TEMP TABLE t1 (id int, v text)",
               "CREATE TEMPORARY TABLE t2 AS SELECT 5 AS id, 'tmp'::text AS v",
               "CREATE TABLE pg_temp.wr (id int, v text)",
               "CREATE TEMP TABLE tmp ON COMMIT DROP AS SELECT 1 AS id, 'd'::text AS v",
               "CREATE TEMP TABLE tmp (id int, v text) ON COMMIT DELETE ROWS",
               "CREATE TEMP VIEW t1 AS SELECT 9 AS id, 'view'::text AS v",
               "CREATE TEMP SEQUENCE seq",
               "SELECT nextval('seq')",
               "CREATE TEMP TABLE th () INHERITS (parent)",
               "INSERT INTO th VALUES (99, 'temp heir')",
               "CREATE FUNCTION pg_temp.tf(i int) RETURNS int LANGUAGE sql AS 'SELECT i'",
               "SELECT pg_temp.tf(3)",
               "CREATE TYPE pg_temp.tmp_type AS (a int)",
               "SELECT ROW(1)::tmp_type",
               "CREATE DOMAIN pg_temp.positive AS int",
               "DROP TABLE tmp",
               "DROP TABLE IF EXISTS pg_temp.t1",
               "ALTER TABLE tmp RENAME TO t1",
               "INSERT INTO tmp VALUES (1, 'one'), (2, 'two')",
               "INSERT INTO pg_temp.t1 VALUES (31, 'temp t1')",
               "CREATE TEMP VIEW tv AS SELECT * FROM tmp",
               "SELECT * FROM tv",
               "DROP VIEW IF EXISTS tv",
               "DISCARD TEMP",
               "SELECT 'tmp'::regclass",
               "SELECT to_regclass('pg_temp.t1') IS NULL",
               "SELECT * FROM tmp",
               "SELECT id, v FROM t1 ORDER BY 1",
               "SELECT count(*) FROM parent",
               "TABLE pg_temp.wr",
               "SELECT count(*) FROM wr",
               "SET search_path = pg_temp, public",
               "SET search_path = public, pg_temp",
               "CREATE TABLE tmp3 (id int)",
               "SELECT f_temp()",
               "DO $$BEGIN CREATE TEMP TABLE IF NOT EXISTS t2 (id int, v text); END$$",
               "COPY tmp TO STDOUT",
               "EXPLAIN (COSTS OFF) SELECT * FROM tmp",
               "CREATE TEMP TABLE part_9 PARTITION OF part FOR VALUES FROM (5000) TO (6000)",
               "SELECT v FROM t2 ORDER BY 1"});
}

std::string ScriptMaker::cursor() {
  const std::string name = pick({"c1", "c2"});
  switch (random_.below(9)) {
  case 0:
  case 1:
  case 2:
    return "DECLARE " + name +
           pick({" CURSOR FOR ", " SCROLL CURSOR FOR ", " CURSOR WITH HOLD FOR ",
                 " INSENSITIVE NO SCROLL CURSOR FOR ", " BINARY CURSOR FOR "}) +
           pick({"SELECT id, v FROM t1 ORDER BY 1", "SELECT id, v FROM wr ORDER BY 1",
                 "SELECT f_plw(id) FROM t1 ORDER BY id", "SELECT id FROM tmp", "SELECT 1"});
  case 3:
  case 4:
    return "FETCH " +
           pick({"2 FROM ", "ALL FROM ", "BACKWARD 1 FROM ", "ABSOLUTE 3 FROM ", "0 FROM "}) + name;
  case 5:
    return "MOVE 1 IN " + name;
  case 6:
    return "UPDATE wr SET v = 'at' WHERE CURRENT OF " + name;
  case 7:
    return "SELECT name, statement, is_holdable FROM pg_cursors WHERE name <> ''";
  default:
    return pick({"CLOSE c1", "CLOSE c2", "CLOSE ALL"});
  }
}

std::string ScriptMaker::prepared() {
  const std::string name = pick({"p1", "p2", "\"P 1\""});
  switch (random_.below(8)) {
  case 0:
  case 1:
    return "PREPARE " + name + " AS " +
           (random_.chance(85) || writes_ == 0 ? grammar_.read() : grammar_.write());
  case 2:
    return "PREPARE " + name + "(int, text) AS " +
           pick({"SELECT id, v FROM t1 WHERE id = $1 OR v = $2", "SELECT f_stb($1), $2",
                 "SELECT f_plw($1), $2", "INSERT INTO wr VALUES ($1 + 100, $2)",
                 "SELECT over_load($1)", "SELECT over_load($2)"});
  case 3:
  case 4:
  case 5:
    return "EXECUTE " + name +
           pick({"", "(1, 'a')", "(2, 'row 3')", "(f_plw(3), 'x')", "(1 + 1, lower('X'))",
                 "(nextval('seq')::int, '')"});
  case 6:
    return "EXPLAIN (COSTS OFF) EXECUTE " + name + pick({"", "(1, 'a')"});
  default:
    return pick(
        {"DEALLOCATE p1", "DEALLOCATE PREPARE p2", "DEALLOCATE ALL",
         "CREATE TEMP TABLE tmp AS EXECUTE p1",
         "SELECT name, statement, parameter_types FROM pg_prepared_statements WHERE from_sql"});
  }
}

std::string ScriptMaker::opaque() {
  return pick({"DO $$BEGIN PERFORM 1; END$$",
               "DO $$BEGIN INSERT INTO public.audit VALUES (1, 'do'); END$$",
               "DO $$BEGIN PERFORM set_config('search_path', 'other, public', false); END$$",
               "DO $$BEGIN RAISE NOTICE 'do %', current_setting('search_path'); END$$",
               "DO $$BEGIN RAISE EXCEPTION 'done'; END$$",
               "DO LANGUAGE plpgsql 'BEGIN SET ROLE cmp_other; END'",
               "CALL p_write(1)",
               "CALL p_commit(2)",
               "CALL p_read(3)",
               "CALL p_sets('other')",
               "CALL absent()",
               "DO $$BEGIN SET default_transaction_read_only = on; END$$",
               "DO $$BEGIN EXECUTE 'SET work_mem = ''9MB'''; END$$",
               "SELECT f_leaks_setting('z')",
               "SELECT f_leaks_path('shadow, public')",
               "LISTEN chan",
               "LISTEN \"Other chan\"",
               "NOTIFY chan, 'payload'",
               "UNLISTEN chan",
               "UNLISTEN *",
               "LOCK TABLE t1 IN ACCESS SHARE MODE",
               "LOCK TABLE wr",
               "VACUUM t2",
               "ANALYZE t1",
               "SELECT pg_advisory_lock(7)",
               "SELECT pg_advisory_unlock_all()",
               "LOAD 'plpgsql'",
               "CHECKPOINT",
               "SECURITY LABEL ON TABLE t1 IS 'x'",
               "SELECT setseed(0.5)"});
}

std::string ScriptMaker::explain() {
  const std::string sql = random_.chance(85) || writes_ == 0 ? grammar_.read() : grammar_.write();
  return pick({"EXPLAIN (COSTS OFF) ", "EXPLAIN (COSTS OFF, VERBOSE) ",
               "EXPLAIN (COSTS OFF, FORMAT JSON) ",
               "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ",
               "EXPLAIN (COSTS OFF, ANALYZE false) "}) +
         sql;
}

std::string ScriptMaker::copy() {
  switch (random_.below(writes_ == 0 ? 4 : 6)) {
  case 0:
  case 1:
    return "COPY " + grammar_.relation() + pick({"", " (id, v)", " (id)"}) + " TO STDOUT" +
           pick({"", " WITH (FORMAT csv, HEADER)", " (FORMAT binary)", " CSV"});
  case 2:
  case 3:
    return "COPY (" + grammar_.read() + ") TO STDOUT" + pick({"", " CSV"});
  case 4:
    return "COPY " + pick({"wr (id, v)", "tmp", "triggered", "audit", "ruled"}) + " FROM STDIN";
  default:
    return pick({"COPY (INSERT INTO wr VALUES (70, 'c') RETURNING *) TO STDOUT",
                 "COPY t1 TO '/nowhere/file'", "COPY (SELECT f_plw(1)) TO STDOUT",
                 "COPY wr FROM PROGRAM 'false'"});
  }
}

std::string ScriptMaker::several() {
  std::string sql;
  const int count = random_.between(2, 4);
  for (int i = 0; i < count; ++i) {
    switch (random_.below(7)) {
    case 0:
      sql += blocks_ > 0 ? transaction() : grammar_.read();
      break;
    case 1:
      sql += session();
      break;
    case 2:
      sql += writes_ > 0 ? grammar_.write() : grammar_.read();
      break;
    case 3:
      sql += prepared();
      break;
    default:
      sql += grammar_.read();
    }
    sql += i + 1 < count ? "; " : "";
  }
  return sql;
}

std::string ScriptMaker::statement() {
  const std::array<std::pair<int, std::string (ScriptMaker::*)()>, 8> own = {
      {{blocks_, &ScriptMaker::transaction},
       {session_, &ScriptMaker::session},
       {odd_, &ScriptMaker::temp},
       {3, &ScriptMaker::cursor},
       {5, &ScriptMaker::prepared},
       {odd_, &ScriptMaker::opaque},
       {5, &ScriptMaker::explain},
       {5, &ScriptMaker::copy}}};
  int total = reads_ + functions_ + writes_ + odd_ / 2;
  for (const auto& each : own)
    total += each.first;
  int drawn = random_.below(total);
  for (const auto& [weight, make] : own) {
    if (drawn < weight)
      return (this->*make)();
    drawn -= weight;
  }
  if (drawn < reads_)
    return grammar_.decorated(grammar_.read());
  if (drawn < reads_ + functions_)
    return grammar_.function_read();
  return drawn < reads_ + functions_ + writes_ ? grammar_.write() : grammar_.ddl();
}

Step ScriptMaker::extended(Style style) {
  Step step;
  step.style = style;
  const int count = style == Style::Pipeline ? random_.between(1, 4) : 1;
  for (int i = 0; i < count; ++i) {
    Statement one;
    if (random_.chance(55)) {
      grammar_.parameters(&one.parameters);
      one.sql = random_.chance(75) ? grammar_.read() : grammar_.function_read();
      grammar_.parameters(nullptr);
    } else {
      one.sql = statement();
    }
    // libpq cannot copy in a pipeline.
    while (style == Style::Pipeline && one.sql.find("COPY") != std::string::npos)
      one = {grammar_.read(), {}};
    step.statements.push_back(std::move(one));
  }
  return step;
}

Step ScriptMaker::step(char state) {
  in_block_ = state != 'I';
  grammar_.take_differs();
  Step step;
  if (state == 'E' && random_.chance(75)) {
    step.statements.push_back(
        {pick({"ROLLBACK", "ROLLBACK", "COMMIT", "ROLLBACK TO s1", "ROLLBACK TO s2", "ABORT"}),
         {}});
  } else if (random_.chance(40)) {
    step = extended(random_.chance(35)   ? Style::Unnamed
                    : random_.chance(50) ? Style::Named
                                         : Style::Pipeline);
  } else {
    step.statements.push_back({random_.chance(8) ? several() : statement(), {}});
  }
  step.shape_only = grammar_.take_differs();
  return step;
}

std::string ScriptMaker::begin(bool odd, int& steps) {
  const bool calm = !odd;
  grammar_.calm(calm);
  reads_ = random_.between(20, 60);
  functions_ = random_.chance(30) ? 60 : 12;
  writes_ = random_.chance(calm ? 70 : 40) ? 0 : 8;
  blocks_ = random_.chance(30) ? 0 : 14;
  session_ = random_.chance(40) ? 2 : 12;
  odd_ = odd ? 5 : 0;
  steps = random_.between(6, 30);
  return random_.chance(8) ? "cmp_other" : "app";
}

} // namespace weir::compare
