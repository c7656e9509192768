// The parts of the catalogue question, in the order in which catalog_query puts them together. For PostgreSQL 11 and
// later; all names are pg_catalog's, since the question runs with search_path = pg_catalog. Strings with a backslash are
// E'' ones, so that they read the same whatever standard_conforming_strings is.
//
// Everything user-defined has an oid of at least 16384 (FirstNormalObjectId).
#pragma once

#include <string_view>

namespace weir::lb::sql {

// What is asked for:
//   rel      the relations of a wanted name
//   lineage  each with its inheritance parents
//   root     every object of a wanted name
inline constexpr std::string_view kRoots = R"(, rel (relid, name, schema, relkind) AS (
  SELECT r.relid, r.name, r.schema, r.relkind FROM (
    SELECT c.oid AS relid, w.name, n.nspname AS schema, c.relkind,
      row_number() OVER (PARTITION BY w.name ORDER BY n.nspname) AS place
    FROM want w JOIN pg_class c ON c.relname = w.name::name JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE w.kind = 'r' AND n.nspname !~ '^pg_(toast_)?temp_') r
  WHERE r.place <= 513
), lineage (root, relid) AS (
  SELECT relid, relid FROM rel
  UNION SELECT f.root, i.inhparent FROM lineage f JOIN pg_inherits i ON i.inhrelid = f.relid
), root (kind, name, schema, obj) AS (
  SELECT 'r', r.name, r.schema, r.relid FROM rel r
  UNION ALL SELECT w.kind, w.name, n.nspname, p.oid FROM want w JOIN pg_proc p ON p.proname = w.name::name
    JOIN pg_namespace n ON n.oid = p.pronamespace WHERE w.kind = 'f' AND n.nspname !~ '^pg_temp_'
  UNION ALL SELECT w.kind, w.name, n.nspname, o.oid FROM want w JOIN pg_operator o ON o.oprname = w.name::name
    JOIN pg_namespace n ON n.oid = o.oprnamespace WHERE w.kind = 'o' AND n.nspname !~ '^pg_temp_'
  UNION ALL SELECT w.kind, w.name, n.nspname, t.oid FROM want w JOIN pg_type t ON t.typname = w.name::name
    JOIN pg_namespace n ON n.oid = t.typnamespace WHERE w.kind = 't' AND n.nspname !~ '^pg_(toast_)?temp_'
), language (oid, name) AS (
  SELECT l.oid, l.lanname FROM pg_language l
))";

// What using a root may run or read, by any number of steps, PostgreSQL's own functions and relations as leaves:
//   a relation: its children; a view's rule; the policies for reading; for a root functions that take its row, since
//     "t.f" may be a call of f(t)
//   a function: its aggregate's parts, the default arguments and the SQL body as trees; in a body that is text every
//     function, relation, type and operator that has the name of one of its words, unless the function's name is
//     nothing but PostgreSQL's (what stands between quotation marks is a word too). Whether such a word means an object of another schema hangs on the search path of the
//     session, and that schema is noted in PATH ('' always; '*' always, also for what is reached through it, since the
//     function has a search path of its own)
//   a type: what its checks, its own functions, its columns, elements or base type run
//   an operator: its function
//   user-defined casts (kind 'c'), whoever uses them, unless C code that says it is not volatile
//   what tells the time of the transaction, or who runs it, is reached as kind 'n'
// pg_depend knows of user-defined objects only; PostgreSQL's own are found in the text of the trees.
inline constexpr std::string_view kReach = R"(, reach (rkind, robj, kind, obj, path) AS (
  SELECT r.kind, r.obj, r.kind, r.obj, ''::text FROM root r WHERE r.obj >= 16384
  UNION ALL SELECT 'r', l.root, 'f', p.oid, '' FROM lineage l JOIN pg_class c ON c.oid = l.relid
    JOIN pg_proc p ON p.proargtypes[0] = c.reltype
    WHERE l.root >= 16384 AND p.oid >= 16384 AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1
  UNION ALL SELECT 'c', c.oid, 'f', c.castfunc, '' FROM pg_cast c JOIN pg_proc p ON p.oid = c.castfunc
    JOIN language l ON l.oid = p.prolang
    WHERE c.oid >= 16384 AND (p.provolatile = 'v' OR l.name NOT IN ('c', 'internal'))
  UNION SELECT r.rkind, r.robj, x.kind, x.obj, CASE WHEN r.path <> '' THEN r.path ELSE x.path END
  FROM reach r JOIN LATERAL (
    SELECT s.kind, s.obj, '' FROM (
      SELECT 'pg_rewrite'::regclass, w.oid, w.ev_action::text FROM pg_rewrite w JOIN pg_class c ON c.oid = w.ev_class
        WHERE r.kind = 'r' AND w.ev_class = r.obj AND c.relkind = 'v' AND w.ev_type = '1'
      UNION ALL SELECT 'pg_policy'::regclass, p.oid, p.polqual::text FROM pg_policy p
        JOIN pg_class c ON c.oid = p.polrelid
        WHERE r.kind = 'r' AND p.polrelid = r.obj AND p.polcmd IN ('r', '*') AND c.relrowsecurity
      UNION ALL SELECT 'pg_constraint'::regclass, k.oid, k.conbin::text FROM pg_constraint k
        WHERE r.kind = 't' AND k.contypid = r.obj
      UNION ALL SELECT 'pg_proc'::regclass, p.oid, concat(p.proargdefaults::text, to_jsonb(p) ->> 'prosqlbody')
        FROM pg_proc p WHERE r.kind = 'f' AND p.oid = r.obj
      UNION ALL SELECT 'pg_type'::regclass, r.obj, NULL WHERE r.kind = 't'
    ) n (class, oid, tree) CROSS JOIN LATERAL (
      SELECT CASE d.refclassid WHEN 'pg_class'::regclass THEN 'r' WHEN 'pg_proc'::regclass THEN 'f'
          WHEN 'pg_operator'::regclass THEN 'o' WHEN 'pg_type'::regclass THEN 't' END, d.refobjid
        FROM pg_depend d WHERE d.classid = n.class AND d.objid = n.oid
          AND NOT (r.kind = 't' AND d.refclassid = 'pg_class'::regclass)
      UNION ALL SELECT 'f', m[1]::oid
        FROM regexp_matches(n.tree, ':(?:funcid|opfuncid|aggfnoid|winfnoid) ([0-9]+)', 'g') m
      UNION ALL SELECT 'r', m[1]::oid FROM regexp_matches(n.tree, ':relid ([0-9]+)', 'g') m
      UNION ALL SELECT 'n', 1::oid WHERE n.tree ~ 'SQLVALUEFUNCTION :op [0-8] '
    ) s (kind, obj)
    UNION ALL SELECT 'r', i.inhrelid, '' FROM pg_inherits i WHERE r.kind = 'r' AND i.inhparent = r.obj
    UNION ALL SELECT 'f', o.oprcode::oid, '' FROM pg_operator o WHERE r.kind = 'o' AND o.oid = r.obj
    UNION ALL SELECT 'f', unnest(ARRAY[a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
        a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn])::oid, ''
      FROM pg_aggregate a WHERE r.kind = 'f' AND a.aggfnoid = r.obj
    UNION ALL SELECT 't', a.atttypid, '' FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid
      WHERE r.kind = 't' AND t.oid = r.obj AND t.typrelid <> 0 AND NOT a.attisdropped
    UNION ALL SELECT 't', unnest(ARRAY[t.typelem, t.typbasetype]), '' FROM pg_type t WHERE r.kind = 't' AND t.oid = r.obj
    UNION ALL SELECT y.kind, y.obj, CASE WHEN g.own_path OR strpos(s.nspname, E'\n') > 0 THEN '*'
        WHEN s.nspname IN ('pg_catalog', 'information_schema') OR s.nspname = ANY (g.words) THEN ''
        ELSE s.nspname::text COLLATE "default" END
      FROM pg_proc p JOIN language l ON l.oid = p.prolang
      CROSS JOIN LATERAL (SELECT p.proconfig::text ~ 'search_path' IS TRUE OR p.prosrc ~* 'search_path', ARRAY(
        SELECT t FROM regexp_split_to_table(p.prosrc, E'[\x01-#%-/:-@[-^`{-\x7f]+') t
        UNION SELECT lower(t) FROM regexp_split_to_table(p.prosrc, E'[\x01-#%-/:-@[-^`{-\x7f]+') t
        UNION SELECT replace(t, E'\x01', '"') FROM regexp_split_to_table(replace(p.prosrc, '""', E'\x01'), '"') t
          WHERE octet_length(t) < 256)) g (own_path, words)
      CROSS JOIN LATERAL (
        SELECT 'f', q.oid, q.pronamespace FROM unnest(g.words) u (word) JOIN pg_proc q ON q.proname = u.word::name
        UNION ALL SELECT 'r', c.oid, c.relnamespace FROM unnest(g.words) u (word)
          JOIN pg_class c ON c.relname = u.word::name
          WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f', 'S') AND c.relpersistence <> 't'
        UNION ALL SELECT 't', t.oid, t.typnamespace FROM unnest(g.words) u (word)
          JOIN pg_type t ON t.typname = u.word::name WHERE t.oid >= 16384
        UNION ALL SELECT 'o', o.oid, o.oprnamespace FROM pg_operator o JOIN pg_proc q ON q.oid = o.oprcode
          JOIN language k ON k.oid = q.prolang WHERE o.oid >= 16384 AND strpos(p.prosrc, o.oprname) > 0
            AND (q.provolatile = 'v' OR k.name NOT IN ('c', 'internal'))) y (kind, obj, namespace)
      JOIN pg_namespace s ON s.oid = y.namespace
      WHERE r.kind = 'f' AND p.oid = r.obj AND l.name IN ('sql', 'plpgsql')
    UNION ALL SELECT 'n', 1::oid, '' FROM pg_proc p JOIN language l ON l.oid = p.prolang
      WHERE r.kind = 'f' AND p.oid = r.obj AND l.name IN ('sql', 'plpgsql') AND p.prosrc ~* E'\\m(now|today|tomorrow|yesterday|current_(date|time|timestamp)|local(time|timestamp)|(transaction|statement)_timestamp|age)\\M'
  ) x (kind, obj, path) ON r.obj >= 16384
  WHERE x.obj >= 16384 OR (x.kind IN ('f', 'r', 'n') AND x.obj <> 0)
))";

// What is wrong with it:
//   found      everything reached: WRONG is no thing for a standby, NOISY may change the session's state, LATE looks
//              up names of relations or types when it runs (a body that has no word behind or before which one
//              could stand does not, nor one that names its relations with their schemas; what its literals hold does not
//              count where it is plain where they end), USED is PostgreSQL's own
//   cast_type  user-defined types that a wrong cast is from or to (PostgreSQL's own if both are), and those built upon
//              them: which of a type's casts a text means is not looked into
//   flags      of each root, all together; a line of USES is "f:function" or "r:schema.relation", and ends with
//              "@schema" if it counts only with that schema on the search path; "n:@schema" is noisy then, "q:@schema"
//              wrong and no more; "c:" is what tells the time
// A body that runs a text of its own making, a procedural language other than plpgsql, and C functions that are known
// to run a text given to them are wrong whatever they say of themselves. Otherwise IMMUTABLE and STABLE are believed:
// the server refuses commands that write in such functions, and what they call has been looked at too.
inline constexpr std::string_view kFlags = R"(, found (rkind, robj, path, wrong, noisy, late, used) AS (
  SELECT r.rkind, r.robj, r.path, c.oid >= 16384 AND (c.relpersistence <> 'p' OR c.relkind NOT IN ('r', 'p', 'm', 'v')
      OR (SELECT COALESCE(bool_or(w.ev_action::text ~ ':rowMarks [(]|:hasForUpdate true'), false)
        FROM pg_rewrite w WHERE w.ev_class = c.oid AND c.relkind = 'v')),
    false, false, CASE WHEN c.oid < 16384 THEN concat('r:', n.nspname, '.', c.relname) END
    FROM reach r JOIN pg_class c ON c.oid = r.obj JOIN pg_namespace n ON n.oid = c.relnamespace WHERE r.kind = 'r'
  UNION ALL SELECT r.rkind, r.robj, r.path, b.bad, b.bad, p.oid >= 16384 AND l.name IN ('sql', 'plpgsql')
        AND b.code ~* E'\\m(into|update|delete|insert|merge|table|only|copy|lock|truncate|cast|declare|execute|call|(to_)?reg[a-z]+|(pg|has)_[a-z_]+|[a-z]+val|current_schemas?|format_type)\\M|::|%\\s*(row)?type|u&"|\\m(from|join)\\M(?!\\s+[a-z_]\\w*\\s*[.])|\\mfrom\\M[^;]*,|\\musing\\M(?!\\s*[(]|\\s+(message|errcode|detail|hint)\\M)|\\m(?!(select|return|notice|warning|exception|info|then|else|when|and|or|in|like)\\M)\\w+\\s*''',
      CASE WHEN p.oid < 16384 THEN concat('f:', p.proname) END
    FROM reach r JOIN pg_proc p ON p.oid = r.obj JOIN language l ON l.oid = p.prolang
    CROSS JOIN LATERAL (SELECT CASE WHEN p.prosrc ~ E'--|/[*]|[$][^0-9]|["\\\\]' THEN p.prosrc
      ELSE regexp_replace(p.prosrc, '''[^'']*''', '''''', 'g') END, CASE WHEN p.oid < 16384 THEN r.rkind = 'c' AND p.provolatile = 'v'
      ELSE (p.provolatile = 'v' AND p.prokind <> 'a') OR p.prokind = 'p'
        OR l.name NOT IN ('sql', 'plpgsql', 'c', 'internal')
        OR (l.name = 'c' AND p.proname ~ '^(crosstab|connectby|dblink|xpath_table)')
        OR (l.name IN ('sql', 'plpgsql') AND p.prosrc ~* E'\\m(execute|pg_temp)|\\mu&"') END) b (code, bad)
    WHERE r.kind = 'f'
  UNION ALL SELECT r.rkind, r.robj, '', false, false, false, 'c:' FROM reach r WHERE r.kind = 'n'
), cast_type (typ) AS (
  SELECT t.oid FROM pg_cast c JOIN pg_type t ON t.oid IN (c.castsource, c.casttarget)
    WHERE EXISTS (SELECT FROM found f WHERE f.rkind = 'c' AND f.robj = c.oid AND f.wrong)
      AND (t.oid >= 16384 OR (c.castsource < 16384 AND c.casttarget < 16384))
  UNION SELECT x.oid FROM cast_type b CROSS JOIN LATERAL (
    SELECT t.oid FROM pg_type t WHERE t.typbasetype = b.typ OR t.typelem = b.typ
    UNION ALL SELECT c.reltype FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.atttypid = b.typ AND c.reltype <> 0) x
), flags (kind, obj, plain, quiet, late, uses) AS (
  SELECT s.rkind, s.robj, NOT bool_or(s.wrong AND s.path IN ('', '*')), NOT bool_or(s.noisy AND s.path IN ('', '*')),
    bool_or(s.late AND (s.path IN ('', '*') OR NOT (s.wrong OR s.noisy))), string_agg(DISTINCT CASE
      WHEN s.path IN ('', '*') THEN s.used
      WHEN s.noisy THEN concat('n:@', s.path)
      WHEN s.wrong THEN concat('q:@', s.path)
      WHEN s.used IS NOT NULL THEN concat(s.used, '@', s.path) END, E'\n')
  FROM (
    SELECT * FROM found
    UNION ALL SELECT r.rkind, r.robj, r.path, true, true, true, NULL FROM reach r JOIN cast_type b ON b.typ = r.obj
      WHERE r.kind = 't' AND EXISTS (SELECT FROM cast_type)
    UNION ALL SELECT r.rkind, r.robj, r.path, true, true, true, NULL FROM reach r
      JOIN pg_attribute a ON a.attrelid = r.obj JOIN cast_type b ON b.typ = a.atttypid
      WHERE r.kind = 'r' AND EXISTS (SELECT FROM cast_type)
    UNION ALL SELECT r.rkind, r.robj, r.path, true, true, true, NULL FROM reach r JOIN pg_class c ON c.oid = r.obj
      JOIN cast_type b ON b.typ = c.reltype WHERE r.kind = 'r' AND EXISTS (SELECT FROM cast_type)
  ) s GROUP BY s.rkind, s.robj
))";

// What a write to the wanted relations may run:
//   reaches  steps from a table to its children and to tables with a cascading foreign key to it
//   touched  each with what a write to it may write to as well: what it reaches by any number of steps
//   coded    what depends on a user-defined function or operator
//   bad_type domains whose checks or default do, and the types that are built upon them
//   runs_code relations whose triggers, defaults, checks, indexes, partition keys or column types do
inline constexpr std::string_view kWrites = R"(, coded (classid, objid) AS (
  SELECT d.classid, d.objid FROM pg_depend d WHERE d.refobjid >= 16384
    AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
), bad_type (typ) AS (
  SELECT typ FROM (
    SELECT c.contypid FROM coded d JOIN pg_constraint c ON c.oid = d.objid
      WHERE d.classid = 'pg_constraint'::regclass AND c.contypid <> 0
    UNION SELECT t.oid FROM coded d JOIN pg_type t ON t.oid = d.objid
      WHERE d.classid = 'pg_type'::regclass AND t.typtype = 'd') b (typ)
  UNION SELECT x.oid FROM bad_type b CROSS JOIN LATERAL (
    SELECT t.oid FROM pg_type t WHERE t.typbasetype = b.typ OR t.typelem = b.typ
    UNION ALL SELECT c.reltype FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.atttypid = b.typ AND c.reltype <> 0
    UNION ALL SELECT r.rngtypid FROM pg_range r WHERE r.rngsubtype = b.typ) x
), reaches (source, target) AS (
  SELECT i.inhparent, i.inhrelid FROM pg_inherits i
  UNION ALL SELECT c.confrelid, c.conrelid FROM pg_constraint c WHERE c.contype = 'f'
    AND (c.confdeltype IN ('c', 'n', 'd') OR c.confupdtype IN ('c', 'n', 'd'))
), touched (root, relid) AS (
  SELECT relid, relid FROM rel
  UNION SELECT t.root, x.target FROM touched t JOIN reaches x ON x.source = t.relid
), runs_code (relid) AS (
  SELECT a.adrelid FROM coded d JOIN pg_attrdef a ON a.oid = d.objid WHERE d.classid = 'pg_attrdef'::regclass
  UNION SELECT c.conrelid FROM coded d JOIN pg_constraint c ON c.oid = d.objid
    WHERE d.classid = 'pg_constraint'::regclass
  UNION SELECT i.indrelid FROM coded d JOIN pg_index i ON i.indexrelid = d.objid WHERE d.classid = 'pg_class'::regclass
  UNION SELECT d.objid FROM coded d WHERE d.classid = 'pg_class'::regclass
  UNION SELECT t.tgrelid FROM coded d JOIN pg_trigger t ON t.oid = d.objid WHERE d.classid = 'pg_trigger'::regclass
  UNION SELECT t.tgrelid FROM pg_trigger t WHERE t.tgfoid >= 16384
  UNION SELECT a.attrelid FROM bad_type b JOIN pg_attribute a ON a.atttypid = b.typ
))";

// The last three columns: reading reaches no other object, a write touches no other relation, and no default there is
// nextval(), or asks what was drawn.
inline constexpr std::string_view kRelations = R"(
SELECT 'r', r.name, r.schema::text, NOT r.system AND COALESCE(f.plain, false),
  r.relkind IN ('r', 'p') AND COALESCE(f.quiet, true) AND NOT EXISTS (
    SELECT FROM touched t JOIN pg_class c ON c.oid = t.relid WHERE t.root = r.relid AND (
      c.relpersistence = 't' OR c.relkind NOT IN ('r', 'p') OR c.relrowsecurity
      OR EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid)
      OR c.oid IN (SELECT relid FROM runs_code))),
  r.system, COALESCE(f.quiet, true), COALESCE(f.late, false), COALESCE(f.uses, ''),
  r.relkind IN ('r', 'm') AND r.relid NOT IN (SELECT robj FROM reach WHERE rkind = 'r' AND (kind <> 'r' OR obj <> robj)),
  r.relkind = 'r' AND r.relid NOT IN (SELECT root FROM touched WHERE relid <> root),
  r.relkind IN ('r', 'p') AND NOT EXISTS (
    SELECT FROM touched t JOIN pg_attribute a ON a.attrelid = t.relid JOIN pg_type y ON y.oid = a.atttypid
      LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE t.root = r.relid AND a.attnum > 0 AND (
      a.attidentity <> '' OR concat(pg_get_expr(d.adbin, d.adrelid), y.typdefault) ~ 'val[(]'))
FROM (SELECT rel.*, relid < 16384 AND schema IN ('pg_catalog', 'information_schema') AS system FROM rel OFFSET 0) r
  LEFT JOIN flags f ON f.kind = 'r' AND f.obj = r.relid)";

// Functions, operators and types: all of one name in one schema together.
inline constexpr std::string_view kOthers = R"(
SELECT r.kind, r.name, r.schema::text, NOT bool_and(b.builtin) AND bool_and(COALESCE(f.plain, true)), false,
  bool_and(b.builtin), bool_and(COALESCE(f.quiet, true)), bool_or(COALESCE(f.late, false)),
  CASE WHEN bool_and(b.builtin) THEN '' ELSE COALESCE(string_agg(
    CASE WHEN b.builtin AND r.kind = 'f' THEN concat('f:', r.name) ELSE f.uses END, E'\n'), '') END, false, false, false
FROM root r LEFT JOIN flags f ON f.kind = r.kind AND f.obj = r.obj
  CROSS JOIN LATERAL (SELECT r.obj < 16384 AND r.schema IN ('pg_catalog', 'information_schema')) b (builtin)
WHERE r.kind <> 'r' GROUP BY r.kind, r.name, r.schema
UNION ALL SELECT DISTINCT 'f', '', n.nspname::text, false, false, false, false, false, '', false, false, false
FROM pg_event_trigger e JOIN pg_proc p ON p.oid = e.evtfoid JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE e.evtenabled <> 'D' AND EXISTS (SELECT FROM want w WHERE w.kind = 'f' AND w.name = ''))";

// Which rows there are, and by which transaction each was written.
inline constexpr std::string_view kFingerprint = R"(SET search_path = pg_catalog; SET jit = off; SET statement_timeout = '10s';
WITH temp (relid) AS (SELECT oid FROM pg_class WHERE relpersistence = 't'),
lines (kind, id, written) AS (
  SELECT 1, oid, xmin FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relpersistence <> 't' AND oid >= 16384
  UNION ALL SELECT 2, oid, xmin FROM pg_proc WHERE oid >= 16384
  UNION ALL SELECT 3, oid, xmin FROM pg_type WHERE oid >= 16384 AND typtype <> 'c' AND typelem = 0
  UNION ALL SELECT 4, oid, xmin FROM pg_operator WHERE oid >= 16384
  UNION ALL SELECT 5, oid, xmin FROM pg_cast WHERE oid >= 16384
  UNION ALL SELECT 6, oid, xmin FROM pg_rewrite WHERE oid >= 16384 AND ev_class NOT IN (SELECT relid FROM temp)
  UNION ALL SELECT 7, oid, xmin FROM pg_policy
  UNION ALL SELECT 8, oid, xmin FROM pg_trigger WHERE tgrelid NOT IN (SELECT relid FROM temp)
  UNION ALL SELECT 9, oid, xmin FROM pg_attrdef WHERE adrelid NOT IN (SELECT relid FROM temp)
  UNION ALL SELECT 10, oid, xmin FROM pg_constraint WHERE oid >= 16384 AND conrelid NOT IN (SELECT relid FROM temp)
  UNION ALL SELECT 11, oid, xmin FROM pg_event_trigger
  UNION ALL SELECT 12, oid, xmin FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'
  UNION ALL SELECT 13, inhrelid, xmin FROM pg_inherits WHERE inhrelid NOT IN (SELECT relid FROM temp)
)
SELECT concat(count(*), '/', sum(hashtext(concat(kind, ':', id, ':', written))::bigint)) FROM lines)";

}  // namespace weir::lb::sql
