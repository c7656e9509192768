// The routing decision for one exchange: all statements of a Query string, or all that an extended batch executes up to
// its Sync. Pure and free of allocation.
#pragma once

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
  bool primary_pattern = false;  // Policy::matches_primary_pattern of its text
};

// Where the exchange goes. ITEMS in the order in which they run.
// While a BEGIN is answered but not sent yet, no block is open anywhere: give its facts (and those of a SET TRANSACTION
// held with it) as the first items and session.transaction_status 'I'.
//   Primary       all doubt; with reason BlockMoves the open block must first be moved there from its standby
//   AnyReadable   every statement is a plain read, or the exchange opens a READ ONLY block with plain reads in it
//   SameNode      a block is open: on the primary, or on a standby (then everything in the exchange may stay there)
//   Node          a plain read that a hint sends to one node; if that is not usable, the primary
//   Local         SHOW POOL_NODES and its kin alone
Target route(std::span<const RouteItem> items, const SessionRouting& session, const Policy& policy);

}  // namespace weir::lb
