// The read-only look-up of catalogue facts that routing is given. Facts are found out over a service connection on the
// primary and kept in shared memory for all children (catalog_facts.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::shmem {

enum class FactKind : std::uint8_t { Relation, Function, Operator, Type };

// What is known of one object of that name in one schema.
struct SchemaFact {
  std::string_view schema;
  // Relation: permanent, logged, ordinary/partitioned/materialized, no rules, no row security, and so are all its
  // inheritance children and partitions. Function/Operator/Type: never true (user-defined ones are doubt).
  bool plain = false;
  // Relation: an INSERT/UPDATE/DELETE there runs nothing but PostgreSQL's own code: no user trigger, no rule, no default,
  // check, index expression or generated column that calls a user-defined function.
  bool plain_to_write = false;
  bool builtin = false;  // lies in pg_catalog with an oid below 16384
};

enum class Known : std::uint8_t { Unknown, Yes };

struct CatalogAnswer {
  Known known = Known::Unknown;      // Unknown: not looked up yet in this database (or out of date)
  std::vector<SchemaFact> schemas;   // every schema (but pg_temp_*) that has an object of that name; empty: none has
};

class CatalogView {
 public:
  virtual ~CatalogView() = default;
  // All objects of kind KIND named NAME in DATABASE, over all schemas. The views live until the next call.
  virtual CatalogAnswer find(std::string_view database, FactKind kind, std::string_view name) const = 0;
};

}  // namespace weir::shmem
