// The routing decision for one exchange: all statements of a Query string, or all that an extended batch executes up to
// its Sync. Pure and free of allocation.
#pragma once

#include <optional>
#include <span>

#include "lb/policy.h"
#include "lb/resolve.h"
#include "lb/session_routing.h"
#include "lb/target.h"
#include "parser/facts.h"

namespace weir::lb {

struct RouteItem {
  const parser::StatementFacts* facts = nullptr;
  const Resolved* resolved = nullptr;
  bool primary_pattern = false;  // Policy::matches_primary_pattern of its text, or of what it executes
  // Of a text that is one EXECUTE: the text that the statement of that name was prepared with, and what its names mean
  // now. Null if that is not known, or a standby's copy could mean something else, for this reason.
  const parser::StatementFacts* executed = nullptr;
  const Resolved* executed_resolved = nullptr;
  Reason not_executed = Reason::SqlPrepare;
  // It, or what it executes, may read what was written (reads_written): WrittenTable or RecentlyWritten.
  std::optional<Reason> kept_by_write{};
};

// Where the exchange goes. ITEMS in the order in which they run.
// While a BEGIN is answered but not sent yet (session.block_held) the exchange opens its block wherever it goes.
//   Primary       all doubt; with reason BlockMoves the open block must first be moved there from its standby
//   AnyReadable   every statement is a plain read, or the exchange opens a READ COMMITTED block with plain reads in it
//                 with target.aside: a block is open on the primary, and a plain read may run on a standby beside it
//   SameNode      a block is open: on the primary, or on a standby (then everything in the exchange may stay there)
//   Node          a plain read that a hint sends to one node; if that is not usable, the primary
//   Local         SHOW POOL_NODES and its kin alone
Target route(std::span<const RouteItem> items, const SessionRouting& session, const Policy& policy);

// Whether a lone BEGIN should be answered without a server, since the first statement of its block may be for a standby
// (rule 10 of the session rules).
bool may_hold(const parser::Statement& begin, const SessionRouting& session, const Policy& policy);

}  // namespace weir::lb
