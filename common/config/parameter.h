// What a row of parameters.def means: kind, unit, range, context; setting and showing one value.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/config/config.h"

namespace weir::config {

enum class Kind { BOOL, INT, REAL, TEXT, SECRET, OCTAL, ENUM, LIST, QUERIES };
enum class Context { Startup, Reload, Session };
enum class Effect { Now, Later, Retired };

struct Parameter {
  std::string_view name;
  Kind kind;
  std::string_view default_text;
  std::string_view unit;  // "", "s", "ms", "min", "B", "kB"; with ENUM and LIST the choices, see choices_of()
  double minimum;
  double maximum;
  Context context;
  Effect effect;
  std::string_view group;
  std::string_view aliases;  // by commas; "name:unit" where a bare number has another unit under that name
  std::string_view documentation;
  std::variant<bool Config::*, std::int64_t Config::*, double Config::*, std::string Config::*,
               std::vector<std::string> Config::*>
      field;
};

struct Choice {
  std::string word;
  std::string number;  // in SHOW POOL_STATUS; empty: shown as the word
};
// The words that an ENUM (or a LIST of words) takes; empty for others.
std::vector<Choice> choices_of(const Parameter& parameter);

std::span<const Parameter> parameters();
// By name or alias; null if there is none.
const Parameter* find_parameter(std::string_view name);
// TEXT as set_parameter() takes it, if it was given to PARAMETER under NAME: a bare number gets the unit of that name.
std::string with_unit_of_name(const Parameter& parameter, std::string_view name, std::string_view text);
// The known name that is nearest to NAME, for "did you mean"; empty if none is near.
std::string nearest_parameter(std::string_view name);

// Number of single characters to put in, take out or replace to make B of A.
std::size_t edit_distance(std::string_view a, std::string_view b);

// Parses TEXT and stores it; an error says what is wrong with the value. In a LIST or QUERIES a backslash before the
// separator or a quote takes its meaning away; a SECRET may be written TEXT<secret>.
Status set_parameter(Config& config, const Parameter& parameter, std::string_view text);
// The value as set_parameter() takes it; secrets as *****.
std::string show_parameter(const Config& config, const Parameter& parameter);
// As Pgpool-II's SHOW POOL_STATUS has it: booleans 0 and 1, choices as numbers.
std::string raw_parameter(const Config& config, const Parameter& parameter);

}  // namespace weir::config
