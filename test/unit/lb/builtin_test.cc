#include "lb/builtin.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <string>

namespace weir::lb {
namespace {

TEST(Builtin, TheListIsSortedAndWithoutDoubles) {
  const auto names = harmless_functions();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GT(names.size(), 1500U);
  EXPECT_FALSE(names.back().empty());
}

TEST(Builtin, NothingThatDependsOnTheNodeOrTheConnectionIsHarmless) {
  const RE2 forbidden(
      "txid_.*|pg_current_xact_id.*|pg_current_snapshot|pg_snapshot.*|pg_visible_in_snapshot|pg_xact_.*|pg_stat_.*|"
      "pg_backend_pid|inet_(client|server)_.*|pg_is_.*wal.*|pg_is_in_.*|pg_last_.*|pg_wal.*|pg_current_.*|"
      "pg_postmaster_start_time|pg_conf_load_time|pg_.*_size|current_setting|pg_my_temp_schema|"
      "pg_is_other_temp_schema|.*_to_xml|.*_to_xmlschema|.*_and_xmlschema|ts_stat|ts_rewrite|lo_.*|loread|lowrite|"
      "currval|lastval|nextval|setval|pg_listening_channels|pg_cursor|pg_prepared_statement|pg_prepared_xact|"
      "pg_show_.*|pg_ls_.*|pg_read.*|.*advisory.*|dblink.*|set_config|setseed|pg_notify|pg_export_snapshot|"
      "pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_promote|pg_switch_wal|pg_create_.*|pg_drop_.*|"
      "pg_logical_.*|pg_replication_.*|pg_lock_status|pg_timezone_.*|pg_config|pg_available_.*|pg_tablespace_.*|"
      "pg_trigger_depth|pg_event_trigger_.*|binary_upgrade_.*|pg_input_.*|domain_in|array_in|"
      "record_in|brin_(de)?summarize.*|gin_clean_.*|pg_import_.*|pg_backup_.*|pg_start_backup|pg_stop_backup|"
      "pg_control_.*|"
      "pg_hba_.*|pg_get_replication_slots|pg_blocking_pids|pg_stop_making_pinned_objects|pg_nextoid|currtid.*|"
      "pg_sequence_last_value|pg_relation_file.*|pg_filenode_.*");
  ASSERT_TRUE(forbidden.ok());
  for (const std::string_view name : harmless_functions()) {
    if (name == "pg_column_size" || name == "pg_wal_lsn_diff") continue;  // of values
    EXPECT_FALSE(RE2::FullMatch(re2::StringPiece(name.data(), name.size()), forbidden)) << name;
  }
}

TEST(Builtin, EverydayFunctionsAreHarmless) {
  for (const char* name :
       {"count", "sum", "avg", "min", "max", "now", "lower", "upper", "length", "substring", "substr",
        "to_char", "to_date", "to_timestamp", "date_trunc", "date_part", "extract", "age", "random",
        "clock_timestamp", "timeofday", "gen_random_uuid", "pg_sleep", "generate_series", "unnest", "array_agg",
        "string_agg", "json_agg", "jsonb_build_object", "row_number", "rank", "lag", "abs", "round", "floor", "md5",
        "sha256", "concat", "format", "replace", "split_part", "regexp_replace", "jsonb_path_query", "to_tsvector",
        "ts_rank", "version", "current_database", "current_schema", "pg_typeof", "any_value", "uuidv7", "like",
        "similar_to_escape", "position", "overlay", "btrim", "timezone", "xpath", "int4", "float8", "numeric",
        "percentile_cont", "width_bucket", "bernoulli", "system"}) {
    EXPECT_EQ(builtin_function(name), BuiltinFunction::Harmless) << name;
  }
}

TEST(Builtin, WhatChangesStateThatNobodySeesIsOpaque) {
  for (const char* name : {"setseed", "query_to_xml", "cursor_to_xml", "table_to_xml_and_xmlschema", "ts_stat",
                           "ts_rewrite", "pg_create_logical_replication_slot", "pg_backup_start", "domain_in",
                           "pg_replication_origin_session_setup"}) {
    EXPECT_EQ(builtin_function(name), BuiltinFunction::OpaqueEffect) << name;
  }
}

TEST(Builtin, SessionLocksAreKnown) {
  for (const char* name : {"pg_advisory_lock", "pg_try_advisory_lock", "pg_advisory_lock_shared"}) {
    EXPECT_EQ(builtin_function(name), BuiltinFunction::SessionLock) << name;
  }
  // Given back at the end of the transaction.
  EXPECT_EQ(builtin_function("pg_advisory_xact_lock"), BuiltinFunction::NeedsPrimary);
  EXPECT_EQ(builtin_function("pg_advisory_unlock_all"), BuiltinFunction::NeedsPrimary);
}

TEST(Builtin, AnUnknownNameNeedsThePrimary) {
  for (const char* name : {"", "nextval", "COUNT", "count ", "my_function", "pg_current_wal_lsn", "currval"}) {
    EXPECT_EQ(builtin_function(name), BuiltinFunction::NeedsPrimary) << name;
  }
}

TEST(Builtin, SystemRelations) {
  for (const char* name : {"pg_class", "pg_type", "pg_tables", "pg_stats", "pg_sequence", "pg_user"}) {
    EXPECT_TRUE(system_relation_is_plain("pg_catalog", name)) << name;
  }
  for (const char* name : {"pg_stat_activity", "pg_stat_user_tables", "pg_statio_all_tables", "pg_locks", "pg_settings",
                           "pg_sequences", "pg_replication_slots", "pg_cursors", "pg_prepared_xacts",
                           "pg_file_settings", "pg_available_extensions", "nobody", ""}) {
    EXPECT_FALSE(system_relation_is_plain("pg_catalog", name)) << name;
  }
  EXPECT_TRUE(system_relation_is_plain("information_schema", "tables"));
  EXPECT_FALSE(system_relation_is_plain("pg_toast", "pg_toast_1"));
  EXPECT_FALSE(system_relation_is_plain("public", "pg_class"));
}

TEST(Builtin, WhatLooksNamesUp) {
  for (const char* name : {"to_regclass", "regclass", "pg_table_is_visible", "has_table_privilege", "format_type"}) {
    EXPECT_TRUE(looks_names_up(name)) << name;
  }
  for (const char* name : {"count", "lower", "int4pl", "regexp", ""}) {
    EXPECT_EQ(looks_names_up(name), std::string(name) == "regexp") << name;
  }
}

TEST(Builtin, Types) {
  for (const char* name : {"int4", "text", "uuid", "timestamptz", "jsonb", "numeric", "bpchar", "varchar", "bool",
                           "float8", "inet", "bytea", "interval", "date", "int8", "xml", "tstzrange", "char"}) {
    EXPECT_EQ(builtin_type(name), BuiltinType::Ordinary) << name;
  }
  for (const char* name : {"regclass", "regproc", "regprocedure", "regtype", "regrole", "regnamespace", "regoper",
                           "regoperator", "regconfig", "regdictionary", "regcollation"}) {
    EXPECT_EQ(builtin_type(name), BuiltinType::ObjectName) << name;
  }
  for (const char* name : {"", "citext", "integer", "Text", "_text", "record"}) {
    EXPECT_EQ(builtin_type(name), BuiltinType::NotBuiltin) << name;
  }
}

}  // namespace
}  // namespace weir::lb
