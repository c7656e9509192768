#include "test/compare/functions.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace weir::compare {
namespace {

// Never called: they end sessions, stop or steer the server, wait, write files, or take long.
constexpr const char* kHarmful = R"(
  ^(pg_sleep.*|pg_terminate_backend|pg_cancel_backend|pg_reload_conf|pg_rotate_logfile.*|pg_promote|pg_switch_wal
  |pg_create_restore_point|pg_(start|stop)_backup|pg_backup_.*|pg_.*replication_slot.*|pg_logical_.*|pg_replication_.*
  |lo_.*|lo(read|write|wrtie)|lowrite|pg_read_.*|pg_ls_.*|pg_stat_file|pg_wal_replay_.*|pg_stat_reset.*|binary_upgrade_.*
  |pg_import_system_collations|pg_log_backend_memory_contexts|pg_timezone_.*|database_to_.*|schema_to_.*|pg_nextoid
  |pg_export_snapshot|pg_extension_config_dump|pg_stop_making_pinned_objects|brin_.*|gin_clean_pending_list
  |pg_advisory_lock.*|pg_advisory_xact_lock.*|pg_current_logfile|pg_stat_have_stats|pg_blocking_pids|pg_safe_snapshot_.*
  |ts_stat|cursor_to_.*|pg_stat_clear_snapshot|pg_stat_force_next_flush)$)";

constexpr const char* kNature = "\
now clock_timestamp statement_timestamp transaction_timestamp timeofday random setseed gen_random_uuid \
pg_backend_pid inet_client_addr inet_client_port inet_server_addr inet_server_port txid_current \
txid_current_if_assigned txid_current_snapshot txid_snapshot_xmin txid_snapshot_xmax txid_status pg_current_xact_id \
pg_current_xact_id_if_assigned pg_current_snapshot pg_xact_status pg_current_wal_lsn pg_current_wal_insert_lsn \
pg_current_wal_flush_lsn pg_last_committed_xact pg_xact_commit_timestamp pg_postmaster_start_time pg_conf_load_time \
pg_relation_filepath pg_relation_filenode pg_my_temp_schema current_schemas pg_lock_status pg_cursor pg_prepared_statement \
pg_prepared_xact pg_listening_channels age mxid_age pg_walfile_name pg_walfile_name_offset pg_database_size \
pg_notification_queue_usage pg_show_all_settings pg_control_checkpoint pg_control_system pg_control_init \
pg_control_recovery pg_get_wal_resource_managers pg_get_shmem_allocations pg_get_backend_memory_contexts \
pg_total_relation_size pg_relation_size pg_table_size pg_indexes_size pg_tablespace_size pg_filenode_relation \
pg_get_multixact_members pg_visible_in_snapshot pg_show_replication_origin_status ";

using Values = std::vector<std::string>;
const std::map<std::string, Values>& values_of_types() {
  static const std::map<std::string, Values> values = {
      {"integer", {"-7", "-1", "0", "1", "2", "3", "5", "42", "100"}},
      {"bigint", {"-7", "0", "1", "2", "3", "99", "4294967296"}},
      {"smallint", {"-1", "0", "1", "2", "7", "99"}},
      {"oid", {"0", "1", "23", "25", "1259", "1247", "10", "11", "99999"}},
      {"text", {"",           "a",
                "row 3",      "Abc def",
                "ÄÖ",         "t1",
                "public",     "1",
                "{}",         "x''y",
                "a,b,c",      "%r%",
                "SELECT 1",   "UTF8",
                "work_mem",   "app",
                "seq",        "select",
                "english",    "simple",
                "2024-05-06", "nextval(''seq'')"}},
      {"name", {"a", "t1", "public", "app", "seq", "UTF8"}},
      {"cstring", {"1", "a", "{1,2}", "t1"}},
      {"\"char\"", {"a", "r", "s"}},
      {"character", {"a", "abc  "}},
      {"character varying", {"a", "b c", ""}},
      {"boolean", {"true", "false"}},
      {"real", {"0", "1.5", "-2.25", "1e10", "NaN"}},
      {"double precision", {"0", "1", "-1", "0.5", "3.14159", "1e100", "Infinity"}},
      {"numeric", {"0", "1", "-1.5", "3.14", "1e20", "NaN", "12345.6789"}},
      {"money", {"12.34", "-1"}},
      {"bytea", {"\\x", "\\x00ff10", "abc"}},
      {"date", {"2024-02-29", "1999-12-31", "infinity"}},
      {"time without time zone", {"12:34:56.789", "00:00"}},
      {"time with time zone", {"12:34:56+02", "00:00-08"}},
      {"timestamp without time zone", {"2024-02-29 12:34:56", "-infinity", "1970-01-01"}},
      {"timestamp with time zone", {"2024-02-29 12:34:56+03", "infinity", "2000-01-01 00:00+00"}},
      {"interval", {"1 day", "-3 months", "12:30", "1 year 2 days 3 hours"}},
      {"json", {"{\"a\": [1, {\"b\": null}]}", "[1, \"x\", true]", "null", "3"}},
      {"jsonb", {"{\"a\": [1, {\"b\": null}]}", "[1, \"x\", true]", "null", "3"}},
      {"jsonpath", {"$.a", "$[*] ? (@ > 1)", "$"}},
      {"xml", {"<a><b>1</b></a>", "<x/>", "text"}},
      {"uuid", {"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"}},
      {"inet", {"10.1.2.3/8", "::1", "192.168.0.1"}},
      {"cidr", {"10.0.0.0/8", "::/0"}},
      {"macaddr", {"08:00:2b:01:02:03"}},
      {"macaddr8", {"08:00:2b:01:02:03:04:05"}},
      {"bit", {"1", "0"}},
      {"bit varying", {"101", "", "1111"}},
      {"point", {"(1,2)", "(0,0)"}},
      {"lseg", {"[(0,0),(1,1)]"}},
      {"line", {"{1,-1,0}"}},
      {"box", {"(1,1),(0,0)", "(3,4),(1,2)"}},
      {"path", {"[(0,0),(1,1),(2,0)]", "((0,0),(1,1),(2,0))"}},
      {"polygon", {"((0,0),(1,1),(2,0))"}},
      {"circle", {"<(1,1),2>"}},
      {"tsvector", {"a:1 b:2 fat:3", ""}},
      {"tsquery", {"a & !b", "fat | rat"}},
      {"pg_lsn", {"0/0", "0/16B3748", "FFFFFFFF/0"}},
      {"xid", {"3", "700"}},
      {"xid8", {"3", "700"}},
      {"cid", {"1"}},
      {"tid", {"(0,1)"}},
      {"regclass", {"t1", "pg_am", "seq", "mat", "v_plain"}},
      {"regproc", {"f_imm", "pi"}},
      {"regprocedure", {"f_imm(int)", "abs(int)"}},
      {"regtype", {"int", "text", "mood"}},
      {"regnamespace", {"public", "pg_catalog"}},
      {"regrole", {"app"}},
      {"regconfig", {"english", "simple"}},
      {"regdictionary", {"simple", "english_stem"}},
      {"regcollation", {"\"C\""}},
      {"regoper", {"||/"}},
      {"regoperator", {"+(int,int)"}},
      {"aclitem", {"app=r/app"}},
      {"int2vector", {"1 2"}},
      {"oidvector", {"23 25"}},
      {"refcursor", {"c1"}},
      {"txid_snapshot", {"10:20:10,14"}},
      {"pg_snapshot", {"10:20:10,14"}},
      {"int4range", {"[1,5)", "empty", "(,3]"}},
      {"int8range", {"[1,5)"}},
      {"numrange", {"[1.5,2.5]", "empty"}},
      {"daterange", {"[2024-01-01,2024-02-01)"}},
      {"tsrange", {"[2024-01-01,2024-02-01)"}},
      {"tstzrange", {"[2024-01-01,2024-02-01)"}},
      {"int4multirange", {"{[1,2),[5,9)}", "{}"}},
      {"int8multirange", {"{[1,2)}"}},
      {"nummultirange", {"{[1,2)}"}},
      {"datemultirange", {"{}"}},
  };
  return values;
}

// Polymorphic types stand for one of these; all of a call for the same.
const std::map<std::string, std::string>& polymorphic() {
  static const std::map<std::string, std::string> types = {
      {"anyelement", "integer"},
      {"anynonarray", "integer"},
      {"anyarray", "integer[]"},
      {"anyenum", "mood"},
      {"anyrange", "int4range"},
      {"anymultirange", "int4multirange"},
      {"anycompatible", "integer"},
      {"anycompatiblearray", "integer[]"},
      {"anycompatiblenonarray", "integer"},
      {"anycompatiblerange", "int4range"},
      {"anycompatiblemultirange", "int4multirange"},
      {"\"any\"", "integer"},
      {"record", "record"},
  };
  return types;
}

std::string array_literal(Random& random, const std::string& element) {
  const auto found = values_of_types().find(element);
  if (found == values_of_types().end())
    return "";
  std::string out = "ARRAY[";
  for (int i = random.below(3); i >= 0; --i)
    out += "'" + random.pick(found->second) + (i > 0 ? "'," : "'");
  return out + "]::" + element + "[]";
}

std::string arguments(Random& random, const BuiltIn& function) {
  std::string out;
  for (const std::string& type : function.types) {
    const std::string value = literal(random, type);
    if (value.empty())
      return "";
    out += (out.empty() ? "" : ", ") + value;
  }
  return out;
}

} // namespace

bool differs_by_nature(const std::string& name) {
  if (name.rfind("pg_stat_", 0) == 0)
    return true;
  return std::string_view(kNature).find(" " + name + " ") != std::string_view::npos ||
         name == "now";
}

std::vector<BuiltIn> built_ins(test::Connection& connection) {
  const std::string sql =
      "SELECT proname, array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes) "
      "WITH ORDINALITY u(t, n) "
      "ORDER BY n), ';'), prokind, proretset FROM pg_proc p WHERE pronamespace = "
      "'pg_catalog'::regnamespace "
      "AND prokind IN ('f', 'a', 'w') AND NOT ('internal'::regtype = ANY (proargtypes) OR "
      "'trigger'::regtype = prorettype "
      "OR prorettype::regtype::text ~ '_handler|event_trigger|internal|cstring') "
      "AND proname !~ $x$" +
      [] {
        std::string pattern = kHarmful;
        pattern.erase(std::remove_if(pattern.begin(), pattern.end(),
                                     [](char c) { return c == ' ' || c == '\n'; }),
                      pattern.end());
        return pattern;
      }() +
      "$x$ ORDER BY proname COLLATE \"C\", p.oid";
  std::vector<BuiltIn> found;
  for (const test::Row& row : connection.exec(sql).rows) {
    BuiltIn one;
    one.name = *row[0];
    std::string types = *row[1];
    for (std::size_t end = 0; !types.empty();
         types.erase(0, end == std::string::npos ? end : end + 1)) {
      end = types.find(';');
      one.types.push_back(types.substr(0, end));
    }
    one.kind = row[2]->front();
    one.set = *row[3] == "t";
    one.differs = differs_by_nature(one.name);
    // Up to infinity, or to the largest number, it never ends.
    if (one.name == "generate_series" && (one.types.empty() || one.types.back() != "integer"))
      continue;
    Random any(1);
    const bool possible =
        std::all_of(one.types.begin(), one.types.end(),
                    [&](const std::string& type) { return !literal(any, type).empty(); });
    if (possible)
      found.push_back(std::move(one));
  }
  return found;
}

std::string bare_literal(Random& random, const std::string& type) {
  const auto found = values_of_types().find(type);
  return found == values_of_types().end() ? "" : random.pick(found->second);
}

std::string literal(Random& random, const std::string& type) {
  const auto stands = polymorphic().find(type);
  const std::string& real = stands == polymorphic().end() ? type : stands->second;
  if (random.chance(4) && real != "record")
    return "NULL::" + real;
  if (real == "record")
    return "ROW(" + std::to_string(random.below(5)) + ", 'r')";
  if (real == "mood")
    return "'ok'::public.mood";
  if (real.size() > 2 && real.compare(real.size() - 2, 2, "[]") == 0)
    return array_literal(random, real.substr(0, real.size() - 2));
  const auto found = values_of_types().find(real);
  return found == values_of_types().end() ? "" : "'" + random.pick(found->second) + "'::" + real;
}

std::string call(Random& random, const BuiltIn& function) {
  const std::string schema = random.chance(20) ? "pg_catalog." : "";
  std::string text = schema + "\"" + function.name + "\"(";
  if (function.kind == 'w')
    return text + arguments(random, function) + ") OVER (ORDER BY id)";
  if (function.kind == 'a' && function.types.empty())
    text += "*";
  return text + arguments(random, function) + ")";
}

} // namespace weir::compare
