// What differs between the libpg_query versions that we build with: Debian 12 has the grammar of
// PostgreSQL 15, Debian 13 that of 17. Numbers of enumerators and of node cases differ too: they
// are never stored, only named. Messages and fields used elsewhere are those that both have.
#pragma once

#include <pg_query.h>

namespace weir::parser {

#if PG_VERSION_NUM < 140000
#error "libpg_query with the grammar of PostgreSQL 14 or later is needed"
#endif

// DeclareCursorStmt.options is a set of bits that the protobuf schema does not name
// (CURSOR_OPT_HOLD, since 14).
inline constexpr int kCursorHold = 0x0020;

} // namespace weir::parser
