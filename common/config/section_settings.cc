#include "common/config/section_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <variant>

#include "common/config/parameter.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

constexpr std::size_t kMaxDatabaseName = 63;
constexpr std::size_t kMaxUserName = 127;
constexpr std::size_t kMaxShown = 40;

constexpr unsigned D = static_cast<unsigned>(Section::Databases);
constexpr unsigned U = static_cast<unsigned>(Section::Users);
constexpr unsigned P = static_cast<unsigned>(Section::Pools);
constexpr unsigned E = static_cast<unsigned>(Section::Peers);

struct KeyRow {
  SectionKey key;
  bool secret;
  double minimum;
  double maximum;
  Effect effect;
  std::variant<std::optional<std::int64_t> SectionSettings::*, std::optional<PoolMode> SectionSettings::*, std::optional<HostOrder> SectionSettings::*,
               std::optional<std::string> SectionSettings::*>
      field;
};

enum class KeyKind { INT, MODE, BALANCE, TEXT, SECRET };

const KeyRow kKeys[] = {
#define KEY(kind, name, sections, low, high, unit, effect, aliases, doc) \
  {{#name, sections, unit, aliases, doc, Effect::effect == Effect::Now}, KeyKind::kind == KeyKind::SECRET, low, high, Effect::effect, &SectionSettings::name},
#include "common/config/section_keys.def"
#undef KEY
};

struct SectionName {
  std::string_view name;
  unsigned bit;
};
constexpr SectionName kNames[] = {{"databases", D}, {"users", U}, {"pools", P}, {"peers", E}};

unsigned bit_of(std::string_view section) {
  for (const SectionName& known : kNames) {
    if (known.name == section) return known.bit;
  }
  return 0;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_name(const SectionKey& key, std::string_view name) {
  if (key.name == name) return true;
  const std::vector<std::string> aliases = split_list(key.aliases, ',');
  return std::find(aliases.begin(), aliases.end(), name) != aliases.end();
}

const KeyRow* find_key(std::string_view name) {
  for (const KeyRow& row : kKeys) {
    if (has_name(row.key, name)) return &row;
  }
  return nullptr;
}

std::string shown(std::string_view text) {
  return text.size() <= kMaxShown ? std::string(text) : std::string(text.substr(0, kMaxShown)) + "...";
}

// "[databases] and [pools]".
std::string sections_of(const KeyRow& row) {
  std::string text;
  for (const SectionName& known : kNames) {
    if ((row.key.sections & known.bit) != 0) text += fmt::format("{}[{}]", text.empty() ? "" : ", ", known.name);
  }
  return text;
}

std::string unknown_key(std::string_view section, std::string_view name) {
  if (const KeyRow* elsewhere = find_key(name)) return fmt::format("{} is no key of [{}]: it belongs to {}", elsewhere->key.name, section, sections_of(*elsewhere));
  std::string_view best;
  const std::string wanted = lower(name.substr(0, 100));
  std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  for (const KeyRow& row : kKeys) {
    if ((row.key.sections & bit_of(section)) == 0) continue;
    const std::size_t distance = edit_distance(wanted, row.key.name);
    if (distance >= least) continue;
    least = distance;
    best = row.key.name;
  }
  return fmt::format("unknown key \"{}\" in [{}]{}", shown(name), section, best.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", best));
}

// Empty: stored.
std::string set_integer(SectionSettings& settings, const KeyRow& row, std::optional<std::int64_t> SectionSettings::*field, const std::string& text) {
  const auto value = parse_integer(text, row.key.unit);
  if (!value) {
    return fmt::format("{}: \"{}\" is no {}", row.key.name, shown(text), row.key.unit.empty() ? "whole number" : "time: a number of seconds or one with a unit");
  }
  if (static_cast<double>(*value) < row.minimum || static_cast<double>(*value) > row.maximum) {
    return fmt::format("{}: {} is outside of {:.0f} ... {:.0f}", row.key.name, *value, row.minimum, row.maximum);
  }
  settings.*field = *value == -1 ? std::nullopt : value;
  return {};
}

std::string set_mode(SectionSettings& settings, std::optional<PoolMode> SectionSettings::*field, const std::string& text) {
  settings.*field = parse_pool_mode(text);
  return settings.*field ? "" : fmt::format("pool_mode: \"{}\" is none of: session, transaction, statement", shown(text));
}

std::string set_order(SectionSettings& settings, std::optional<HostOrder> SectionSettings::*field, const std::string& text) {
  const std::string word = lower(text);
  if (word != "round-robin" && word != "disable") {
    return fmt::format("load_balance_hosts: \"{}\" is none of: round-robin, disable", shown(text));
  }
  settings.*field = word == "disable" ? HostOrder::Disable : HostOrder::RoundRobin;
  return {};
}

struct Setter {
  SectionSettings& settings;
  const KeyRow& row;
  const std::string& text;
  std::string operator()(std::optional<std::int64_t> SectionSettings::*field) const { return set_integer(settings, row, field, text); }
  std::string operator()(std::optional<PoolMode> SectionSettings::*field) const { return set_mode(settings, field, text); }
  std::string operator()(std::optional<HostOrder> SectionSettings::*field) const { return set_order(settings, field, text); }
  std::string operator()(std::optional<std::string> SectionSettings::*field) const {
    if (text.find('\0') != std::string::npos) return fmt::format("{}: there is a zero byte in it", row.key.name);
    settings.*field = text;
    return {};
  }
};

std::optional<int> peer_id(std::string_view name) {
  int id = 0;
  const char* end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, id);
  return error == std::errc{} && at == end && id >= 1 && id <= 65535 ? std::optional<int>(id) : std::nullopt;
}

// What is wrong with the name of a line; empty: nothing.
std::string check_name(unsigned section, const std::string& name) {
  if (name.empty()) return "the name is empty";
  if (section == D) {
    if (name == "pgbouncer" || name == "pgweir") return fmt::format("database name \"{}\" is reserved for the console", name);
    if (name.size() > kMaxDatabaseName) return fmt::format("database name \"{}\" is longer than {} bytes", shown(name), kMaxDatabaseName);
  }
  if (section == U && name.size() > kMaxUserName) return fmt::format("user name \"{}\" is longer than {} bytes", shown(name), kMaxUserName);
  if (section == P) {
    const std::size_t dot = name.find('.', 1);
    if (dot == std::string::npos || dot + 1 == name.size()) return fmt::format("\"{}\" is no pool: its name is user.database", shown(name));
    if (name.size() > kMaxUserName + 1 + kMaxDatabaseName) return fmt::format("the name of pool \"{}\" is too long", shown(name));
  }
  if (section == E && !peer_id(name)) return fmt::format("\"{}\" is no peer: peers are numbers from 1 to 65535", shown(name));
  return {};
}

// What is wrong with the line as a whole.
std::string check_whole(unsigned section, const std::string& name, const SectionSettings& settings) {
  if (section == E && !settings.host) return fmt::format("peer {} has no host", name);
  if (section == D && settings.auth_dbname && (*settings.auth_dbname == "pgbouncer" || *settings.auth_dbname == "pgweir")) {
    return fmt::format("auth_dbname: \"{}\" is the console, it cannot run auth_query", *settings.auth_dbname);
  }
  return {};
}

void store(SectionTables& tables, unsigned section, const std::string& name, SectionSettings settings) {
  if (section == D) tables.databases.insert_or_assign(name, std::move(settings));
  if (section == U) tables.users.insert_or_assign(name, std::move(settings));
  if (section == P) tables.pools.insert_or_assign(name, std::move(settings));
  if (section == E) tables.peers.insert_or_assign(*peer_id(name), std::move(settings));
}

std::string notice_of(std::string_view section, const KeyRow& row) {
  if (row.effect == Effect::Later) return fmt::format("key {} of [{}] is not yet in effect", row.key.name, section);
  return fmt::format("key {} of [{}] has no effect: {}", row.key.name, section, row.key.documentation);
}

}  // namespace

std::optional<PoolMode> parse_pool_mode(std::string_view text) {
  const std::string word = lower(text);
  for (const PoolMode mode : {PoolMode::Session, PoolMode::Transaction, PoolMode::Statement}) {
    if (word == pool_mode_text(mode)) return mode;
  }
  return std::nullopt;
}

std::string_view pool_mode_text(PoolMode mode) {
  switch (mode) {
    case PoolMode::Session: return "session";
    case PoolMode::Transaction: return "transaction";
    case PoolMode::Statement: return "statement";
  }
  return "?";
}

std::vector<std::string> add_settings(SectionTables& tables, std::string_view section, const std::string& name, const SettingPairs& settings) {
  std::vector<std::string> wrong;
  const unsigned bit = bit_of(section);
  if (bit == 0) return wrong;
  const auto note = [&](std::string message) {
    if (!message.empty()) wrong.push_back(std::move(message));
  };
  note(check_name(bit, name));
  SectionSettings line;
  for (const auto& [key, value] : settings) {
    const KeyRow* row = find_key(key);
    if (row == nullptr || (row->key.sections & bit) == 0) {
      note(unknown_key(section, key));
    } else {
      note(std::visit(Setter{line, *row, value}, row->field));
    }
  }
  if (wrong.empty()) note(check_whole(bit, name, line));
  if (wrong.empty()) store(tables, bit, name, std::move(line));
  return wrong;
}

// All keys of [peers] are in effect, those that [databases] has too and where they are not yet included.
std::vector<std::string> section_notices(const std::map<std::string, std::set<std::string>>& keys_said) {
  std::vector<std::string> notices;
  for (const auto& [section, keys] : keys_said) {
    const unsigned bit = bit_of(section);
    const bool any = std::any_of(std::begin(kKeys), std::end(kKeys), [&](const KeyRow& row) { return (row.key.sections & bit) != 0 && row.effect == Effect::Now; });
    if (!any) {
      notices.push_back(fmt::format("section [{}] is not yet in effect", section));
      continue;
    }
    for (const KeyRow& row : kKeys) {
      const bool said = std::any_of(keys.begin(), keys.end(), [&](const std::string& name) { return has_name(row.key, name); });
      if (said && row.effect != Effect::Now && bit != E) notices.push_back(notice_of(section, row));
    }
  }
  return notices;
}

std::string settings_text(const SettingPairs& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    const KeyRow* row = find_key(key);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, row != nullptr && row->secret ? "*****" : value);
  }
  return text;
}

std::vector<SectionKey> section_keys() {
  std::vector<SectionKey> keys;
  for (const KeyRow& row : kKeys) keys.push_back(row.key);
  return keys;
}

}  // namespace weir::config
