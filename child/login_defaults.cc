#include "child/login_defaults.h"

#include "common/base/sql_literal.h"

namespace weir::child {
bool may_change_login(std::string_view tag) { return tag == "ALTER ROLE" || tag == "ALTER DATABASE" || tag == "DROP ROLE"; }

std::string fingerprint_of_defaults(std::string_view user) {
  return "(SELECT pg_catalog.concat(r.oid, '/', (SELECT pg_catalog.hashtextextended(pg_catalog.string_agg("
         "pg_catalog.concat_ws('/', s.setdatabase, s.setrole, s.setconfig), ',' ORDER BY s.setdatabase, s.setrole), 0) "
         "FROM pg_catalog.pg_db_role_setting s "
         "WHERE (s.setrole OPERATOR(pg_catalog.=) 0 OR s.setrole OPERATOR(pg_catalog.=) r.oid) "
         "AND (s.setdatabase OPERATOR(pg_catalog.=) 0 OR s.setdatabase OPERATOR(pg_catalog.=) d.oid))) "
         "FROM pg_catalog.pg_roles r, pg_catalog.pg_database d "
         "WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() AND r.rolname OPERATOR(pg_catalog.=) " +
         sql_literal(user) + ")";
}

std::string ask_fingerprint(std::string_view user) { return "SELECT " + fingerprint_of_defaults(user); }

}  // namespace weir::child
