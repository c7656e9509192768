#include "parser/names.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weir::parser {
namespace {

constexpr std::size_t kMaxDateText = 128; // the server refuses longer dates

char fold(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

template <std::size_t N>
bool in(const std::array<std::string_view, N>& table, std::string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

bool same(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(),
                    [](char a, char b) { return fold(a) == b; });
}

bool is_date_word(std::string_view word) {
  switch (fold(word.front())) {
  case 'n':
    return same(word, "now");
  case 't':
    return same(word, "today") || same(word, "tomorrow");
  case 'y':
    return same(word, "yesterday");
  default:
    return false;
  }
}

} // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), fold);
  return out;
}

bool is_now_like(std::string_view function) {
  static constexpr std::array<std::string_view, 19> kNames = {"now",
                                                              "transaction_timestamp",
                                                              "statement_timestamp",
                                                              "age",
                                                              "timeofday",
                                                              "clock_timestamp",
                                                              "txid_current",
                                                              "txid_current_if_assigned",
                                                              "txid_current_snapshot",
                                                              "txid_snapshot_xmin",
                                                              "txid_snapshot_xmax",
                                                              "txid_snapshot_xip",
                                                              "txid_visible_in_snapshot",
                                                              "pg_current_xact_id",
                                                              "pg_current_xact_id_if_assigned",
                                                              "pg_current_snapshot",
                                                              "pg_visible_in_snapshot",
                                                              "pg_backend_pid",
                                                              "pg_export_snapshot"};
  return in(kNames, function);
}

bool literal_matters(std::string_view function) {
  static constexpr std::array<std::string_view, 27> kNames = {"set_config",
                                                              "current_setting",
                                                              "setseed",
                                                              "nextval",
                                                              "currval",
                                                              "setval",
                                                              "lastval",
                                                              "query_to_xml",
                                                              "query_to_xmlschema",
                                                              "query_to_xml_and_xmlschema",
                                                              "cursor_to_xml",
                                                              "cursor_to_xmlschema",
                                                              "table_to_xml",
                                                              "table_to_xmlschema",
                                                              "table_to_xml_and_xmlschema",
                                                              "schema_to_xml",
                                                              "schema_to_xmlschema",
                                                              "schema_to_xml_and_xmlschema",
                                                              "database_to_xml",
                                                              "database_to_xmlschema",
                                                              "database_to_xml_and_xmlschema",
                                                              "ts_stat",
                                                              "ts_rewrite",
                                                              "crosstab",
                                                              "connectby",
                                                              "pg_notify",
                                                              "pg_get_serial_sequence"};
  return in(kNames, function) || function.starts_with("dblink") ||
         function.starts_with("pg_advisory") || function.starts_with("pg_try_advisory") ||
         function.starts_with("to_reg");
}

bool is_reg_type(std::string_view type) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "regclass", "regproc",      "regprocedure", "regoper",       "regoperator", "regtype",
      "regrole",  "regnamespace", "regconfig",    "regdictionary", "regcollation"};
  return in(kNames, type);
}

bool has_date_word(std::string_view literal, std::size_t doubled) {
  if (literal.size() - doubled > kMaxDateText)
    return false;
  std::size_t i = 0;
  while (i < literal.size()) {
    if (!is_letter(literal[i])) {
      ++i;
      continue;
    }
    const std::size_t start = i;
    while (i < literal.size() && is_letter(literal[i]))
      ++i;
    if (is_date_word(literal.substr(start, i - start)))
      return true;
  }
  return false;
}

bool is_pool_show(std::string_view name) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "pool_nodes", "pool_processes",          "pool_pools",         "pool_status",     "pool_version",
      "pool_cache", "pool_health_check_stats", "pool_backend_stats", "pool_route_stats"};
  return in(kNames, name);
}

bool is_transaction_setting(std::string_view parameter) {
  return parameter == "transaction_isolation" || parameter == "transaction_read_only" ||
         parameter == "transaction_deferrable";
}

bool contains_temp(std::string_view text) {
  constexpr std::string_view kBefore = "pg";
  constexpr std::string_view kAfter = "temp";
  std::size_t from = kBefore.size();
  while (true) {
    const std::size_t at = text.find('_', from);
    if (at == std::string_view::npos)
      return false;
    if (same(text.substr(at + 1, kAfter.size()), kAfter) &&
        same(text.substr(at - kBefore.size(), kBefore.size()), kBefore)) {
      return true;
    }
    from = at + 1;
  }
}

} // namespace weir::parser
