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
