// Why something may not run on a standby: one question a function, no answer meaning that it does not object.
#pragma once

#include <optional>
#include <string_view>

#include "lb/session_routing.h"
#include "lb/target.h"
#include "parser/facts.h"

namespace weir::lb {

// By the kind of statement alone.
std::optional<Reason> objection_of_kind(parser::StatementKind kind);

// What keeps every text of the session on the primary, read or not: it cannot even be classified.
std::optional<Reason> objection_of_text(const SessionRouting& session);

// What keeps the session's reads on the primary.
std::optional<Reason> objection_of_session(const SessionRouting& session);

// What in the statement's own text makes it no plain read, beside its kind.
std::optional<Reason> objection_of_features(const parser::Statement& statement);

// A name of the statement may mean one of the session's temporary objects. What looks names up when it runs is told by
// Resolved::late_names.
bool may_name_temp(const parser::Statement& statement, const SessionRouting& session);

// True for a setting that is fixed when a server is built or a cluster is made, so that every node of it shows the
// same.
bool same_everywhere(std::string_view parameter);

}  // namespace weir::lb
