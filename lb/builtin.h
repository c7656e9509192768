// What is known of PostgreSQL's own functions and types by name. A name here says nothing about a user-defined object
// of the same name: that is the catalogue's to say.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weir::lb {

// Harmless: may run on any node. NeedsPrimary: means something else or fails on a standby, or writes, or is not known,
// but leaves the session's state as the text tells. SessionLock: takes or gives back a session-level advisory lock.
// OpaqueEffect: changes state that no query shows, or runs a text or an input function given at run time.
enum class BuiltinFunction : std::uint8_t { Harmless, NeedsPrimary, SessionLock, OpaqueEffect };

BuiltinFunction builtin_function(std::string_view name);

// The function looks a name up that is given at run time, or says whether an object is visible: its answer hangs on the
// session's temporary objects. Told by the name alone; true for more than do.
bool looks_names_up(std::string_view function);

// True for the catalogues and views of PostgreSQL's own that hold what every node has replayed; false for those that
// show the node's or the connection's own state (pg_stat_*, pg_locks, pg_settings, ...), and for unknown ones.
bool system_relation_is_plain(std::string_view schema, std::string_view name);

// All harmless names, sorted.
std::span<const std::string_view> harmless_functions();

// Ordinary: a base, range or multirange type of pg_catalog. ObjectName: regclass and its kin, whose values are names
// looked up at run time. NotBuiltin: anything else.
enum class BuiltinType : std::uint8_t { Ordinary, ObjectName, NotBuiltin };

BuiltinType builtin_type(std::string_view name);

}  // namespace weir::lb
