-- What the databases of the tests hold. Run as superuser in database postgres.
CREATE ROLE app LOGIN;
ALTER ROLE app SET synchronous_commit = remote_apply;  -- with synchronous standbys: what was committed is read anywhere
CREATE ROLE weir_check LOGIN;
GRANT pg_monitor TO weir_check;
SET password_encryption = 'md5';
CREATE ROLE weir_md5 LOGIN PASSWORD 'md5 secret';
SET password_encryption = 'scram-sha-256';
CREATE ROLE weir_scram LOGIN PASSWORD 'scram secret';
CREATE ROLE weir_clear LOGIN PASSWORD 'clear secret';
CREATE ROLE weir_reject LOGIN;
CREATE ROLE weir_trust LOGIN;
CREATE ROLE limited LOGIN CONNECTION LIMIT 2;
CREATE DATABASE app OWNER app;
CREATE DATABASE app2 OWNER app;
CREATE DATABASE bench OWNER app;
\connect app2
SET ROLE app;
CREATE TABLE plain (id int PRIMARY KEY, v text);
INSERT INTO plain SELECT i, 'app2 ' || i FROM generate_series(1, 100) i;
\connect app
ALTER SCHEMA public OWNER TO app;
SET ROLE app;
CREATE TABLE plain (id int PRIMARY KEY, v text);
INSERT INTO plain SELECT i, 'row ' || i FROM generate_series(1, 100) i;
CREATE TABLE wide (id int PRIMARY KEY, v text);
INSERT INTO wide SELECT i, repeat(chr(97 + i % 26), 1000) FROM generate_series(1, 2000) i;
CREATE TABLE parted (id int, v text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (50);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (50) TO (1000);
INSERT INTO parted SELECT i, 'part ' || i FROM generate_series(1, 100) i;
CREATE MATERIALIZED VIEW matv AS SELECT id, v FROM plain WHERE id <= 10;
CREATE VIEW vw AS SELECT id, v FROM plain;
CREATE UNLOGGED TABLE unlogged_t (id int PRIMARY KEY, v text);
INSERT INTO unlogged_t SELECT i, 'unlogged ' || i FROM generate_series(1, 10) i;
CREATE TABLE secured (id int PRIMARY KEY, v text);
INSERT INTO secured SELECT i, 'secured ' || i FROM generate_series(1, 10) i;
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON secured USING (id <= 5);
CREATE TABLE written (id serial PRIMARY KEY, v text);
CREATE TABLE audit (at timestamptz DEFAULT now(), what text);
CREATE SEQUENCE counter;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE FUNCTION f_immutable(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT i + 1';
CREATE FUNCTION f_stable(i int) RETURNS text LANGUAGE sql STABLE AS 'SELECT v FROM plain WHERE id = i';
CREATE FUNCTION f_volatile(i int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT i';
CREATE FUNCTION f_writes(t text) RETURNS int LANGUAGE plpgsql VOLATILE AS
  $$BEGIN INSERT INTO audit(what) VALUES (t); RETURN 1; END$$;
CREATE FUNCTION f_notice(t text) RETURNS int LANGUAGE plpgsql VOLATILE AS
  $$BEGIN RAISE NOTICE 'notice %', t; RETURN 1; END$$;
CREATE FUNCTION f_temp() RETURNS int LANGUAGE plpgsql VOLATILE AS
  $$BEGIN CREATE TEMP TABLE IF NOT EXISTS plain (id int, v text); RETURN 1; END$$;
-- A function that writes but says it does not: a standby refuses it with 25006.
CREATE FUNCTION f_lies(t text) RETURNS int LANGUAGE plpgsql STABLE AS
  $$BEGIN PERFORM f_writes(t); RETURN 1; END$$;
CREATE FUNCTION eq_mod(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 = $2 % 10';
CREATE OPERATOR %%= (LEFTARG = int, RIGHTARG = int, FUNCTION = eq_mod);
-- Names that mean something else by schema and search_path.
CREATE SCHEMA other;
CREATE TABLE other.plain (id int PRIMARY KEY, v text);
INSERT INTO other.plain SELECT i, 'other ' || i FROM generate_series(1, 100) i;
CREATE SCHEMA shadow;
CREATE VIEW shadow.plain AS SELECT id, 'shadow'::text AS v, f_volatile(id) AS x FROM public.plain;
CREATE TABLE shadow.only_here (id int);
GRANT USAGE ON SCHEMA other, shadow TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA public, other, shadow TO PUBLIC;
GRANT INSERT, UPDATE, DELETE ON written, audit TO PUBLIC;
GRANT USAGE ON SEQUENCE written_id_seq TO PUBLIC;
