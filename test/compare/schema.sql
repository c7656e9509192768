-- What both databases hold at the start of every script. Run as the role app in an empty database; the superuser's part
-- (privileges of the second role) is in world.cc. Functions that write do so into "audit" or draw from "seq".
CREATE SCHEMA other;
CREATE SCHEMA scratch;
CREATE SCHEMA shadow;
CREATE TABLE t1 (id int PRIMARY KEY, v text, n numeric(10, 2), d date, j jsonb, a int[], b bool) WITH (autovacuum_enabled = false);
CREATE TABLE t2 (id int, v text, f float8, at timestamptz) WITH (autovacuum_enabled = false);
CREATE INDEX ON t2 (id);
CREATE TABLE wr (id int PRIMARY KEY, v text DEFAULT 'new', x int) WITH (autovacuum_enabled = false);
CREATE TABLE audit (n bigint, what text) WITH (autovacuum_enabled = false);
CREATE SEQUENCE seq;
CREATE TABLE ser (id serial, v text) WITH (autovacuum_enabled = false);
CREATE TABLE part (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM (10) TO (1000);
CREATE TABLE parent (id int, v text);
CREATE TABLE heir (more text) INHERITS (parent);
CREATE UNLOGGED TABLE unlogged (id int, v text);
CREATE TABLE part_mixed (id int, v text) PARTITION BY RANGE (id);
CREATE UNLOGGED TABLE part_mixed_1 PARTITION OF part_mixed FOR VALUES FROM (0) TO (1000);
CREATE TABLE "Mixed Case" (id int, "V" text);
CREATE TABLE "naïve" (id int, v text);
CREATE TABLE other.t1 (id int PRIMARY KEY, v text, n numeric(10, 2), d date, j jsonb, a int[], b bool);
CREATE TABLE other.t3 (id int, v text);
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (l int, r text);
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE TYPE span AS RANGE (SUBTYPE = float8);
CREATE TABLE typed (id int, m mood, p pair, s span);

INSERT INTO t1 SELECT i, 'row ' || i, i * 1.25, date '2024-01-01' + i, jsonb_build_object('k', i, 't', 'x' || i), ARRAY[i, i + 1], i % 2 = 0
  FROM generate_series(1, 12) i;
INSERT INTO t2 SELECT i % 9, chr(96 + i), i / 7.0, timestamptz '2024-02-01 12:00+00' + i * interval '1 hour' FROM generate_series(1, 15) i;
INSERT INTO wr SELECT i, 'w' || i, i * 10 FROM generate_series(1, 8) i;
INSERT INTO part SELECT i, 'part ' || i FROM generate_series(1, 20) i;
INSERT INTO parent SELECT i, 'parent' FROM generate_series(1, 3) i;
INSERT INTO heir SELECT i, 'heir', 'more' FROM generate_series(4, 6) i;
INSERT INTO unlogged SELECT i, 'unlogged' FROM generate_series(1, 3) i;
INSERT INTO part_mixed SELECT i, 'mixed' FROM generate_series(1, 3) i;
INSERT INTO "Mixed Case" VALUES (1, 'One');
INSERT INTO "naïve" VALUES (1, 'ö');
INSERT INTO other.t1 SELECT i, 'other ' || i, i, date '2025-01-01', '{}', '{}', true FROM generate_series(1, 5) i;
INSERT INTO other.t3 VALUES (1, 'three');
INSERT INTO typed VALUES (1, 'ok', ROW(1, 'x'), '[1,2)'), (2, 'sad', NULL, NULL);
CREATE MATERIALIZED VIEW mat AS SELECT id, v FROM t1 WHERE id < 6;

-- Functions: honest, lying, writing, of every language and option.
CREATE FUNCTION f_imm(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT i + 1';
CREATE FUNCTION f_stb(i int) RETURNS text LANGUAGE sql STABLE AS 'SELECT v FROM public.t1 WHERE id = i';
CREATE FUNCTION f_plr(i int) RETURNS text LANGUAGE plpgsql STABLE AS
  $$DECLARE r text; BEGIN SELECT v INTO r FROM public.t1 WHERE id = i; RETURN upper(r); END$$;
CREATE FUNCTION f_vol(i int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT i * 2';
CREATE FUNCTION f_write(i int) RETURNS int LANGUAGE sql VOLATILE AS
  $$INSERT INTO public.audit VALUES (i, 'f_write') RETURNING n::int$$;
CREATE FUNCTION f_plw(i int) RETURNS int LANGUAGE plpgsql VOLATILE AS
  $$BEGIN INSERT INTO public.audit VALUES (i, 'f_plw'); RETURN i; END$$;
CREATE FUNCTION f_lie(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$BEGIN RETURN public.f_plw(i); END$$;
CREATE FUNCTION f_lie_sql(i int) RETURNS int LANGUAGE sql STABLE AS 'SELECT public.f_write(i)';
CREATE FUNCTION f_lie_imm(i int) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN nextval('public.seq') * 0 + i; END$$;
CREATE FUNCTION f_dynamic(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$DECLARE r text; BEGIN EXECUTE t INTO r; RETURN r; END$$;
CREATE FUNCTION f_reads_wr() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) + sum(x) FROM public.wr';
CREATE FUNCTION f_reads_unlogged() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM public.unlogged';
CREATE FUNCTION f_path() RETURNS text LANGUAGE sql STABLE AS 'SELECT max(v) FROM t1';
CREATE FUNCTION f_own_path() RETURNS text LANGUAGE sql STABLE SET search_path = other, public AS 'SELECT max(v) FROM t1';
CREATE FUNCTION f_secdef() RETURNS text LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT current_user::text || session_user';
CREATE FUNCTION f_set() RETURNS text LANGUAGE plpgsql STABLE SET work_mem = '3MB' AS $$BEGIN RETURN current_setting('work_mem'); END$$;
CREATE FUNCTION f_leaks_setting(t text) RETURNS text LANGUAGE plpgsql VOLATILE AS
  $$BEGIN RETURN set_config('cmp.leak', t, false); END$$;
CREATE FUNCTION f_leaks_path(t text) RETURNS text LANGUAGE sql VOLATILE AS $$SELECT set_config('search_path', t, false)$$;
CREATE FUNCTION f_leaks_stable(t text) RETURNS text LANGUAGE sql STABLE AS $$SELECT set_config('search_path', t, false)$$;
CREATE FUNCTION f_temp() RETURNS int LANGUAGE plpgsql VOLATILE AS
  $$BEGIN CREATE TEMP TABLE IF NOT EXISTS t1 (id int, v text); RETURN 1; END$$;
CREATE FUNCTION f_notice(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RAISE NOTICE 'told %', t; RETURN t; END$$;
CREATE FUNCTION f_warn(t text) RETURNS text LANGUAGE plpgsql STABLE AS $$BEGIN RAISE WARNING USING MESSAGE = t, ERRCODE = '01777'; RETURN t; END$$;
CREATE FUNCTION f_raise(i int) RETURNS int LANGUAGE plpgsql STABLE AS
  $$BEGIN IF i % 2 = 0 THEN RAISE EXCEPTION 'raised %', i USING ERRCODE = 'WR001', DETAIL = 'd', HINT = 'h'; END IF; RETURN i; END$$;
CREATE FUNCTION f_raises_readonly() RETURNS int LANGUAGE plpgsql STABLE AS
  $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '25006'; END$$;
CREATE FUNCTION f_raises_conflict() RETURNS int LANGUAGE plpgsql STABLE AS
  $$BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END$$;
CREATE FUNCTION f_swallows(i int) RETURNS text LANGUAGE plpgsql STABLE AS
  $$BEGIN RETURN public.f_lie(i); EXCEPTION WHEN others THEN RETURN SQLSTATE; END$$;
CREATE FUNCTION f_recovery() RETURNS bool LANGUAGE plpgsql STABLE AS $$BEGIN RETURN pg_is_in_recovery(); END$$;
CREATE FUNCTION f_readonly() RETURNS text LANGUAGE sql STABLE AS $$SELECT current_setting('transaction_read_only')$$;
CREATE FUNCTION f_default(i int, k int DEFAULT nextval('public.seq')::int) RETURNS int LANGUAGE sql STABLE AS 'SELECT i + 0 * k';
CREATE FUNCTION f_variadic(VARIADIC i int[]) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT sum(x) FROM unnest(i) x';
CREATE FUNCTION f_set_of(i int) RETURNS SETOF public.t2 LANGUAGE sql STABLE AS 'SELECT * FROM public.t2 WHERE id < i';
CREATE FUNCTION f_table(i int) RETURNS TABLE (k int, w text) LANGUAGE plpgsql STABLE AS
  $$BEGIN RETURN QUERY SELECT id, v FROM public.t1 WHERE id <= i; END$$;
CREATE FUNCTION f_out(i int, OUT x int, OUT y text) LANGUAGE sql IMMUTABLE AS $$SELECT i, 'o' || i$$;
CREATE FUNCTION f_atomic(i int) RETURNS bigint LANGUAGE sql STABLE BEGIN ATOMIC SELECT count(*) FROM t1 WHERE id < i; END;
CREATE FUNCTION f_lock(i int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT id FROM public.t1 WHERE id = i FOR UPDATE';
CREATE FUNCTION f_lock_lie(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$DECLARE r int; BEGIN EXECUTE 'SELECT id FROM public.t1 WHERE id = ' || i || ' FOR UPDATE' INTO r; RETURN r; END$$;
CREATE FUNCTION f_seed() RETURNS void LANGUAGE sql STABLE AS 'SELECT setseed(0.25)';
CREATE FUNCTION over_load(i int) RETURNS text LANGUAGE sql STABLE AS $$SELECT 'int'$$;
CREATE FUNCTION over_load(t text) RETURNS text LANGUAGE plpgsql VOLATILE AS
  $$BEGIN INSERT INTO public.audit VALUES (0, t); RETURN 'text'; END$$;
CREATE FUNCTION other.by_schema() RETURNS text LANGUAGE sql STABLE AS $$SELECT 'other'$$;
CREATE FUNCTION shadow.by_schema() RETURNS text LANGUAGE plpgsql VOLATILE AS
  $$BEGIN INSERT INTO public.audit VALUES (0, 'shadow'); RETURN 'shadow'; END$$;
CREATE FUNCTION shadow.lower(text) RETURNS text LANGUAGE plpgsql VOLATILE AS
  $$BEGIN INSERT INTO public.audit VALUES (0, 'lower'); RETURN 'shadow lower'; END$$;
CREATE FUNCTION shadow.count_it(int, int) RETURNS int LANGUAGE plpgsql VOLATILE AS
  $$BEGIN INSERT INTO public.audit VALUES (0, 'plus'); RETURN -1; END$$;
CREATE OPERATOR shadow.+ (LEFTARG = int, RIGHTARG = int, FUNCTION = shadow.count_it);
CREATE VIEW shadow.t2 AS SELECT id, 'shadow'::text AS v, nextval('public.seq') * 0 AS f, NULL::timestamptz AS at FROM public.t1;
CREATE PROCEDURE p_write(i int) LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit VALUES (i, 'p_write'); END$$;
CREATE PROCEDURE p_commit(i int) LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit VALUES (i, 'p_commit'); COMMIT; INSERT INTO public.audit VALUES (i, 'behind'); END$$;
CREATE PROCEDURE p_read(INOUT i int) LANGUAGE plpgsql AS $$BEGIN i := i + 1; END$$;
CREATE PROCEDURE p_sets(t text) LANGUAGE plpgsql AS $$BEGIN PERFORM set_config('search_path', t, false); END$$;

-- Hidden behind operators, casts, aggregates, domains, views, rules, triggers, policies and column notation.
CREATE FUNCTION op_good(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 3 = $2 % 3';
CREATE FUNCTION op_bad(int, int) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO public.audit VALUES ($1, 'op'); RETURN true; END$$;
CREATE OPERATOR %%= (LEFTARG = int, RIGHTARG = int, FUNCTION = op_good);
CREATE OPERATOR %%! (LEFTARG = int, RIGHTARG = int, FUNCTION = op_bad);
CREATE FUNCTION step_good(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT coalesce($1, 0) + $2';
CREATE FUNCTION step_bad(int, int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO public.audit VALUES ($2, 'agg'); RETURN $2; END$$;
CREATE AGGREGATE agg_good(int) (SFUNC = step_good, STYPE = int);
CREATE AGGREGATE agg_bad(int) (SFUNC = step_bad, STYPE = int);
CREATE FUNCTION check_bad(text) RETURNS bool LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO public.audit VALUES (0, $1); RETURN true; END$$;
CREATE DOMAIN dom_bad AS text CHECK (check_bad(value));
CREATE FUNCTION cast_bad(pair) RETURNS text LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO public.audit VALUES (0, 'cast'); RETURN 'cast'; END$$;
CREATE TYPE cast_from AS (l int);
CREATE FUNCTION cast_from_bad(cast_from) RETURNS text LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO public.audit VALUES (0, 'cast'); RETURN 'cast'; END$$;
CREATE CAST (cast_from AS text) WITH FUNCTION cast_from_bad(cast_from) AS IMPLICIT;
CREATE VIEW v_plain AS SELECT id, upper(v) AS v FROM t1;
CREATE VIEW v_nested AS SELECT p.id, p.v, m.v AS w FROM v_plain p LEFT JOIN mat m USING (id);
CREATE VIEW v_lock AS SELECT id, v FROM t1 FOR UPDATE;
CREATE VIEW v_next AS SELECT id, v, nextval('seq') * 0 AS z FROM t1;
CREATE VIEW v_vol AS SELECT id, v, f_plw(id) AS z FROM t1;
CREATE VIEW v_on_vol AS SELECT id, v FROM v_vol WHERE z > 0;
CREATE VIEW v_op AS SELECT id, v FROM t1 WHERE id %%! 1;
CREATE VIEW v_unlogged AS SELECT id, v FROM unlogged;
CREATE VIEW v_recovery AS SELECT 1 AS id, pg_is_in_recovery()::text AS v;
CREATE VIEW v_setting AS SELECT 1 AS id, current_setting('search_path') AS v;
CREATE VIEW v_user AS SELECT 1 AS id, current_user::text AS v;
CREATE VIEW v_catalog AS SELECT length(relname) AS id, relname::text AS v FROM pg_class WHERE relname IN ('t1', 'mat', 'seq');
CREATE VIEW v_updatable AS SELECT id, v FROM wr;
CREATE FUNCTION "full"(t1) RETURNS text LANGUAGE sql STABLE AS $$SELECT $1.id || '/' || $1.v$$;
CREATE FUNCTION doubtful(typed) RETURNS text LANGUAGE plpgsql VOLATILE AS $$BEGIN INSERT INTO public.audit VALUES (0, 'column'); RETURN 'd'; END$$;
CREATE TABLE secured (id int, v text, who name);
INSERT INTO secured VALUES (1, 'a', 'app'), (2, 'b', 'cmp_other'), (3, 'c', 'app');
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
ALTER TABLE secured FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON secured USING (who = current_user);
CREATE TABLE secured_bad (id int, v text);
INSERT INTO secured_bad VALUES (1, 'a');
ALTER TABLE secured_bad ENABLE ROW LEVEL SECURITY;
ALTER TABLE secured_bad FORCE ROW LEVEL SECURITY;
CREATE POLICY bad ON secured_bad USING (f_plw(id) > 0);
CREATE TABLE ruled (id int, v text);
INSERT INTO ruled VALUES (1, 'r');
CREATE RULE instead AS ON INSERT TO ruled DO ALSO INSERT INTO audit VALUES (new.id, 'rule');
CREATE FUNCTION on_trigger() RETURNS trigger LANGUAGE plpgsql AS
  $$BEGIN INSERT INTO public.audit VALUES (new.id, 'trigger'); PERFORM set_config('cmp.trigger', new.v, false); RETURN new; END$$;
CREATE TABLE triggered (id int, v text);
CREATE TRIGGER t BEFORE INSERT OR UPDATE ON triggered FOR EACH ROW EXECUTE FUNCTION on_trigger();
INSERT INTO triggered VALUES (1, 't');
CREATE FOREIGN TABLE foreign_t (id int, v text) SERVER cmp_nowhere;
CREATE TABLE gen (id int GENERATED ALWAYS AS IDENTITY, w int GENERATED ALWAYS AS (id * 2) STORED, v text);
TRUNCATE audit;
ALTER SEQUENCE seq RESTART;
ALTER SEQUENCE ser_id_seq RESTART;
GRANT USAGE ON SCHEMA public, other, shadow TO cmp_other;
GRANT SELECT ON ALL TABLES IN SCHEMA public, other, shadow TO cmp_other;
GRANT INSERT, UPDATE ON wr, audit TO cmp_other;
REVOKE SELECT ON t2 FROM cmp_other;
ANALYZE;
