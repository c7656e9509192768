// What a routing decision was made of, for SHOW ROUTE: each name of the text with what the catalogue says of it, and
// what the session has that counts. Pure; never on a query's path.
#pragma once

#include <string_view>
#include <vector>

#include "common/shmem/catalog_view.h"
#include "lb/policy.h"
#include "lb/resolve.h"
#include "lb/session_routing.h"
#include "lb/target.h"
#include "parser/facts.h"

namespace weir::lb {

struct NameFact {
  NameUse use = NameUse::Read;
  parser::Name name;
  // Unknown: the catalogue has not been asked for it yet.
  Verdict verdict = Verdict::Plain;
  Reason reason = Reason::PlainRead;
};

// Every name that FACTS use, each use once, in the order of the statements; at most LIMIT of them.
std::vector<NameFact> explain_names(const parser::StatementFacts& facts, const ResolveInput& input, const Policy& policy,
                                    const shmem::CatalogView& catalog, std::size_t limit);

// "relation", "written relation", "function", "operator", "type".
std::string_view use_text(NameUse use);

// What keeps this session's statements from being spread freely, in words; nothing for a fresh one.
std::vector<std::string_view> explain_session(const SessionRouting& session);

// Where a decision sends an exchange, in a word: primary, any, standby, node, same node, local.
std::string_view scope_text(const Target& target);

}  // namespace weir::lb
