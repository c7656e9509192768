// The read-only look-up of catalogue facts that routing is given. Facts are found out over a service connection on the
// primary and kept in shared memory for all children (catalog_facts.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::shmem {

enum class FactKind : std::uint8_t { Relation, Function, Operator, Type };

// What is known of the objects of one name in one schema.
struct SchemaFact {
  std::string_view schema;
  // Reading, calling, applying or naming it is harmless on a standby, whatever it runs or reads itself. Not set for
  // what is PostgreSQL's own: that is told by its name.
  bool plain = false;
  // Relation: an INSERT/UPDATE/DELETE there runs nothing but PostgreSQL's own code: no user trigger, no rule, no default,
  // check, index expression or generated column that calls a user-defined function.
  bool plain_to_write = false;
  bool builtin = false;  // lies in pg_catalog or information_schema with an oid below 16384
  // The same use changes nothing of the session's state, on whichever node.
  bool quiet = false;
  // It looks names up when it runs (a function's body that is text), and so may meet temporary objects.
  bool late = false;
  // Schemas, one a line, with any of which on the search path it is not plain, since a name that a function's body looks
  // up may then mean something else. In front of each stands 'q', or 'n' if it is not quiet then either.
  std::string_view path_doubts = {};
  // Relation: reading it reads nothing but its own rows: no view, no parent of others, no policy or function of its row.
  bool reads_itself = false;
  // Relation: a write to it changes no other: it has no children and no foreign key carries the change on. What
  // triggers and rules do is told by plain_to_write.
  bool writes_itself = false;
  // Relation: no default in what a write to it may write draws from a sequence or asks what was drawn.
  bool draws_nothing = false;
  // The time of the transaction, or who runs it, may be told by whatever it runs: now() in a view, say.
  bool tells_time = false;
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
