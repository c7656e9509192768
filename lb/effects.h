// What an exchange may do to its session beyond the SETs that the facts list: to be applied when it is sent (the flags
// and the unverified names: a statement that fails may have had effects too) and when it succeeds (the named changes).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lb/resolve.h"
#include "parser/facts.h"

namespace weir::lb {

enum class NamedChange : std::uint8_t {
  OpenCursor,      // lives until the end of the transaction
  OpenHoldCursor,  // WITH HOLD: lives until closed
  CloseCursor,
  CloseAllCursors,
  Prepare,
  Deallocate,
  DeallocateAll,
  Listen,
  Unlisten,
  UnlistenAll,
  DiscardAll,        // all of it: settings, cursors, statements, LISTEN, temp objects, advisory locks
  DiscardTemp,
  DiscardSequences,
  DiscardPlans,
  CreateTemp,  // a temporary relation of that name; with a second one of the name nothing changes
};

// One change of a named thing; `name` is a view into the facts, empty for the "all" forms.
struct NamedEffect {
  NamedChange change = NamedChange::OpenCursor;
  std::string_view name;
  bool operator==(const NamedEffect&) const = default;
};

struct Effects {
  // From the moment the exchange is sent:
  bool may_have_temp = false;   // a temp object may exist afterwards
  // A session that has temporary objects may have others afterwards than those whose names are told by CreateTemp, or
  // user-defined code may hang on one.
  bool temp_unclear = false;
  bool opaque_state = false;    // session state may change in ways that the text does not tell (temp objects included)
  bool session_locks = false;   // session-level advisory locks may be held afterwards
  bool unusual_isolation = false;  // default_transaction_* may no longer be the usual; RESET is not counted here
  bool serializable_default = false;  // default_transaction_isolation may be serializable afterwards
  // Fails inside a transaction block, and so beside an injection in the same implicit transaction.
  bool refuses_block = false;
  // The catalogue may have changed once the statement (its transaction, if in a block) has committed: bump the epoch.
  // Functions and CALL are not counted, since each call would make all facts unknown: opaque_state tells that the catalogue
  // must be compared with what it was.
  bool changes_catalog = false;
  // changes_catalog is but a fear, since the text could not be classified: no bump is needed if no command tag of its
  // answer says tag_may_change_catalog.
  bool catalog_by_tag = false;
  std::vector<Unverified> unverified;  // may turn out to be opaque; copied from Resolved
  // On success, in this order (CreateTemp from the moment the exchange is sent):
  std::vector<NamedEffect> named;

  // Nothing at all happens to the session, as with most statements.
  bool none() const {
    return !may_have_temp && !opaque_state && !session_locks && !unusual_isolation && !serializable_default &&
           !refuses_block && !changes_catalog && unverified.empty() && named.empty();
  }
};

// FACTS must outlive the result's views. Allocates only where there are unverified names or named changes.
Effects effects(const parser::StatementFacts& facts, const Resolved& resolved);

// Whether a text writes, as disable_load_balance_on_write means it: data, the catalogue or row locks, or perhaps, by code
// that is not known to be harmless. Changes of the session alone do not count.
bool counts_as_write(const parser::StatementFacts& facts, const Resolved& resolved);

// ... and whether what was prepared with the text does, when it is executed.
bool execution_counts_as_write(const parser::StatementFacts& facts, const Resolved& resolved);

// False if a command that ended with TAG ("INSERT 0 1", "SELECT 5", ...) changed nothing that is known in the
// catalogue. For unclassified texts only: "SELECT 5" is also the tag of CREATE TABLE AS; that its table exists is
// learnt later.
bool tag_may_change_catalog(std::string_view tag);

}  // namespace weir::lb
