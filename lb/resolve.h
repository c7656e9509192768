// What the catalogue knows of the names that a text uses: are they all harmless for a standby, and what is still to be
// found out. Depends on the text, the search path, the catalogue epoch and the policy alone, so the result may be kept
// for as long as these stay.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/shmem/catalog_view.h"
#include "lb/policy.h"
#include "lb/target.h"
#include "parser/facts.h"

namespace weir::lb {

struct ResolveInput {
  std::string_view database;
  // Schemas in the order searched, "$user" replaced by the user's name; pg_catalog only if listed explicitly.
  std::span<const std::string> search_path;
  bool search_path_known = false;
  // client_encoding is not the database's: names outside ASCII are then not what the catalogue would be asked for.
  bool foreign_encoding = false;
};

// Plain: every name is known to be harmless on any node. Doubt: one is not, for `reason`. Unknown: no doubt among what
// is known, but `missing` must be looked up first; until then the text goes to the primary.
enum class Verdict : std::uint8_t { Plain, Doubt, Unknown };

// A name to look up, as catalog_query takes it.
struct Missing {
  shmem::FactKind kind = shmem::FactKind::Relation;
  std::string name;
  bool operator==(const Missing&) const = default;
};

// How a text uses a name; EventTriggers has no name: DDL would fire them.
enum class NameUse : std::uint8_t { Read, Written, Function, Operator, Type, EventTriggers };

// A use of a name of which it is not known yet whether it runs code that may change the session's state.
struct Unverified {
  NameUse use = NameUse::Read;
  parser::Name name;
  bool operator==(const Unverified&) const = default;
};

struct Resolved {
  Verdict verdict = Verdict::Unknown;
  Reason reason = Reason::CatalogPending;  // PlainRead, the first doubt, or CatalogPending
  // Names that the catalogue has not been asked for yet, each once; also those that matter for effects only.
  std::vector<Missing> missing;

  // What running the text on the primary may do to the session's state beyond what the text tells:
  // a user-defined (or unknown) function, operator or type, a view, a trigger, a default ... runs code of the user's.
  bool user_functions = false;
  // The relations written are all known to run nothing but PostgreSQL's own code.
  bool writes_verified = true;
  // A default of what is written may draw from a sequence, or ask what was drawn.
  bool draws = false;
  // A session-level advisory lock may be taken.
  bool session_locks = false;
  // Names of which the above is not known yet; ask `verify` again when `missing` has been found out.
  std::vector<Unverified> unverified;

  // Something looks names up when it runs, or shows what is visible: it may meet a temporary object that the text does
  // not name.
  bool late_names = false;

  // The time of the transaction may be told by what runs with it, a view say, and not by the text.
  bool tells_time = false;

  // It may read relations that it does not name: through a view, a function, a parent's children.
  bool reads_beyond = false;
  // It may write relations that it does not name, if it is not a plain read: through a function, a trigger, a rule, a
  // cascading foreign key, a parent's children; or that is not known yet.
  bool writes_beyond = false;
};

Resolved resolve(const parser::StatementFacts& facts, const ResolveInput& input, const Policy& policy,
                 const shmem::CatalogView& catalog);

// Harmless: runs PostgreSQL's own code only. Opaque: may change the session's state in ways that nobody sees.
enum class Verification : std::uint8_t { Harmless, Opaque, Unknown };

// Whether a use that was unverified when it was sent has turned out harmless. Unknown: MISSING has what to look up.
Verification verify(const Unverified& use, const ResolveInput& input, const Policy& policy,
                    const shmem::CatalogView& catalog, std::vector<Missing>* missing = nullptr);

}  // namespace weir::lb
