#include "common/config/effective.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "common/base/sqlstate.h"
#include "common/config/units.h"

namespace weir::config {
namespace {

const SectionSettings kNothingSaid;

std::int32_t narrow(std::int64_t value) { return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, kNoLimit)); }

// A size as files have it: 0 is no limit.
std::int32_t limit_of(std::int64_t size) { return size == 0 ? kNoLimit : narrow(size); }

struct Levels {
  const SectionSettings& pool;
  const SectionSettings& user;
  const SectionSettings& database;
};

template <typename Table>
const SectionSettings& line_of(const Table& table, std::string_view name) {
  const auto it = table.find(name);
  return it == table.end() ? kNothingSaid : it->second;
}

Levels levels(const Config& config, std::string_view database, std::string_view user) {
  const SectionSettings* line = database_settings(config, database);
  const auto& pools = config.settings.pools;
  const SectionSettings& pool = pools.empty() ? kNothingSaid : line_of(pools, fmt::format("{}.{}", user, database));
  return {pool, line_of(config.settings.users, user), line != nullptr ? *line : kNothingSaid};
}

// The first level that says something, a run-time value before the file's at each.
struct Size {
  std::int32_t value = -1;
  Size& at(std::int32_t runtime, std::optional<std::int64_t> in_file, bool zero_is_no_limit) {
    if (value >= 0) return *this;
    if (runtime >= 0) {
      value = runtime;
    } else if (in_file) {
      value = zero_is_no_limit ? limit_of(*in_file) : narrow(*in_file);
    }
    return *this;
  }
};

// A limit of all of a database's or user's connections or clients: there a 0 in the file is as if nothing was said.
std::int32_t total(std::int32_t runtime, std::optional<std::int64_t> in_file, std::int64_t general) {
  if (runtime >= 0) return runtime;
  return limit_of(in_file && *in_file > 0 ? *in_file : general);
}

std::int64_t first(std::optional<std::int64_t> a, std::optional<std::int64_t> b, std::int64_t general) {
  return a ? *a : b ? *b : general;
}

}  // namespace

const SectionSettings* database_settings(const Config& config, std::string_view database) {
  const auto& databases = config.settings.databases;
  auto it = databases.find(database);
  if (it == databases.end()) it = databases.find("*");
  return it == databases.end() ? nullptr : &it->second;
}

std::string_view pool_user(const Config& config, std::string_view database, std::string_view login_user) {
  const SectionSettings* line = database_settings(config, database);
  return line != nullptr && line->user ? std::string_view(*line->user) : login_user;
}

bool lends_connections(const Config& config) {
  const auto lends = [](const auto& table) {
    return std::any_of(table.begin(), table.end(), [](const auto& entry) { return entry.second.pool_mode.value_or(PoolMode::Session) != PoolMode::Session; });
  };
  const SectionTables& lines = config.settings;
  return parse_pool_mode(config.pool_mode).value_or(PoolMode::Session) != PoolMode::Session || lends(lines.databases) || lends(lines.users) || lends(lines.pools);
}

EffectivePool effective_pool(const Config& config, std::string_view database, std::string_view user, const RuntimeOverrides& runtime) {
  const Levels said = levels(config, database, user);
  EffectivePool pool;
  const std::optional<PoolMode> mode = said.pool.pool_mode ? said.pool.pool_mode : said.user.pool_mode ? said.user.pool_mode : said.database.pool_mode;
  pool.pool_mode = mode ? *mode : parse_pool_mode(config.pool_mode).value_or(PoolMode::Session);
  pool.pool_size = Size{}
                       .at(runtime.pool.pool_size, said.pool.pool_size, true)
                       .at(runtime.user.pool_size, said.user.pool_size, true)
                       .at(runtime.database.pool_size, said.database.pool_size, true)
                       .at(-1, config.default_pool_size, true)
                       .value;
  pool.reserve_pool_size = Size{}
                               .at(runtime.pool.reserve_pool_size, said.pool.reserve_pool_size, false)
                               .at(runtime.user.reserve_pool_size, said.user.reserve_pool_size, false)
                               .at(runtime.database.reserve_pool_size, said.database.reserve_pool_size, false)
                               .at(-1, config.reserve_pool_size, false)
                               .value;
  pool.min_pool_size = Size{}
                           .at(runtime.pool.min_pool_size, said.pool.min_pool_size, false)
                           .at(runtime.database.min_pool_size, said.database.min_pool_size, false)
                           .at(-1, config.min_pool_size, false)
                           .value;
  pool.min_pool_size = std::min(pool.min_pool_size, pool.pool_size);
  pool.reserve_pool_timeout = config.reserve_pool_timeout;
  pool.max_db_connections = total(runtime.database.max_connections, said.database.max_db_connections, config.max_db_connections);
  pool.max_user_connections = total(runtime.user.max_connections, said.user.max_user_connections, config.max_user_connections);
  pool.query_timeout = said.user.query_timeout.value_or(config.query_timeout);
  pool.idle_transaction_timeout = said.user.idle_transaction_timeout.value_or(config.idle_transaction_timeout);
  pool.transaction_timeout = said.user.transaction_timeout.value_or(config.transaction_timeout);
  const std::int64_t lifetime = said.database.server_lifetime.value_or(0);
  pool.server_lifetime = lifetime > 0 ? lifetime : config.connection_max_age;
  return pool;
}

EffectiveClient effective_client(const Config& config, std::string_view database, std::string_view user, const RuntimeOverrides& runtime) {
  const Levels said = levels(config, database, user);
  EffectiveClient client;
  client.query_wait_timeout = first(said.user.query_wait_timeout, said.database.query_wait_timeout, config.query_wait_timeout);
  client.client_idle_timeout = said.user.client_idle_timeout.value_or(config.client_idle_limit);
  client.max_db_client_connections = total(runtime.database.max_client_connections, said.database.max_db_client_connections, config.max_db_client_connections);
  client.max_user_client_connections = total(runtime.user.max_client_connections, said.user.max_user_client_connections, config.max_user_client_connections);
  return client;
}

namespace {

struct RuntimeKey {
  std::string_view name;
  unsigned sections;
  std::int32_t RuntimeLimits::*field;
};
constexpr unsigned kDatabases = static_cast<unsigned>(Section::Databases);
constexpr unsigned kUsers = static_cast<unsigned>(Section::Users);
constexpr unsigned kPools = static_cast<unsigned>(Section::Pools);
constexpr RuntimeKey kRuntimeKeys[] = {
    {"pool_size", kDatabases | kUsers | kPools, &RuntimeLimits::pool_size},
    {"min_pool_size", kDatabases | kPools, &RuntimeLimits::min_pool_size},
    {"reserve_pool_size", kDatabases | kUsers | kPools, &RuntimeLimits::reserve_pool_size},
    {"max_db_connections", kDatabases, &RuntimeLimits::max_connections},
    {"max_user_connections", kUsers, &RuntimeLimits::max_connections},
    {"max_db_client_connections", kDatabases, &RuntimeLimits::max_client_connections},
    {"max_user_client_connections", kUsers, &RuntimeLimits::max_client_connections},
};

std::string keys_for(unsigned section) {
  std::string text;
  for (const RuntimeKey& key : kRuntimeKeys) {
    if ((key.sections & section) != 0) text += fmt::format("{}{}", text.empty() ? "" : ", ", key.name);
  }
  return text;
}

tl::unexpected<Error> bad(std::string message, std::string hint) {
  return fail(make_error(sqlstate::kInvalidParameterValue, std::move(message), {}, std::move(hint)));
}

Status set_runtime(unsigned section, std::string_view word, RuntimeLimits& limits) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto* key = std::find_if(std::begin(kRuntimeKeys), std::end(kRuntimeKeys), [&](const RuntimeKey& k) { return k.name == name && (k.sections & section) != 0; });
  if (key == std::end(kRuntimeKeys)) return bad(fmt::format("unknown limit \"{}\"", name.substr(0, 63)), fmt::format("There are {}.", keys_for(section)));
  const auto value = equals == std::string_view::npos ? std::nullopt : parse_integer(word.substr(equals + 1), "");
  if (!value || *value < -1 || *value > kNoLimit) {
    return bad(fmt::format("{} must be a number from -1 to {}", key->name, kNoLimit), "-1 is the configured value again, 0 lets nobody in.");
  }
  limits.*key->field = static_cast<std::int32_t>(*value);
  return {};
}

}  // namespace

Status parse_runtime_limits(Section section, std::string_view text, RuntimeLimits& limits) {
  RuntimeLimits parsed = limits;
  bool any = false;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    WEIR_TRY(set_runtime(static_cast<unsigned>(section), text.substr(0, end), parsed));
    text.remove_prefix(end);
    any = true;
  }
  if (!any) return bad("no limit is named", fmt::format("Write name=value; there are {}.", keys_for(static_cast<unsigned>(section))));
  limits = parsed;
  return {};
}

}  // namespace weir::config
