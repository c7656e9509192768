#include "common/config/parameter.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "common/base/sqlstate.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

const Parameter kParameters[] = {
#define PARAM(kind, name, fallback, unit, low, high, context, effect, group, aliases, doc) \
  {#name,                                                                                  \
   Kind::kind,                                                                             \
   fallback,                                                                               \
   unit,                                                                                   \
   static_cast<double>(low),                                                               \
   static_cast<double>(high),                                                              \
   Context::context,                                                                       \
   Effect::effect,                                                                         \
   group,                                                                                  \
   aliases,                                                                                \
   doc,                                                                                    \
   &Config::name},
#include "common/config/parameters.def"
#undef PARAM
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Status bad(std::string message) { return fail(make_error(sqlstate::kInvalidParameterValue, std::move(message))); }

std::unordered_map<std::string, const Parameter*> index_of_names() {
  std::unordered_map<std::string, const Parameter*> index;
  for (const Parameter& parameter : kParameters) {
    index.emplace(parameter.name, &parameter);
    for (const std::string& alias : split_list(parameter.aliases, ',')) {
      index.emplace(lower(alias.substr(0, alias.find(':'))), &parameter);
    }
  }
  return index;
}

// The unit that a bare number has under the name NAME, where that is another one than the parameter's own.
std::string alias_unit(const Parameter& parameter, std::string_view name) {
  for (const std::string& alias : split_list(parameter.aliases, ',')) {
    const std::size_t colon = alias.find(':');
    if (colon != std::string::npos && lower(name) == lower(alias.substr(0, colon))) return alias.substr(colon + 1);
  }
  return {};
}

std::string words_of(const std::vector<Choice>& choices) {
  std::string text;
  for (const Choice& choice : choices) text += (text.empty() ? "" : ", ") + choice.word;
  return text;
}

// CHOICE as the table writes it, whatever the case of TEXT; null if there is none.
const Choice* find_choice(const std::vector<Choice>& choices, std::string_view text) {
  const std::string wanted = lower(text);
  const auto it =
      std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) { return lower(choice.word) == wanted; });
  return it == choices.end() ? nullptr : &*it;
}

Status set_enum(Config& config, const Parameter& parameter, std::string_view text) {
  const std::vector<Choice> choices = choices_of(parameter);
  if (const Choice* choice = find_choice(choices, text)) {
    config.*std::get<std::string Config::*>(parameter.field) = choice->word;
    return {};
  }
  const std::string wanted = lower(text);
  if (parameter.name == "backend_clustering_mode" &&
      (wanted == "native_replication" || wanted == "snapshot_isolation" || wanted == "slony")) {
    return bad(fmt::format("{} is not offered: pgweir does not replicate statements", wanted));
  }
  return bad(fmt::format("\"{}\" is none of: {}", text, words_of(choices)));
}

Status set_number(Config& config, const Parameter& parameter, std::string_view text) {
  const bool octal = parameter.kind == Kind::OCTAL;
  const auto value = octal ? parse_octal(text) : parse_integer(text, parameter.unit);
  if (!value) {
    const std::string unit = parameter.unit.empty() ? "" : fmt::format(" (unit {})", parameter.unit);
    return bad(fmt::format("\"{}\" is no {}number{}", text, octal ? "octal " : "", unit));
  }
  const auto low = static_cast<std::int64_t>(parameter.minimum);
  const auto high = static_cast<std::int64_t>(parameter.maximum);
  if (*value < low || *value > high) {
    return bad(octal ? fmt::format("{:04o} is outside of {:04o} .. {:04o}", *value, low, high)
                     : fmt::format("{} is outside of {} .. {}", *value, low, high));
  }
  config.*std::get<std::int64_t Config::*>(parameter.field) = *value;
  return {};
}

Status set_real(Config& config, const Parameter& parameter, std::string_view text) {
  const auto value = parse_real(text);
  if (!value) return bad(fmt::format("\"{}\" is no number", text));
  if (*value < parameter.minimum || *value > parameter.maximum) {
    return bad(fmt::format("{} is outside of {} .. {}", *value, parameter.minimum, parameter.maximum));
  }
  config.*std::get<double Config::*>(parameter.field) = *value;
  return {};
}

Status set_secret(Config& config, const Parameter& parameter, std::string_view text) {
  if (text.starts_with("TEXT<") && text.ends_with('>')) text = text.substr(5, text.size() - 6);
  config.*std::get<std::string Config::*>(parameter.field) = text;
  return {};
}

// Lists whose items routing compiles: a pattern that does not compile is an error of its line.
constexpr std::string_view kPatternLists[] = {"read_only_function_list", "write_function_list",
                                              "primary_routing_query_pattern_list"};

Status check_item(const Parameter& parameter, const std::vector<Choice>& choices, std::string& item) {
  if (!choices.empty()) {
    const Choice* choice = find_choice(choices, item);
    if (choice == nullptr) return bad(fmt::format("\"{}\" is none of: {}", item, words_of(choices)));
    item = choice->word;
  }
  const auto* list = std::find(std::begin(kPatternLists), std::end(kPatternLists), parameter.name);
  if (list == std::end(kPatternLists)) return {};
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  const RE2 pattern(item, options);
  if (!pattern.ok()) return bad(fmt::format("\"{}\" is no regular expression: {}", item, pattern.error()));
  return {};
}

Status set_list(Config& config, const Parameter& parameter, std::string_view text) {
  std::vector<std::string> items = split_list(text, parameter.kind == Kind::LIST ? ',' : ';');
  const std::vector<Choice> choices = choices_of(parameter);
  for (std::string& item : items) WEIR_TRY(check_item(parameter, choices, item));
  config.*std::get<std::vector<std::string> Config::*>(parameter.field) = std::move(items);
  return {};
}

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

std::string with_unit_of_name(const Parameter& parameter, std::string_view name, std::string_view text) {
  const std::string unit = alias_unit(parameter, name);
  const bool number = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  return std::string(text) + (number ? unit : "");
}

const Parameter* find_parameter(std::string_view name) {
  static const std::unordered_map<std::string, const Parameter*> index = index_of_names();
  const auto it = index.find(lower(name));
  return it == index.end() ? nullptr : it->second;
}

std::string nearest_parameter(std::string_view name) {
  const std::string wanted = lower(name.substr(0, 100));
  std::string best;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const Parameter& parameter : kParameters) {
    const std::size_t d = edit_distance(wanted, parameter.name);
    if (d < least) {
      least = d;
      best = parameter.name;
    }
  }
  return best;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::vector<Choice> choices_of(const Parameter& parameter) {
  std::vector<Choice> choices;
  if (parameter.kind != Kind::ENUM && parameter.kind != Kind::LIST) return choices;
  for (const std::string& item : split_list(parameter.unit, ',')) {
    const std::size_t equals = std::min(item.find('='), item.size());
    choices.push_back({item.substr(0, equals), item.substr(std::min(equals + 1, item.size()))});
  }
  return choices;
}

Status set_parameter(Config& config, const Parameter& parameter, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return bad("the value has a NUL in it");
  switch (parameter.kind) {
    case Kind::BOOL: {
      const auto value = parse_bool(text);
      if (!value) return bad(fmt::format("\"{}\" is neither on nor off", text));
      config.*std::get<bool Config::*>(parameter.field) = *value;
      return {};
    }
    case Kind::OCTAL:
    case Kind::INT: return set_number(config, parameter, text);
    case Kind::REAL: return set_real(config, parameter, text);
    case Kind::TEXT: config.*std::get<std::string Config::*>(parameter.field) = text; return {};
    case Kind::SECRET: return set_secret(config, parameter, text);
    case Kind::ENUM: return set_enum(config, parameter, text);
    case Kind::LIST:
    case Kind::QUERIES: return set_list(config, parameter, text);
  }
  return {};
}

std::string show_parameter(const Config& config, const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::BOOL: return config.*std::get<bool Config::*>(parameter.field) ? "on" : "off";
    case Kind::INT: {
      return fmt::format("{}{}", config.*std::get<std::int64_t Config::*>(parameter.field), parameter.unit);
    }
    case Kind::OCTAL: return fmt::format("{:04o}", config.*std::get<std::int64_t Config::*>(parameter.field));
    case Kind::REAL: return fmt::format("{}", config.*std::get<double Config::*>(parameter.field));
    case Kind::SECRET: return (config.*std::get<std::string Config::*>(parameter.field)).empty() ? "" : "*****";
    case Kind::TEXT:
    case Kind::ENUM: return config.*std::get<std::string Config::*>(parameter.field);
    case Kind::LIST:
    case Kind::QUERIES: {
      const char separator = parameter.kind == Kind::LIST ? ',' : ';';
      std::string text;
      for (const std::string& item : config.*std::get<std::vector<std::string> Config::*>(parameter.field)) {
        if (!text.empty()) text += separator;
        for (char c : item) {
          if (c == separator) text += '\\';
          text += c;
        }
      }
      return text;
    }
  }
  return {};
}

std::string raw_parameter(const Config& config, const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::BOOL: return config.*std::get<bool Config::*>(parameter.field) ? "1" : "0";
    case Kind::INT: return std::to_string(config.*std::get<std::int64_t Config::*>(parameter.field));
    case Kind::ENUM: {
      const std::vector<Choice> choices = choices_of(parameter);
      const std::string& word = config.*std::get<std::string Config::*>(parameter.field);
      const Choice* choice = find_choice(choices, word);
      return choice != nullptr && !choice->number.empty() ? choice->number : word;
    }
    default: return show_parameter(config, parameter);
  }
}

}  // namespace weir::config
