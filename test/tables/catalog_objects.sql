-- One object a rule of the catalogue question; catalog_facts.tsv says what must be found. For an empty database.
CREATE SCHEMA a;
CREATE SCHEMA b;
CREATE SCHEMA c;
CREATE FUNCTION user_fn() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION user_fn1(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION user_check(text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE FUNCTION user_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE FUNCTION lower(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq);
CREATE OPERATOR + (LEFTARG = text, RIGHTARG = text, FUNCTION = textcat);

CREATE TABLE plain (id int PRIMARY KEY, v text DEFAULT 'x', s serial, u uuid DEFAULT gen_random_uuid(),
                    at timestamptz DEFAULT now(), CHECK (length(v) < 100));
CREATE INDEX ON plain (lower(v));
CREATE UNLOGGED TABLE unlogged (id int);
CREATE VIEW a_view AS SELECT * FROM plain;
CREATE MATERIALIZED VIEW mat AS SELECT * FROM plain;
CREATE SEQUENCE seq;
CREATE TABLE ruled (id int);
CREATE RULE r AS ON INSERT TO ruled DO ALSO SELECT 1;
CREATE TABLE secured (id int);
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;

CREATE TABLE part (id int) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);
CREATE TABLE part_of_unlogged (id int) PARTITION BY RANGE (id);
CREATE UNLOGGED TABLE part_unlogged PARTITION OF part_of_unlogged FOR VALUES FROM (0) TO (10);
CREATE TABLE part_of_triggered (id int) PARTITION BY RANGE (id);
CREATE TABLE part_triggered PARTITION OF part_of_triggered FOR VALUES FROM (0) TO (10);
CREATE TRIGGER t BEFORE INSERT ON part_triggered FOR EACH ROW EXECUTE FUNCTION user_trigger();
CREATE TABLE parent (id int);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE parent_of_secured (id int);
CREATE TABLE middle () INHERITS (parent_of_secured);
CREATE TABLE grandchild () INHERITS (middle);
ALTER TABLE grandchild ENABLE ROW LEVEL SECURITY;

CREATE TABLE triggered (id int);
CREATE TRIGGER t BEFORE INSERT ON triggered FOR EACH ROW EXECUTE FUNCTION user_trigger();
CREATE TABLE builtin_trigger (d text, v tsvector);
CREATE TRIGGER t BEFORE INSERT ON builtin_trigger FOR EACH ROW
  EXECUTE FUNCTION tsvector_update_trigger(v, 'pg_catalog.english', d);
CREATE TABLE trigger_when (id int);
CREATE TRIGGER t BEFORE UPDATE ON trigger_when FOR EACH ROW WHEN (user_fn1(new.id) > 0)
  EXECUTE FUNCTION suppress_redundant_updates_trigger();
CREATE TABLE user_default (id int DEFAULT user_fn());
CREATE TABLE checked (id int CHECK (user_fn1(id) = 1));
CREATE TABLE checked_by_operator (id int CHECK (id === 1));
CREATE TABLE indexed (id int);
CREATE INDEX ON indexed (user_fn1(id));
CREATE TABLE partly_indexed (id int);
CREATE INDEX ON partly_indexed (id) WHERE user_fn1(id) = 1;
CREATE TABLE generated (id int, g int GENERATED ALWAYS AS (user_fn1(id)) STORED);
CREATE TABLE part_by_fn (id int) PARTITION BY HASH ((user_check(id::text)));

CREATE TABLE referenced (id int PRIMARY KEY);
CREATE TABLE cascading (id int REFERENCES referenced ON DELETE CASCADE);
CREATE TRIGGER t AFTER DELETE ON cascading FOR EACH ROW EXECUTE FUNCTION user_trigger();
CREATE TABLE referenced_strictly (id int PRIMARY KEY);
CREATE TABLE strict (id int REFERENCES referenced_strictly);
CREATE TRIGGER t AFTER DELETE ON strict FOR EACH ROW EXECUTE FUNCTION user_trigger();

CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN domain_ok AS text CHECK (value <> '');
CREATE DOMAIN domain_user AS text CHECK (user_check(value));
CREATE DOMAIN domain_on_user AS domain_user;
CREATE DOMAIN domain_default AS int DEFAULT user_fn();
CREATE DOMAIN domain_mood AS mood;
CREATE TYPE composite AS (a domain_user, b int);
CREATE TYPE a_range AS RANGE (SUBTYPE = int);
CREATE TABLE of_domain_ok (x domain_ok);
CREATE TABLE of_domain_user (x domain_on_user);
CREATE TABLE of_domain_array (x domain_user[]);
CREATE TABLE of_composite_array (x composite[]);
CREATE TABLE of_mood (m mood DEFAULT 'good' CHECK (m <> 'bad'));

CREATE TABLE with_row_function (id int, first text);
CREATE FUNCTION full_name(with_row_function) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1.first';
CREATE TABLE heir () INHERITS (with_row_function);
CREATE FUNCTION two_arguments(of_mood, int) RETURNS int LANGUAGE sql AS 'SELECT 1';

CREATE TABLE a.everywhere (id int);
CREATE VIEW b.everywhere AS SELECT 1;
CREATE UNLOGGED TABLE c.everywhere (id int);
CREATE TABLE "odd'name\with""marks" (id int);

-- What functions say of themselves, and what their bodies use.
SET check_function_bodies = off;
CREATE FUNCTION volatile_fn() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN 1; END';
CREATE FUNCTION stable_fn(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT v FROM plain WHERE id = $1';
CREATE FUNCTION stable_plpgsql(i int) RETURNS text LANGUAGE plpgsql STABLE AS
  'DECLARE r text; BEGIN SELECT v INTO r FROM plain WHERE id = i; RETURN upper(r); END';
CREATE FUNCTION hides_volatile() RETURNS int LANGUAGE sql STABLE AS 'SELECT volatile_fn()';
CREATE FUNCTION hides_deeply() RETURNS int LANGUAGE sql STABLE AS 'SELECT hides_volatile()';
CREATE FUNCTION hides_quoted() RETURNS int LANGUAGE sql STABLE AS 'SELECT public."Volatile"()';
CREATE FUNCTION "Volatile"() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION hides_folded() RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN VOLATILE_FN(); END';
CREATE FUNCTION hides_nextval() RETURNS bigint LANGUAGE plpgsql STABLE AS $$BEGIN RETURN nextval('seq'); END$$;
CREATE FUNCTION asks_the_node() RETURNS int LANGUAGE sql STABLE AS 'SELECT pg_backend_pid()';
CREATE FUNCTION sets_the_seed() RETURNS void LANGUAGE sql STABLE AS 'SELECT setseed(0.5)';
CREATE FUNCTION reads_activity() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM pg_stat_activity';
CREATE FUNCTION reads_catalog() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM pg_class';
CREATE FUNCTION reads_unlogged() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM unlogged';
CREATE FUNCTION runs_a_text(t text) RETURNS int LANGUAGE plpgsql STABLE AS
  'DECLARE r int; BEGIN EXECUTE t INTO r; RETURN r; END';
CREATE FUNCTION volatile_default(a int DEFAULT volatile_fn()) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION node_default(a int DEFAULT pg_backend_pid()) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
CREATE FUNCTION overloaded(int) RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION overloaded(text) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
CREATE FUNCTION a.by_schema() RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION b.by_schema() RETURNS int LANGUAGE sql VOLATILE AS 'SELECT 1';
CREATE FUNCTION uses_by_schema() RETURNS int LANGUAGE sql STABLE AS 'SELECT by_schema()';
CREATE FUNCTION uses_b() RETURNS int LANGUAGE sql STABLE AS 'SELECT b.by_schema()';
CREATE FUNCTION own_path() RETURNS int LANGUAGE sql STABLE SET search_path = b AS 'SELECT by_schema()';
CREATE FUNCTION own_path_deeply() RETURNS int LANGUAGE sql STABLE SET search_path = b, public
  AS 'SELECT uses_by_schema()';
CREATE FUNCTION uses_nothing() RETURNS int LANGUAGE sql STABLE SECURITY DEFINER AS 'SELECT 1';
CREATE PROCEDURE a_procedure() LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION checks_domain(text) RETURNS int LANGUAGE sql STABLE AS 'SELECT length($1::domain_volatile)';
CREATE FUNCTION uses_operator(int) RETURNS bool LANGUAGE sql STABLE AS 'SELECT $1 !== 1';
CREATE FUNCTION atomic_good() RETURNS bigint LANGUAGE sql STABLE BEGIN ATOMIC SELECT count(*) FROM plain; END;
CREATE FUNCTION atomic_node() RETURNS int LANGUAGE sql STABLE BEGIN ATOMIC SELECT pg_backend_pid(); END;
CREATE FUNCTION atomic_volatile() RETURNS int LANGUAGE sql STABLE BEGIN ATOMIC SELECT volatile_fn(); END;

CREATE FUNCTION volatile_eq(int, int) RETURNS bool LANGUAGE sql AS 'SELECT $1 = $2';
CREATE FUNCTION good_eq(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 = $2';
CREATE OPERATOR !== (LEFTARG = int, RIGHTARG = int, FUNCTION = volatile_eq);
CREATE OPERATOR %%% (LEFTARG = int, RIGHTARG = int, FUNCTION = good_eq);

CREATE FUNCTION volatile_step(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + $2';
CREATE FUNCTION good_step(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
CREATE FUNCTION volatile_final(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
CREATE AGGREGATE volatile_sum(int) (SFUNC = volatile_step, STYPE = int);
CREATE AGGREGATE volatile_end(int) (SFUNC = good_step, STYPE = int, FINALFUNC = volatile_final);
CREATE AGGREGATE good_sum(int) (SFUNC = good_step, STYPE = int, INITCOND = '0');
CREATE AGGREGATE builtin_sum(int) (SFUNC = int4pl, STYPE = int);

CREATE FUNCTION volatile_check(text) RETURNS bool LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN true; END';
CREATE DOMAIN domain_volatile AS text CHECK (volatile_check(value));
CREATE DOMAIN domain_on_volatile AS domain_volatile;
CREATE DOMAIN domain_node AS int CHECK (value <> pg_backend_pid());
CREATE TYPE composite_volatile AS (a int, b domain_volatile);
CREATE TYPE enum_type AS ENUM ('x');

-- Views, by what they use.
CREATE VIEW v_plain AS SELECT p.id, lower(p.v) AS v FROM plain p WHERE p.id > 1 ORDER BY 1;
CREATE VIEW v_nested AS SELECT p.id, m.v FROM v_plain p JOIN mat m USING (id);
CREATE VIEW v_barrier WITH (security_barrier) AS SELECT * FROM plain WHERE stable_fn(id) <> '';
CREATE VIEW v_locking AS SELECT * FROM plain FOR UPDATE;
CREATE VIEW v_locking_inside AS SELECT * FROM (SELECT id FROM plain FOR SHARE) s;
CREATE VIEW v_on_locking AS SELECT id FROM v_locking;
CREATE VIEW v_nextval AS SELECT nextval('seq');
CREATE VIEW v_on_nextval AS SELECT * FROM v_nextval;
CREATE VIEW v_volatile AS SELECT volatile_fn();
CREATE VIEW v_deep AS SELECT hides_deeply() FROM plain;
CREATE VIEW v_node AS SELECT pg_is_in_recovery();
CREATE VIEW v_activity AS SELECT count(*) FROM pg_stat_activity;
CREATE VIEW v_catalog AS SELECT relname FROM pg_class;
CREATE VIEW v_unlogged AS SELECT * FROM unlogged;
CREATE VIEW v_sequence AS SELECT last_value FROM seq;
CREATE VIEW v_operator AS SELECT id FROM plain WHERE id !== 1;
CREATE VIEW v_aggregate AS SELECT volatile_sum(id) FROM plain;
CREATE VIEW v_window AS SELECT volatile_sum(id) OVER (ORDER BY id) FROM plain;
CREATE VIEW v_domain AS SELECT 'x'::domain_volatile AS d;
CREATE VIEW v_random AS SELECT random(), now(), gen_random_uuid(), current_user;
CREATE VIEW v_setting AS SELECT current_setting('work_mem');
CREATE VIEW v_sample AS SELECT * FROM plain TABLESAMPLE system (10);
CREATE VIEW v_seed AS SELECT 1 AS one WHERE setseed(0.1) IS NULL;
CREATE RECURSIVE VIEW v_recursive (n) AS VALUES (1) UNION ALL SELECT n + 1 FROM v_recursive WHERE n < 3;

CREATE TABLE policy_good (id int, owner name);
ALTER TABLE policy_good ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON policy_good USING (owner = current_user AND id IN (SELECT id FROM plain));
CREATE TABLE policy_volatile (id int);
ALTER TABLE policy_volatile ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON policy_volatile USING (volatile_fn() = id);
CREATE TABLE policy_write_only (id int);
ALTER TABLE policy_write_only ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON policy_write_only FOR INSERT WITH CHECK (volatile_fn() = id);
CREATE TABLE policy_node (id int);
ALTER TABLE policy_node ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON policy_node USING (id = pg_backend_pid());
CREATE TABLE policy_off (id int);
CREATE POLICY p ON policy_off USING (volatile_fn() = id);

CREATE TABLE with_volatile_row_function (id int);
CREATE FUNCTION doubtful_name(with_volatile_row_function) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE TABLE heir_of_volatile () INHERITS (with_volatile_row_function);

CREATE TYPE casted AS (a int);
CREATE FUNCTION casted_text(casted) RETURNS text LANGUAGE sql VOLATILE AS $$SELECT 'x'$$;
CREATE CAST (casted AS text) WITH FUNCTION casted_text(casted);
CREATE TABLE of_casted (c casted);
CREATE TABLE of_casted_array (c casted[]);
CREATE FUNCTION gives_casted() RETURNS casted LANGUAGE sql STABLE AS 'SELECT ROW(1)::casted';
CREATE TYPE casted_well AS (a int);
CREATE FUNCTION casted_well_text(casted_well) RETURNS text LANGUAGE sql STABLE AS $$SELECT 'x'$$;
CREATE CAST (casted_well AS text) WITH FUNCTION casted_well_text(casted_well);
CREATE TABLE of_casted_well (c casted_well);

CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE foreign_t (id int) SERVER nowhere;
CREATE TABLE part_of_foreign (id int) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE part_foreign PARTITION OF part_of_foreign FOR VALUES FROM (0) TO (10) SERVER nowhere;
CREATE VIEW v_foreign AS SELECT * FROM part_of_foreign;

-- Names that a body writes in uncommon ways, and what tells the time.
CREATE FUNCTION "volatile fn"() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION "odd""fn"() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION hides_spaced() RETURNS int LANGUAGE sql STABLE AS 'SELECT public."volatile fn"()';
CREATE FUNCTION hides_marked() RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN "odd""fn"(); END';
CREATE FUNCTION hides_escaped() RETURNS int LANGUAGE sql STABLE AS 'SELECT u&"vol\0061tile_fn"()';
CREATE FUNCTION declares_composite() RETURNS int LANGUAGE plpgsql STABLE AS
  'DECLARE r composite_volatile; BEGIN r := ROW(1, ''x''); RETURN 1; END';
CREATE TABLE with_domain (id int, d domain_volatile);
CREATE FUNCTION declares_row() RETURNS int LANGUAGE plpgsql STABLE AS
  'DECLARE r with_domain%ROWTYPE; BEGIN r := ROW(1, ''x''); RETURN 1; END';
CREATE FUNCTION declares_column() RETURNS int LANGUAGE plpgsql STABLE AS
  'DECLARE r with_domain.d%TYPE; BEGIN r := ''x''; RETURN 1; END';
CREATE VIEW v_time AS SELECT now() AS at;
CREATE VIEW v_date AS SELECT p.id FROM plain p WHERE CURRENT_DATE > '2020-01-01';
CREATE VIEW v_on_time AS SELECT * FROM v_time;
CREATE FUNCTION tells_time() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()';
CREATE FUNCTION tells_date() RETURNS text LANGUAGE plpgsql STABLE AS 'BEGIN RETURN CURRENT_DATE; END';
CREATE FUNCTION time_default(t timestamptz DEFAULT now()) RETURNS int LANGUAGE sql STABLE AS 'SELECT 1';
CREATE FUNCTION casts_now() RETURNS date LANGUAGE sql STABLE AS $$SELECT 'today'::date$$;
CREATE FUNCTION qualified() RETURNS text LANGUAGE sql STABLE AS 'SELECT v FROM public.plain WHERE id = 1';
CREATE FUNCTION qualified_and_not() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT count(*) FROM public.plain p, mat';
CREATE FUNCTION warns(t text) RETURNS text LANGUAGE plpgsql STABLE AS
  $$BEGIN RAISE WARNING 'told %', t USING ERRCODE = '01777'; RETURN t; END$$;
