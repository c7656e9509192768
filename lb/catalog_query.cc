#include "lb/catalog_query.h"

#include <algorithm>
#include <utility>

#include "common/base/sql_literal.h"
#include "lb/builtin.h"
#include "lb/catalog_sql.h"
#include "parser/names.h"

namespace weir::lb {
namespace {

using shmem::FactKind;

constexpr std::size_t kMaxPathDoubtBytes = 255;  // the shared table keeps no more

// The letters under which kinds of names are asked for and answered.
char letter_of(FactKind kind) {
  switch (kind) {
    case FactKind::Relation:
      return 'r';
    case FactKind::Function:
      return 'f';
    case FactKind::Operator:
      return 'o';
    case FactKind::Type:
      return 't';
  }
  return '?';
}

// What a use means for a standby: one of PostgreSQL's own functions or relations, "f:name" or "r:schema.name", or what
// the server has judged already ("q:", "n:").
struct OwnUse {
  bool plain = false;
  bool quiet = false;
  bool late = false;
  bool clock = false;
};

OwnUse judge_own(std::string_view use) {
  const std::string_view name = use.substr(std::min<std::size_t>(use.size(), 2));
  if (use.starts_with("f:")) {
    const BuiltinFunction function = builtin_function(name);
    const bool quiet = function == BuiltinFunction::Harmless || function == BuiltinFunction::NeedsPrimary;
    return {function == BuiltinFunction::Harmless, quiet, looks_names_up(name), parser::is_now_like(name)};
  }
  if (use == "c:") return {true, true, false, true};
  if (use == "q:") return {false, true, false};
  const std::size_t dot = name.find('.');
  if (!use.starts_with("r:") || dot == std::string_view::npos) return {};
  return {system_relation_is_plain(name.substr(0, dot), name.substr(dot + 1)), true, true};
}

void add_path_doubt(std::string_view schema, bool quiet, SchemaFlags& flags) {
  const std::string line = (quiet ? 'q' : 'n') + std::string(schema);
  std::string_view list = flags.path_doubts;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find('\n'));
    if (one == line) return;
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
  if (!flags.path_doubts.empty()) flags.path_doubts += '\n';
  flags.path_doubts += line;
}

// Takes the lines of USES (see sql::kFlags) into account.
void judge_uses(std::string_view uses, SchemaFlags& flags) {
  while (!uses.empty()) {
    const std::string_view line = uses.substr(0, uses.find('\n'));
    uses.remove_prefix(std::min(uses.size(), line.size() + 1));
    if (line.empty()) continue;
    const std::size_t at = line.find('@');
    const OwnUse own = judge_own(line.substr(0, at));
    flags.late = flags.late || own.late;
    flags.tells_time = flags.tells_time || own.clock;
    if (own.plain && own.quiet) continue;
    if (at != std::string_view::npos) {
      add_path_doubt(line.substr(at + 1), own.quiet, flags);
      continue;
    }
    flags.plain = flags.plain && own.plain;
    flags.quiet = flags.quiet && own.quiet;
    flags.plain_to_write = flags.plain_to_write && own.quiet;
  }
  // More schemas than the shared table keeps: as if one of them were always on the path.
  if (flags.path_doubts.size() > kMaxPathDoubtBytes) {
    flags.path_doubts.clear();
    flags.plain = flags.quiet = flags.plain_to_write = false;
  }
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
      "SET search_path = pg_catalog; SET jit = off; SET from_collapse_limit = 1; SET join_collapse_limit = 1; "
      "SET statement_timeout = '10s';\n"
      "WITH RECURSIVE want (kind, name) AS (VALUES (''::text, NULL::text)";
  for (const Missing& name : asked) {
    text += ", ('";
    text += letter_of(name.kind);
    text += "', ";
    text += sql_literal(name.name);
    text += ')';
  }
  text += ')';
  const bool relations =
      std::any_of(asked.begin(), asked.end(), [](const Missing& name) { return name.kind == FactKind::Relation; });
  ((text += sql::kRoots) += sql::kReach) += sql::kFlags;
  if (relations) ((text += sql::kWrites) += sql::kRelations) += "\nUNION ALL";
  text += sql::kOthers;
  return text;
}

std::string_view catalog_fingerprint_query() { return sql::kFingerprint; }

std::optional<std::vector<CatalogFact>> parse_catalog_rows(std::span<const Missing> names,
                                                           std::span<const CatalogRow> rows) {
  std::vector<CatalogFact> facts;
  facts.reserve(names.size());
  for (const Missing& name : names) facts.push_back({name.kind, name.name, {}});
  for (const CatalogRow& row : rows) {
    if (row.size() != kCatalogColumns || !row[0] || !row[1] || !row[2] || row[2]->empty()) return std::nullopt;
    SchemaFlags flags;
    flags.schema = *row[2];
    if (!as_bool(row[3], flags.plain) || !as_bool(row[4], flags.plain_to_write) || !as_bool(row[5], flags.builtin) ||
        !as_bool(row[6], flags.quiet) || !as_bool(row[7], flags.late) || !row[8] ||
        !as_bool(row[9], flags.reads_itself) || !as_bool(row[10], flags.writes_itself) ||
        !as_bool(row[11], flags.draws_nothing)) {
      return std::nullopt;
    }
    judge_uses(*row[8], flags);
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
