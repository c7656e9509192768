// The question that turns missing names into catalogue facts: one SQL text for any number of names, and the reading of
// its rows. For PostgreSQL 11 and later.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/shmem/catalog_view.h"
#include "lb/resolve.h"

namespace weir::lb {

// The pseudo-function under which the enabled event triggers of a database are kept (no real name is empty): schemas
// empty = there is none.
inline constexpr std::string_view kEventTriggers = "";

// At most this many names are asked for in one statement.
inline constexpr std::size_t kMaxQueryNames = 100;
inline constexpr std::size_t kCatalogColumns = 12;  // kind, name, schema, the flags up to late, uses, and the three behind it

// The text of one simple Query over NAMES (at most kMaxQueryNames; the rest is not asked for), quoted for either
// setting of standard_conforming_strings. It reads system catalogues only. Before the one SELECT it sets search_path =
// pg_catalog for its session, so that nobody's operators stand in for PostgreSQL's own, jit = off (measured: 20 ms
// instead of 150), limits that keep planning short, and a statement_timeout: what takes too long to find out stays
// unknown. Names must be valid in the connection's client_encoding, or it fails whole.
std::string catalog_query(std::span<const Missing> names);

// A simple Query whose one value is another one after any change of the catalogue that facts hang on, temporary objects
// aside. VACUUM, ANALYZE and temporary tables do not change it.
std::string_view catalog_fingerprint_query();

// One row as text. Booleans are "t" and "f".
using CatalogRow = std::vector<std::optional<std::string>>;

// As shmem::SchemaFact, owning its texts.
struct SchemaFlags {
  std::string schema;
  bool plain = false;
  bool plain_to_write = false;
  bool builtin = false;
  bool quiet = false;
  bool late = false;
  std::string path_doubts = {};
  bool reads_itself = false;
  bool writes_itself = false;
  bool draws_nothing = false;
  bool tells_time = false;
  bool operator==(const SchemaFlags&) const = default;
};

// What there is to know of one name. A relation in very many schemas comes with as many as the shared table keeps and
// one more, which makes it "of any schema" there.
struct CatalogFact {
  shmem::FactKind kind = shmem::FactKind::Relation;
  std::string name;
  std::vector<SchemaFlags> schemas;
};

// The rows' facts: one for each of NAMES in their order, without schemas where there was no row. Nothing if a row is
// not of the expected form or speaks of a name that was not asked for.
std::optional<std::vector<CatalogFact>> parse_catalog_rows(std::span<const Missing> names,
                                                           std::span<const CatalogRow> rows);

}  // namespace weir::lb
