#include "parser/names.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace weir::parser {
namespace {

template <typename Table>
bool in(const Table& table, std::string_view name) {
  return std::find(std::begin(table), std::end(table), name) != std::end(table);
}

bool contains_word(std::string_view text, std::string_view lower) {
  const auto it = std::search(text.begin(), text.end(), lower.begin(), lower.end(),
                              [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  return it != text.end();
}

}  // namespace

bool is_now_like(std::string_view function) {
  static constexpr std::string_view kNames[] = {"now", "transaction_timestamp", "statement_timestamp", "txid_current", "txid_current_if_assigned",
                                                "txid_current_snapshot", "txid_snapshot_xmin", "pg_current_xact_id", "pg_current_xact_id_if_assigned",
                                                "pg_current_snapshot", "pg_backend_pid", "pg_export_snapshot", "age"};
  return in(kNames, function);
}

bool literal_matters(std::string_view function) {
  static constexpr std::string_view kNames[] = {"set_config", "current_setting", "nextval", "currval", "setval", "lastval", "query_to_xml",
                                                "query_to_xmlschema", "query_to_xml_and_xmlschema", "table_to_xml", "table_to_xmlschema",
                                                "cursor_to_xml", "schema_to_xml", "database_to_xml", "ts_stat", "ts_rewrite", "crosstab", "connectby"};
  return in(kNames, function) || function.starts_with("dblink") || function.starts_with("pg_advisory") || function.starts_with("pg_try_advisory") ||
         function.starts_with("to_reg");
}

bool is_date_word(std::string_view literal) {
  return contains_word(literal, "now") || contains_word(literal, "today") || contains_word(literal, "tomorrow") || contains_word(literal, "yesterday");
}

bool is_pool_show(std::string_view name) {
  static constexpr std::string_view kNames[] = {"pool_nodes", "pool_processes", "pool_pools", "pool_status", "pool_version",
                                                "pool_cache", "pool_health_check_stats", "pool_backend_stats"};
  return in(kNames, name);
}

bool contains_temp(std::string_view text) { return contains_word(text, "pg_temp"); }

}  // namespace weir::parser
