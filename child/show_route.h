// The answer to SHOW ROUTE: a decision, what it was made of, and the nodes that it leaves open, as one row. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/admin/rowset.h"
#include "common/shmem/node_view.h"
#include "lb/eligible.h"
#include "lb/explain.h"
#include "lb/target.h"
#include "parser/facts.h"

namespace weir::child {

struct RouteAnswer {
  lb::Target target;
  std::vector<int> nodes;  // ids that the decision may mean now; empty: none is known, or it is pgweir's own
  std::size_t statements = 0;
  std::vector<lb::NameFact> names;
  bool more_names = false;  // there are more than are told
  std::vector<std::string_view> session;
  bool dry_run = false;  // routing_dry_run: the primary gets it whatever is decided
};

// The nodes that TARGET may mean: HELD is where the open block or the session is (-1: nowhere), READER the node drawn
// for the session's reads (-1: one is drawn for each statement, or none was yet), EXCLUDED those to which a connection
// could not be made a moment ago.
std::vector<int> route_nodes(const lb::Target& target, const shmem::NodeView& view, int held, int reader,
                             const lb::NodeSet& excluded);

// target, nodes ("1,2"), reason and cause as codes of lb/reasons.def, explanation in words, statements (int4), facts: a
// line for each name and for each thing that counts of the session.
std::vector<admin::Column> route_columns();
admin::Rowset show_route(const RouteAnswer& answer);

}  // namespace weir::child
