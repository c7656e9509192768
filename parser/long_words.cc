#include "parser/long_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weir::parser {
namespace {

template <std::size_t N>
bool one_of(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// PostgreSQL's own list, and sorted as there.
constexpr auto kReserved = std::to_array<std::string_view>({"all",          "analyse",
                                                            "analyze",      "and",
                                                            "any",          "array",
                                                            "as",           "asc",
                                                            "asymmetric",   "both",
                                                            "case",         "cast",
                                                            "check",        "collate",
                                                            "column",       "constraint",
                                                            "create",       "current_catalog",
                                                            "current_date", "current_role",
                                                            "current_time", "current_timestamp",
                                                            "current_user", "default",
                                                            "deferrable",   "desc",
                                                            "distinct",     "do",
                                                            "else",         "end",
                                                            "except",       "false",
                                                            "fetch",        "for",
                                                            "foreign",      "from",
                                                            "grant",        "group",
                                                            "having",       "in",
                                                            "initially",    "intersect",
                                                            "into",         "lateral",
                                                            "leading",      "limit",
                                                            "localtime",    "localtimestamp",
                                                            "not",          "null",
                                                            "offset",       "on",
                                                            "only",         "or",
                                                            "order",        "placing",
                                                            "primary",      "references",
                                                            "returning",    "select",
                                                            "session_user", "some",
                                                            "symmetric",    "table",
                                                            "then",         "to",
                                                            "trailing",     "true",
                                                            "union",        "unique",
                                                            "user",         "using",
                                                            "variadic",     "when",
                                                            "where",        "window",
                                                            "with"});
static_assert(std::is_sorted(kReserved.begin(), kReserved.end()));

constexpr auto kValues = std::to_array<std::string_view>(
    {"current_catalog", "current_date", "current_role", "current_time", "current_timestamp",
     "current_user", "default", "end", "false", "localtime", "localtimestamp", "null",
     "session_user", "true", "user"});

constexpr auto kFeared = std::to_array<std::string_view>(
    {"set_config", "setseed", "tablesample", "operator", "treat", "json_table", "prepare"});

constexpr auto kEndRelations = std::to_array<std::string_view>(
    {"where", "group", "having", "window", "union", "except", "intersect", "order", "limit",
     "offset", "returning", "fetch", "for", "set"});

constexpr auto kNeverCalled =
    std::to_array<std::string_view>({"between", "coalesce", "exists", "greatest", "grouping",
                                     "least", "nullif", "row", "trim", "values"});

constexpr auto kOperatorWords =
    std::to_array<std::string_view>({"between", "escape", "filter", "ilike", "is", "isnull", "join",
                                     "like", "notnull", "over", "overlaps", "set", "similar"});

// Words that are no names of types, though a name may stand where they do.
constexpr auto kTypes =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"bigint", "int8"},
                                                                  {"bit", "bit"},
                                                                  {"boolean", "bool"},
                                                                  {"char", "bpchar"},
                                                                  {"character", "bpchar"},
                                                                  {"dec", "numeric"},
                                                                  {"decimal", "numeric"},
                                                                  {"float", "float8"},
                                                                  {"int", "int4"},
                                                                  {"integer", "int4"},
                                                                  {"interval", "interval"},
                                                                  {"national", "bpchar"},
                                                                  {"nchar", "bpchar"},
                                                                  {"numeric", "numeric"},
                                                                  {"real", "float4"},
                                                                  {"smallint", "int2"},
                                                                  {"time", "time"},
                                                                  {"timestamp", "timestamp"},
                                                                  {"varchar", "varchar"}});

} // namespace

bool is_any_of(std::initializer_list<std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_reserved(std::string_view word) {
  return std::binary_search(kReserved.begin(), kReserved.end(), word);
}

bool is_reserved_value(std::string_view word) {
  return one_of(kValues, word);
}

bool is_feared(std::string_view word) {
  return one_of(kFeared, word) || word.starts_with("dblink") || word.ends_with("_to_xml") ||
         word.ends_with("_to_xmlschema") || word.starts_with("xml");
}

bool ends_relations(std::string_view word) {
  return one_of(kEndRelations, word);
}

bool is_never_called(std::string_view word) {
  return one_of(kNeverCalled, word);
}

bool is_operator_word(std::string_view word) {
  return one_of(kOperatorWords, word);
}

std::string_view grammar_type(std::string_view word, std::string_view earlier) {
  if (word == "precision")
    return earlier == "double" ? "float8" : "";
  if (word == "zone")
    return earlier == "time" ? "timestamptz" : "";
  if (word == "varying")
    return earlier == "bit"                                                    ? "varbit"
           : earlier == "character" || earlier == "char" || earlier == "nchar" ? "varchar"
                                                                               : "";
  if (word == "double")
    return "float8"; // unless it is a name: then PRECISION does not follow
  const auto* it = std::find_if(kTypes.begin(), kTypes.end(),
                                [&](const auto& row) { return row.first == word; });
  return it != kTypes.end() ? it->second : std::string_view();
}

} // namespace weir::parser
