#include "common/config/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/base/sqlstate.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

const Parameter kParameters[] = {
#define PARAM(kind, name, fallback, unit, low, high, context, effect, group, aliases, doc) \
  {#name, Kind::kind, fallback, unit, static_cast<double>(low), static_cast<double>(high), Context::context, Effect::effect, group, aliases, doc, &Config::name},
#include "common/config/parameters.def"
#undef PARAM
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
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

Status bad(std::string message) { return fail(make_error(sqlstate::kInvalidParameterValue, std::move(message))); }

Status set_enum(Config& config, const Parameter& parameter, std::string_view text) {
  const std::string wanted = lower(text);
  for (const std::string& choice : split_list(parameter.unit, ',')) {
    if (lower(choice) == wanted) {
      config.*std::get<std::string Config::*>(parameter.field) = choice;
      return {};
    }
  }
  if (parameter.name == "backend_clustering_mode" && (wanted == "native_replication" || wanted == "snapshot_isolation")) {
    return bad(fmt::format("{} is not offered: pgweir does not replicate statements", wanted));
  }
  return bad(fmt::format("\"{}\" is none of: {}", text, parameter.unit));
}

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

const Parameter* find_parameter(std::string_view name) {
  const std::string wanted = lower(name);
  for (const Parameter& parameter : kParameters) {
    if (wanted == parameter.name) return &parameter;
  }
  for (const Parameter& parameter : kParameters) {
    for (const std::string& alias : split_list(parameter.aliases, ',')) {
      if (lower(alias) == wanted) return &parameter;
    }
  }
  return nullptr;
}

std::string nearest_parameter(std::string_view name) {
  const std::string wanted = lower(name.substr(0, 100));
  std::string best;
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const Parameter& parameter : kParameters) {
    const std::size_t d = distance(wanted, parameter.name);
    if (d < least) {
      least = d;
      best = parameter.name;
    }
  }
  return best;
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
    case Kind::INT: {
      const bool octal = parameter.kind == Kind::OCTAL;
      const auto value = octal ? parse_octal(text) : parse_integer(text, parameter.unit);
      if (!value) return bad(fmt::format("\"{}\" is no {}number{}", text, octal ? "octal " : "", parameter.unit.empty() ? "" : fmt::format(" (unit {})", parameter.unit)));
      if (!octal && (static_cast<double>(*value) < parameter.minimum || static_cast<double>(*value) > parameter.maximum)) {
        return bad(fmt::format("{} is outside of {:.0f} .. {:.0f}", *value, parameter.minimum, parameter.maximum));
      }
      config.*std::get<std::int64_t Config::*>(parameter.field) = *value;
      return {};
    }
    case Kind::REAL: {
      const auto value = parse_real(text);
      if (!value) return bad(fmt::format("\"{}\" is no number", text));
      if (*value < parameter.minimum || *value > parameter.maximum) return bad(fmt::format("{} is outside of {} .. {}", *value, parameter.minimum, parameter.maximum));
      config.*std::get<double Config::*>(parameter.field) = *value;
      return {};
    }
    case Kind::TEXT:
    case Kind::SECRET: config.*std::get<std::string Config::*>(parameter.field) = text; return {};
    case Kind::ENUM: return set_enum(config, parameter, text);
    case Kind::LIST:
    case Kind::QUERIES:
      config.*std::get<std::vector<std::string> Config::*>(parameter.field) = split_list(text, parameter.kind == Kind::LIST ? ',' : ';');
      return {};
  }
  return {};
}

std::string show_parameter(const Config& config, const Parameter& parameter) {
  switch (parameter.kind) {
    case Kind::BOOL: return config.*std::get<bool Config::*>(parameter.field) ? "on" : "off";
    case Kind::INT: return fmt::format("{}{}", config.*std::get<std::int64_t Config::*>(parameter.field), parameter.unit);
    case Kind::OCTAL: return fmt::format("{:04o}", config.*std::get<std::int64_t Config::*>(parameter.field));
    case Kind::REAL: return fmt::format("{}", config.*std::get<double Config::*>(parameter.field));
    case Kind::SECRET: return (config.*std::get<std::string Config::*>(parameter.field)).empty() ? "" : "*****";
    case Kind::TEXT:
    case Kind::ENUM: return config.*std::get<std::string Config::*>(parameter.field);
    case Kind::LIST:
    case Kind::QUERIES: {
      std::string text;
      for (const std::string& item : config.*std::get<std::vector<std::string> Config::*>(parameter.field)) {
        if (!text.empty()) text += parameter.kind == Kind::LIST ? ',' : ';';
        text += item;
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
      const auto choices = split_list(parameter.unit, ',');
      const auto it = std::find(choices.begin(), choices.end(), config.*std::get<std::string Config::*>(parameter.field));
      return std::to_string(it - choices.begin());
    }
    default: return show_parameter(config, parameter);
  }
}

}  // namespace weir::config
