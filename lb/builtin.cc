#include "lb/builtin.h"

#include <algorithm>
#include <array>

namespace weir::lb {
namespace {

constexpr std::array<std::string_view, 1611> kHarmless = {
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

// The tables of pg_catalog, and those of its views that show nothing else.
constexpr std::array<std::string_view, 80> kPlainRelations = {
    "pg_aggregate", "pg_am", "pg_amop", "pg_amproc", "pg_attrdef", "pg_attribute", "pg_auth_members", "pg_authid",
    "pg_cast", "pg_class", "pg_collation", "pg_constraint", "pg_conversion", "pg_database", "pg_db_role_setting",
    "pg_default_acl", "pg_depend", "pg_description", "pg_enum", "pg_event_trigger", "pg_extension",
    "pg_foreign_data_wrapper", "pg_foreign_server", "pg_foreign_table", "pg_group", "pg_index", "pg_indexes",
    "pg_inherits", "pg_init_privs", "pg_language", "pg_largeobject", "pg_largeobject_metadata", "pg_matviews",
    "pg_namespace", "pg_opclass", "pg_operator", "pg_opfamily", "pg_parameter_acl", "pg_partitioned_table",
    "pg_policies", "pg_policy", "pg_proc", "pg_publication", "pg_publication_namespace", "pg_publication_rel",
    "pg_publication_tables", "pg_range", "pg_replication_origin", "pg_rewrite", "pg_roles", "pg_rules", "pg_seclabel",
    "pg_seclabels", "pg_sequence", "pg_shadow", "pg_shdepend", "pg_shdescription", "pg_shseclabel", "pg_statistic",
    "pg_statistic_ext", "pg_statistic_ext_data", "pg_stats", "pg_stats_ext", "pg_stats_ext_exprs", "pg_subscription",
    "pg_subscription_rel", "pg_tables", "pg_tablespace", "pg_transform", "pg_trigger", "pg_ts_config",
    "pg_ts_config_map", "pg_ts_dict", "pg_ts_parser", "pg_ts_template", "pg_type", "pg_user", "pg_user_mapping",
    "pg_user_mappings", "pg_views",
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
static_assert(strictly_sorted(kPlainRelations));

}  // namespace

BuiltinFunction builtin_function(std::string_view name) {
  if (contains(kHarmless, name)) return BuiltinFunction::Harmless;
  if (contains(kOpaque, name)) return BuiltinFunction::OpaqueEffect;
  if (contains(kSessionLock, name)) return BuiltinFunction::SessionLock;
  return BuiltinFunction::NeedsPrimary;
}

bool looks_names_up(std::string_view function) {
  // Of text, numbers and types that have been looked up.
  if (function.starts_with("regexp_") || function.starts_with("regr_")) return false;
  for (const std::string_view name : {"pg_typeof", "pg_size_pretty", "pg_size_bytes", "pg_column_size", "pg_client_encoding"}) {
    if (function == name) return false;
  }
  return function.starts_with("pg_") || function.starts_with("reg") || function.starts_with("to_reg") ||
         function.starts_with("has_") || function == "format_type" || function == "current_schemas";
}

bool system_relation_is_plain(std::string_view schema, std::string_view name) {
  return schema == "information_schema" || (schema == "pg_catalog" && contains(kPlainRelations, name));
}

std::span<const std::string_view> harmless_functions() { return kHarmless; }

BuiltinType builtin_type(std::string_view name) {
  if (contains(kTypes, name)) return BuiltinType::Ordinary;
  if (contains(kObjectNameTypes, name)) return BuiltinType::ObjectName;
  return BuiltinType::NotBuiltin;
}

}  // namespace weir::lb
