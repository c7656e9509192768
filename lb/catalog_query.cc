#include "lb/catalog_query.h"

#include <algorithm>
#include <utility>

namespace weir::lb {
namespace {

using shmem::FactKind;

// Everything user-defined has an oid of at least 16384 (FirstNormalObjectId).
//   rel      the relations of a wanted name
//   family   each with its inheritance children and partitions, to any depth
//   lineage  each with its inheritance parents
//   reaches  steps from a table to its children and to tables with a cascading foreign key to it
//   touched  each with what a write to it may write to as well: what it reaches by any number of steps
//   coded    what depends on a user-defined function or operator
//   bad_type domains whose checks or default do, and the types that are built upon them
//   runs_code relations whose triggers, defaults, checks, indexes, partition keys or column types do
//   on_row   row types that a user-defined function takes: "t.f" may be a call of f(t)
constexpr std::string_view kShared = R"(, coded (classid, objid) AS (
  SELECT d.classid, d.objid FROM pg_catalog.pg_depend d WHERE d.refobjid >= 16384 AND d.refclassid IN
    ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
), bad_domain (typ) AS (
  SELECT c.contypid FROM coded d JOIN pg_catalog.pg_constraint c ON c.oid = d.objid
    WHERE d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND c.contypid <> 0
  UNION SELECT t.oid FROM coded d JOIN pg_catalog.pg_type t ON t.oid = d.objid
    WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND t.typtype = 'd'
), bad_type (typ) AS (
  SELECT typ FROM bad_domain
  UNION SELECT x.oid FROM bad_type b CROSS JOIN LATERAL (
    SELECT t.oid FROM pg_catalog.pg_type t WHERE t.typbasetype = b.typ OR t.typelem = b.typ
    UNION ALL SELECT c.reltype FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
      WHERE a.atttypid = b.typ AND c.reltype <> 0
    UNION ALL SELECT r.rngtypid FROM pg_catalog.pg_range r WHERE r.rngsubtype = b.typ) x
))";

constexpr std::string_view kRelationTables = R"(, rel (relid, name, schema, reltype, relkind) AS (
  SELECT r.relid, r.name, r.schema, r.reltype, r.relkind FROM (
    SELECT c.oid AS relid, w.name, n.nspname AS schema, c.reltype, c.relkind,
      pg_catalog.row_number() OVER (PARTITION BY w.name ORDER BY n.nspname) AS place
    FROM want w JOIN pg_catalog.pg_class c ON c.relname = w.name::pg_catalog.name
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE w.kind = 'r' AND n.nspname !~ '^pg_(toast_)?temp_') r
  WHERE r.place <= 513
), family (root, relid) AS (
  SELECT relid, relid FROM rel
  UNION SELECT f.root, i.inhrelid FROM family f JOIN pg_catalog.pg_inherits i ON i.inhparent = f.relid
), lineage (root, relid) AS (
  SELECT relid, relid FROM rel
  UNION SELECT f.root, i.inhparent FROM lineage f JOIN pg_catalog.pg_inherits i ON i.inhrelid = f.relid
), reaches (source, target) AS (
  SELECT i.inhparent, i.inhrelid FROM pg_catalog.pg_inherits i
  UNION ALL SELECT c.confrelid, c.conrelid FROM pg_catalog.pg_constraint c WHERE c.contype = 'f'
    AND (c.confdeltype IN ('c', 'n', 'd') OR c.confupdtype IN ('c', 'n', 'd'))
), touched (root, relid) AS (
  SELECT relid, relid FROM rel
  UNION SELECT t.root, x.target FROM touched t JOIN reaches x ON x.source = t.relid
), runs_code (relid) AS (
  SELECT a.adrelid FROM coded d JOIN pg_catalog.pg_attrdef a ON a.oid = d.objid
    WHERE d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
  UNION SELECT c.conrelid FROM coded d JOIN pg_catalog.pg_constraint c ON c.oid = d.objid
    WHERE d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass
  UNION SELECT i.indrelid FROM coded d JOIN pg_catalog.pg_index i ON i.indexrelid = d.objid
    WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
  UNION SELECT d.objid FROM coded d WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
  UNION SELECT t.tgrelid FROM coded d JOIN pg_catalog.pg_trigger t ON t.oid = d.objid
    WHERE d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass
  UNION SELECT t.tgrelid FROM pg_catalog.pg_trigger t WHERE t.tgfoid >= 16384
  UNION SELECT a.attrelid FROM bad_type b JOIN pg_catalog.pg_attribute a ON a.atttypid = b.typ
), on_row (typ) AS (
  SELECT p.proargtypes[0] FROM pg_catalog.pg_proc p
    WHERE p.oid >= 16384 AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1
))";

constexpr std::string_view kRelations = R"(
SELECT 'r', r.name, r.schema::pg_catalog.text,
  NOT r.system AND r.relkind IN ('r', 'p', 'm') AND NOT r.taken AND NOT EXISTS (
    SELECT FROM family f JOIN pg_catalog.pg_class c ON c.oid = f.relid WHERE f.root = r.relid AND (
      c.relpersistence <> 'p' OR c.relkind NOT IN ('r', 'p', 'm') OR c.relrowsecurity OR (c.relkind <> 'm' AND
      EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid)))),
  r.relkind IN ('r', 'p') AND NOT r.taken AND NOT EXISTS (
    SELECT FROM touched t JOIN pg_catalog.pg_class c ON c.oid = t.relid WHERE t.root = r.relid AND (
      c.relpersistence = 't' OR c.relkind NOT IN ('r', 'p') OR c.relrowsecurity
      OR EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid)
      OR c.oid IN (SELECT relid FROM runs_code))),
  r.system
FROM (SELECT rel.*, relid < 16384 AND schema IN ('pg_catalog', 'information_schema') AS system,
    EXISTS (SELECT FROM lineage l JOIN pg_catalog.pg_class c ON c.oid = l.relid
      WHERE l.root = rel.relid AND c.reltype IN (SELECT typ FROM on_row)) AS taken
  FROM rel OFFSET 0) r)";

constexpr std::string_view kFunctions = R"(
SELECT 'f', w.name, n.nspname::pg_catalog.text, false, false,
  pg_catalog.bool_and(p.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema'))
FROM want w JOIN pg_catalog.pg_proc p ON p.proname = w.name::pg_catalog.name
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE w.kind = 'f' AND n.nspname !~ '^pg_temp_' GROUP BY w.name, n.nspname
UNION ALL SELECT DISTINCT 'f', '', n.nspname::pg_catalog.text, false, false, false
FROM pg_catalog.pg_event_trigger e JOIN pg_catalog.pg_proc p ON p.oid = e.evtfoid
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE e.evtenabled <> 'D' AND EXISTS (SELECT FROM want w WHERE w.kind = 'f' AND w.name = ''))";

constexpr std::string_view kOperators = R"(
SELECT 'o', w.name, n.nspname::pg_catalog.text, false, false,
  pg_catalog.bool_and(p.oid < 16384 AND n.nspname = 'pg_catalog')
FROM want w JOIN pg_catalog.pg_operator p ON p.oprname = w.name::pg_catalog.name
  JOIN pg_catalog.pg_namespace n ON n.oid = p.oprnamespace
WHERE w.kind = 'o' AND n.nspname !~ '^pg_temp_' GROUP BY w.name, n.nspname)";

// An enum, and a domain over a built-in type or an enum whose checks are PostgreSQL's own code, are harmless to name.
constexpr std::string_view kTypes = R"(
SELECT 't', w.name, n.nspname::pg_catalog.text, t.typtype = 'e' OR (t.typtype = 'd'
    AND t.oid NOT IN (SELECT typ FROM bad_type) AND (t.typbasetype < 16384 OR b.typtype = 'e')),
  false, t.oid < 16384 AND n.nspname = 'pg_catalog'
FROM want w JOIN pg_catalog.pg_type t ON t.typname = w.name::pg_catalog.name
  JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
  LEFT JOIN pg_catalog.pg_type b ON b.oid = t.typbasetype
WHERE w.kind = 't' AND n.nspname !~ '^pg_(toast_)?temp_')";

struct KindText {
  FactKind kind;
  char letter;
  std::string_view select;
};

constexpr KindText kKinds[] = {
    {FactKind::Relation, 'r', kRelations},
    {FactKind::Function, 'f', kFunctions},
    {FactKind::Operator, 'o', kOperators},
    {FactKind::Type, 't', kTypes},
};

char letter_of(FactKind kind) {
  for (const KindText& row : kKinds) {
    if (row.kind == kind) return row.letter;
  }
  return '?';
}

// An E'' literal reads the same whatever standard_conforming_strings is. A name cannot hold a NUL; what stands behind
// one would be cut off by the server, so the literal ends there too.
void append_literal(std::string& out, std::string_view text) {
  out += "E'";
  for (const char c : text) {
    if (c == '\0') break;
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  out += '\'';
}

bool as_bool(const std::optional<std::string>& field, bool& value) {
  if (!field || (*field != "t" && *field != "f")) return false;
  value = *field == "t";
  return true;
}

}  // namespace

std::string catalog_query(std::span<const Missing> names) {
  const std::span<const Missing> asked = names.first(std::min(names.size(), kMaxQueryNames));
  std::string text =
      "SET search_path = pg_catalog; SET jit = off;\n"
      "WITH RECURSIVE want (kind, name) AS (VALUES (''::pg_catalog.text, NULL::pg_catalog.text)";
  for (const Missing& name : asked) {
    text += ", ('";
    text += letter_of(name.kind);
    text += "', ";
    append_literal(text, name.name);
    text += ')';
  }
  text += ')';
  const auto wants = [&](FactKind kind) {
    return std::any_of(asked.begin(), asked.end(), [&](const Missing& name) { return name.kind == kind; });
  };
  if (wants(FactKind::Relation) || wants(FactKind::Type)) text += kShared;
  if (wants(FactKind::Relation)) text += kRelationTables;
  bool first = true;
  for (const KindText& row : kKinds) {
    if (!wants(row.kind)) continue;
    if (!first) text += "\nUNION ALL";
    first = false;
    text += row.select;
  }
  if (first) text += "\nSELECT kind, name, name, false, false, false FROM want WHERE false";
  return text;
}

std::optional<std::vector<CatalogFact>> parse_catalog_rows(std::span<const Missing> names,
                                                           std::span<const CatalogRow> rows) {
  std::vector<CatalogFact> facts;
  facts.reserve(names.size());
  for (const Missing& name : names) facts.push_back({name.kind, name.name, {}});
  for (const CatalogRow& row : rows) {
    if (row.size() != kCatalogColumns || !row[0] || !row[1] || !row[2] || row[2]->empty()) return std::nullopt;
    SchemaFlags flags;
    flags.schema = *row[2];
    if (!as_bool(row[3], flags.plain) || !as_bool(row[4], flags.plain_to_write) || !as_bool(row[5], flags.builtin)) {
      return std::nullopt;
    }
    bool asked_for = false;
    for (CatalogFact& fact : facts) {
      if (fact.name != *row[1] || *row[0] != std::string(1, letter_of(fact.kind))) continue;
      fact.schemas.push_back(flags);
      asked_for = true;
    }
    if (!asked_for) return std::nullopt;
  }
  return facts;
}

}  // namespace weir::lb
