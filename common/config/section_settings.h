// What a line of [databases], [users], [pools] or [peers] says, typed and checked. Made from section_keys.def. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::config {

enum class PoolMode : std::uint8_t { Session, Transaction, Statement };
enum class HostOrder : std::uint8_t { RoundRobin, Disable };

// "session", "transaction", "statement", in any case; nothing for other words.
std::optional<PoolMode> parse_pool_mode(std::string_view text);
std::string_view pool_mode_text(PoolMode mode);

namespace detail::section {
using INT = std::int64_t;  // times in seconds
using MODE = PoolMode;
using BALANCE = HostOrder;
using TEXT = std::string;
using SECRET = std::string;
}  // namespace detail::section

// Of one line; what is not said there is empty. A size of -1 counts as not said and is stored as that.
struct SectionSettings {
#define KEY(kind, name, ...) std::optional<detail::section::kind> name{};
#include "common/config/section_keys.def"
#undef KEY
  bool operator==(const SectionSettings&) const = default;
};

enum class Section : std::uint8_t { Databases = 1, Users = 2, Pools = 4, Peers = 8 };

// By PgBouncer's rules: the name "*" in [databases] stands for those without a line of their own; [pools] has
// "user.database"; [peers] has numbers 1 ... 65535.
struct SectionTables {
  std::map<std::string, SectionSettings, std::less<>> databases;
  std::map<std::string, SectionSettings, std::less<>> users;
  std::map<std::string, SectionSettings, std::less<>> pools;
  std::map<int, SectionSettings> peers;
};

using SettingPairs = std::vector<std::pair<std::string, std::string>>;

// Checks a line and puts it in its table, in the place of an earlier one of the same name. Each message says one thing
// that is wrong with the line; if there is any the tables are as before.
// A section without typed keys ("tenants") is left alone.
std::vector<std::string> add_settings(SectionTables& tables, std::string_view section, const std::string& name, const SettingPairs& settings);

// What is to be said of the lines as a whole: one notice for each section of which nothing is in effect yet, else one for
// each key that is not (yet) in effect, however often it comes. KEYS_SAID: section -> the keys of its lines.
std::vector<std::string> section_notices(const std::map<std::string, std::set<std::string>>& keys_said);

// The line as SHOW and the log may have it: key=value, secrets as *****.
std::string settings_text(const SettingPairs& settings);

// For the reference: one row a key.
struct SectionKey {
  std::string_view name;
  unsigned sections = 0;  // bits of Section
  std::string_view unit;
  std::string_view aliases;
  std::string_view documentation;
  bool in_effect = false;
};
std::vector<SectionKey> section_keys();

}  // namespace weir::config
