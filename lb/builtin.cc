#include "lb/builtin.h"

#include <algorithm>
#include <array>

namespace weir::lb {
namespace {

constexpr std::array<std::string_view, 1594> kHarmless = {
#include "lb/harmless_functions.inc"
};

constexpr std::array<std::string_view, 6> kSessionLock = {
    "pg_advisory_lock",         "pg_advisory_lock_shared", "pg_advisory_unlock",
    "pg_advisory_unlock_shared", "pg_try_advisory_lock",   "pg_try_advisory_lock_shared",
};

// Slots and backups belong to the session that made them; *_to_xml, ts_stat and ts_rewrite run texts or read relations
// given at run time; *_in functions run the input function, and so the checks, of a type given at run time.
constexpr std::array<std::string_view, 37> kOpaque = {
    "array_in",
    "cursor_to_xml",
    "cursor_to_xmlschema",
    "database_to_xml",
    "database_to_xml_and_xmlschema",
    "database_to_xmlschema",
    "domain_in",
    "domain_recv",
    "multirange_in",
    "pg_backup_start",
    "pg_backup_stop",
    "pg_copy_logical_replication_slot",
    "pg_copy_physical_replication_slot",
    "pg_create_logical_replication_slot",
    "pg_create_physical_replication_slot",
    "pg_input_error_info",
    "pg_input_is_valid",
    "pg_replication_origin_session_reset",
    "pg_replication_origin_session_setup",
    "pg_replication_origin_xact_reset",
    "pg_replication_origin_xact_setup",
    "pg_start_backup",
    "pg_stop_backup",
    "query_to_xml",
    "query_to_xml_and_xmlschema",
    "query_to_xmlschema",
    "range_in",
    "record_in",
    "schema_to_xml",
    "schema_to_xml_and_xmlschema",
    "schema_to_xmlschema",
    "setseed",
    "table_to_xml",
    "table_to_xml_and_xmlschema",
    "table_to_xmlschema",
    "ts_rewrite",
    "ts_stat",
};

constexpr std::array<std::string_view, 64> kTypes = {
    "aclitem",       "bit",         "bool",       "box",            "bpchar",         "bytea",     "char",
    "cid",           "cidr",        "circle",     "date",           "datemultirange", "daterange", "float4",
    "float8",        "gtsvector",   "inet",       "int2",           "int4",           "int4multirange",
    "int4range",     "int8",        "int8multirange", "int8range",  "interval",       "json",      "jsonb",
    "jsonpath",      "line",        "lseg",       "macaddr",        "macaddr8",       "money",     "name",
    "numeric",       "nummultirange", "numrange", "oid",            "path",           "pg_lsn",    "pg_snapshot",
    "point",         "polygon",     "refcursor",  "text",           "tid",            "time",      "timestamp",
    "timestamptz",   "timetz",      "tsmultirange", "tsquery",      "tsrange",        "tstzmultirange",
    "tstzrange",     "tsvector",    "txid_snapshot", "uuid",        "varbit",         "varchar",   "void",
    "xid",           "xid8",        "xml",
};

constexpr std::array<std::string_view, 11> kObjectNameTypes = {
    "regclass", "regcollation", "regconfig", "regdictionary", "regnamespace", "regoper",
    "regoperator", "regproc", "regprocedure", "regrole", "regtype",
};

template <std::size_t N>
constexpr bool contains(const std::array<std::string_view, N>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

template <std::size_t N>
constexpr bool strictly_sorted(const std::array<std::string_view, N>& names) {
  for (std::size_t i = 1; i < N; ++i) {
    if (!(names[i - 1] < names[i])) return false;
  }
  return true;
}

static_assert(strictly_sorted(kSessionLock));
static_assert(strictly_sorted(kOpaque));
static_assert(strictly_sorted(kTypes));
static_assert(strictly_sorted(kObjectNameTypes));

}  // namespace

BuiltinFunction builtin_function(std::string_view name) {
  if (contains(kHarmless, name)) return BuiltinFunction::Harmless;
  if (contains(kOpaque, name)) return BuiltinFunction::OpaqueEffect;
  if (contains(kSessionLock, name)) return BuiltinFunction::SessionLock;
  return BuiltinFunction::NeedsPrimary;
}

std::span<const std::string_view> harmless_functions() { return kHarmless; }

BuiltinType builtin_type(std::string_view name) {
  if (contains(kTypes, name)) return BuiltinType::Ordinary;
  if (contains(kObjectNameTypes, name)) return BuiltinType::ObjectName;
  return BuiltinType::NotBuiltin;
}

}  // namespace weir::lb
