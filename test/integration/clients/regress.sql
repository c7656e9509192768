-- Run by psql -a through pgweir and directly: the two outputs must be equal.
\set VERBOSITY verbose
\set SHOW_CONTEXT always
\pset null '(null)'
SELECT v FROM plain WHERE id = 1;
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS regress CASCADE;
RESET client_min_messages;
CREATE SCHEMA regress;
SET search_path = regress;
SHOW search_path;
-- tables and constraints
CREATE TABLE item (id int PRIMARY KEY, name text NOT NULL, price numeric(8,2) CHECK (price >= 0), tags text[], doc jsonb);
CREATE TABLE item (id int);
CREATE INDEX ON item (name);
INSERT INTO item VALUES (1, 'one', 1.50, '{a,b}', '{"k": 1}'), (2, 'two', 2.25, NULL, NULL), (3, 'three', 0, '{}', '[1,2]');
INSERT INTO item VALUES (1, 'again', 1, NULL, NULL);
INSERT INTO item VALUES (4, NULL, 1, NULL, NULL);
INSERT INTO item VALUES (5, 'minus', -1, NULL, NULL);
SELECT * FROM item ORDER BY id;
SELECT id, name FROM item WHERE price > 1 ORDER BY id;
SELECT count(*), sum(price), avg(price), max(name), array_agg(id ORDER BY id) FROM item;
UPDATE item SET price = price + 1 WHERE id < 3 RETURNING id, price;
DELETE FROM item WHERE id = 3;
SELECT count(*) FROM item;
INSERT INTO item(id, name, price) SELECT i, 'n' || i, i FROM generate_series(10, 30) i;
INSERT INTO item(id, name) VALUES (1, 'one more') ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING *;
TABLE item ORDER BY id LIMIT 2;
VALUES (1, 'x'), (2, 'y');
SELECT;
;
-- errors with positions, details and hints
SELECT nothing FROM item;
SELECT * FROM missing_table;
SELECT nofunc(1);
SELECT 1/0;
SELEC 1;
SELECT 'unterminated;
';
SELECT * FROM item WHERE id = 'x';
SELECT naem FROM item;
SELECT 1 +
  2 +
  "quoted";
\errverbose
\echo :LAST_ERROR_SQLSTATE :ERROR :ROW_COUNT
-- queries of many shapes
WITH a AS (SELECT id FROM item WHERE id < 12) SELECT count(*) FROM a;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT sum(n) FROM r;
WITH d AS (DELETE FROM item WHERE id = 30 RETURNING id) SELECT * FROM d;
SELECT id, rank() OVER (ORDER BY price DESC) FROM item WHERE id < 13 ORDER BY 2, 1;
SELECT a.id, b.name FROM item a JOIN item b USING (id) WHERE id IN (SELECT id FROM item WHERE id < 3) ORDER BY 1;
SELECT id FROM item WHERE id < 3 UNION SELECT 99 EXCEPT SELECT 2 ORDER BY 1;
SELECT x, y FROM generate_series(1, 2) x, LATERAL (SELECT x * 10 AS y) l;
SELECT CASE WHEN id % 2 = 0 THEN 'even' ELSE 'odd' END AS kind, count(*) FROM item GROUP BY 1 ORDER BY 1;
SELECT doc->'k', doc @> '{"k": 1}' FROM item WHERE id = 1;
SELECT date '2024-02-29' + 1, interval '1 day 2 hours', timestamp '2024-01-01 00:00:00', '\xdeadbeef'::bytea;
SELECT 'ä€😀' AS wide, length('ä€😀'), U&'\00e4', E'tab\there', $tag$dollar 'quoted'$tag$;
SELECT repeat('long ', 2000);
SELECT * FROM item WHERE id = 1 FOR UPDATE;
SELECT id, name INTO copied FROM item WHERE id < 3;
SELECT * FROM copied ORDER BY id;
EXPLAIN (COSTS OFF) SELECT * FROM item WHERE id = 1;
-- views, functions, notices
CREATE VIEW cheap AS SELECT id, name FROM item WHERE price < 12;
SELECT count(*) FROM cheap;
CREATE FUNCTION shout(t text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'shouting %', t USING HINT = 'less noise'; RAISE WARNING 'warned'; RETURN upper(t); END$$;
SELECT shout('hello');
SELECT public.f_writes('regress');
DO $$BEGIN RAISE NOTICE 'in a block'; END$$;
CREATE FUNCTION boom() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'boom %', 1 USING ERRCODE = 'P0042', DETAIL = 'the detail', HINT = 'the hint'; END$$;
SELECT boom();
DROP TABLE IF EXISTS never_was;
CREATE PROCEDURE twice(n int) LANGUAGE plpgsql AS $$BEGIN INSERT INTO copied VALUES (n, 'a'); COMMIT; INSERT INTO copied VALUES (n + 1, 'b'); END$$;
CALL twice(50);
SELECT * FROM copied ORDER BY id;
-- transactions
BEGIN;
INSERT INTO copied VALUES (60, 'in transaction');
SELECT count(*) FROM copied WHERE id = 60;
SAVEPOINT s;
SELECT 1/0;
SELECT 1;
ROLLBACK TO s;
SELECT count(*) FROM copied WHERE id = 60;
RELEASE s;
COMMIT;
BEGIN;
DELETE FROM copied;
ROLLBACK;
SELECT count(*) FROM copied;
COMMIT;
ROLLBACK;
BEGIN; BEGIN; COMMIT;
BEGIN READ ONLY;
SELECT count(*) FROM item;
INSERT INTO copied VALUES (1, 'x');
SELECT 1;
COMMIT;
BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE;
SHOW transaction_isolation;
SELECT count(*) FROM item;
COMMIT AND CHAIN;
SHOW transaction_isolation;
ROLLBACK;
START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
SELECT count(*) FROM item;
END;
\set AUTOCOMMIT off
SELECT count(*) FROM item;
INSERT INTO copied VALUES (70, 'implicit');
ROLLBACK;
SELECT count(*) FROM copied WHERE id = 70;
COMMIT;
\set AUTOCOMMIT on
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT 1/0;
SELECT count(*) FROM item;
COMMIT;
\set ON_ERROR_ROLLBACK off
-- several statements in one message
SELECT 1 AS a \; SELECT 2 AS b \; SELECT 3 AS c;
SELECT 1 \; SELECT 1/0 \; SELECT 3;
INSERT INTO copied VALUES (80, 'multi') \; SELECT count(*) FROM copied WHERE id = 80 \; DELETE FROM copied WHERE id = 80;
BEGIN \; INSERT INTO copied VALUES (81, 'x') \; ROLLBACK;
-- settings
SET application_name = 'regress';
SHOW application_name;
SET LOCAL work_mem = '1MB';
BEGIN; SET LOCAL work_mem = '2MB'; SHOW work_mem; COMMIT; SHOW work_mem;
SET DateStyle = 'German, DMY';
SELECT date '2024-12-31';
SET TIME ZONE 'Asia/Tokyo';
SELECT timestamptz '2024-01-01 00:00:00+00';
SHOW timezone;
SET intervalstyle = 'iso_8601';
SELECT interval '1 day 3 hours';
SELECT set_config('my.var', 'value', false);
SELECT current_setting('my.var'), current_setting('no.such', true);
SHOW my.var;
BEGIN; SET my.var = 'changed'; ROLLBACK; SHOW my.var;
RESET ALL;
SHOW search_path;
SET search_path = regress;
SET no_such_parameter = 1;
SET work_mem = 'much';
SHOW server_encoding;
SET client_encoding = 'LATIN1';
SELECT convert_to('ä', 'UTF8');
RESET client_encoding;
-- temporary objects hide permanent ones
SELECT count(*) FROM item;
CREATE TEMP TABLE item AS SELECT 1 AS only_one;
SELECT * FROM item;
INSERT INTO item VALUES (2);
SELECT count(*) FROM item;
SELECT count(*) FROM regress.item;
DROP TABLE pg_temp.item;
SELECT count(*) FROM item;
CREATE TEMP TABLE gone (i int) ON COMMIT DROP;
SELECT * FROM gone;
BEGIN; CREATE TEMP TABLE kept (i int) ON COMMIT DELETE ROWS; INSERT INTO kept VALUES (1); SELECT count(*) FROM kept; COMMIT;
SELECT count(*) FROM kept;
-- SQL-level prepared statements and cursors
PREPARE get(int) AS SELECT name FROM item WHERE id = $1;
EXECUTE get(1);
EXECUTE get(10);
EXECUTE missing(1);
PREPARE get AS SELECT 1;
DEALLOCATE get;
EXECUTE get(1);
PREPARE put(int, text) AS INSERT INTO copied VALUES ($1, $2);
EXECUTE put(90, 'prepared');
SELECT name FROM copied WHERE id = 90;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM item WHERE id < 20 ORDER BY id;
FETCH 2 FROM c;
MOVE FORWARD 3 FROM c;
FETCH BACKWARD 1 FROM c;
CLOSE c;
COMMIT;
FETCH 1 FROM c;
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM item ORDER BY id LIMIT 3;
FETCH ALL FROM h;
CLOSE h;
\set FETCH_COUNT 7
SELECT id FROM item ORDER BY id;
\unset FETCH_COUNT
-- sequences
CREATE SEQUENCE seq START 100;
SELECT currval('seq');
SELECT nextval('seq'), nextval('seq');
SELECT currval('seq'), lastval();
CREATE TABLE ser (id serial, v text);
INSERT INTO ser(v) VALUES ('a'), ('b') RETURNING id;
SELECT currval(pg_get_serial_sequence('regress.ser', 'id'));
-- COPY
COPY (SELECT id, name, price FROM item WHERE id < 12 ORDER BY id) TO STDOUT;
COPY (SELECT id, name FROM item WHERE id < 3 ORDER BY id) TO STDOUT WITH (FORMAT csv, HEADER);
COPY copied TO STDOUT;
COPY copied FROM STDIN;
200	from copy
201	with \N
202	\N
\.
COPY copied FROM STDIN WITH (FORMAT csv);
300,"quoted, comma"
301,
\.
COPY copied FROM STDIN;
400	fine
not a number	bad
\.
COPY copied (id) FROM STDIN;
500	too many
\.
SELECT * FROM copied WHERE id >= 200 ORDER BY id;
\copy (SELECT id FROM item WHERE id < 3 ORDER BY id) TO STDOUT
COPY (SELECT 1/0) TO STDOUT;
-- roles, locks, discarding
SET ROLE weir_trust;
SET SESSION AUTHORIZATION DEFAULT;
SELECT current_user, session_user;
SELECT pg_advisory_lock(42), pg_try_advisory_lock(43);
SELECT pg_advisory_unlock(42), pg_advisory_unlock(43);
SELECT pg_advisory_unlock(44);
LOCK TABLE item;
BEGIN; LOCK TABLE item IN SHARE MODE; COMMIT;
LISTEN channel;
UNLISTEN *;
SELECT pg_sleep(0);
DISCARD ALL;
SHOW search_path;
SET search_path = regress;
VACUUM item;
BEGIN; VACUUM item; ROLLBACK;
ANALYZE item;
CREATE INDEX CONCURRENTLY item_price ON item (price);
REINDEX TABLE item;
TRUNCATE copied;
SELECT count(*) FROM copied;
CREATE MATERIALIZED VIEW mat AS SELECT count(*) AS n FROM item;
REFRESH MATERIALIZED VIEW mat;
SELECT n FROM mat;
ALTER TABLE item ADD COLUMN extra int DEFAULT 7;
SELECT id, extra FROM item WHERE id = 1;
ALTER TABLE item RENAME TO thing;
SELECT count(*) FROM item;
SELECT count(*) FROM thing;
CREATE VIEW item AS SELECT 'a view now' AS v;
SELECT * FROM item;
COMMENT ON TABLE thing IS 'things';
\d thing
\dt
\dv
\df boom
\gdesc
SELECT id, name FROM thing WHERE id = 1 \gdesc
SELECT id AS got_id, name AS got_name FROM thing WHERE id = 2 \gset
\echo :got_id :got_name
SELECT 'SELECT ' || n FROM generate_series(1, 2) n \gexec
-- depth and size
SELECT count(*) FROM thing WHERE id IN (SELECT id FROM thing WHERE id IN (SELECT id FROM thing WHERE id IN (SELECT id FROM thing)));
SELECT length(repeat('x', 1000000));
SET ROLE none;
DROP SCHEMA regress CASCADE;
