// What the server gives a session at login by ALTER ROLE ... SET and ALTER DATABASE ... SET, and how pgweir notices that it
// has changed: a statement that may have done so is known by its command tag, and counted in shared memory once its
// transaction is over (ServerStatus::login_changes). The next client of a (database, user) that logs in then has the
// primary asked for a fingerprint of what is set for the two. If it is another than before, the connections that were opened
// until then serve nobody new. A standby gets new connections of the pair only once it has the same fingerprint: it may
// not have replayed the change yet. Pure.
#pragma once

#include <string>
#include <string_view>

namespace weir::child {

// TAG: of CommandComplete. True of ALTER ROLE, ALTER DATABASE and DROP ROLE of all kinds (one of that name may come again).
bool may_change_login(std::string_view tag);

// An SQL expression: a text that tells the settings of USER in the database of the connection, and which role USER is. The same
// on all nodes that have replayed the same.
std::string fingerprint_of_defaults(std::string_view user);
std::string ask_fingerprint(std::string_view user);  // a SELECT of one row

}  // namespace weir::child
