#include "child/catalog_lookup.h"

#include <fmt/format.h>

#include <algorithm>

#include "child/internal_query.h"
#include "child/resolver.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/shmem/catalog_facts.h"
#include "common/shmem/mapping.h"
#include "common/wire/encode.h"
#include "lb/catalog_query.h"

namespace weir::child {
namespace {

constexpr std::size_t kMaxWanted = 1000;  // names that wait; more are asked for when they are met again
constexpr std::chrono::seconds kIdle{60};
constexpr std::chrono::seconds kRetry{2};
// Nobody waits for the answer: names are asked for when none was new for kPause, or some have waited for kLongest.
constexpr std::chrono::seconds kPause{1};
constexpr std::chrono::seconds kLongest{10};
// Between two comparisons of the catalogue: what the servers spend on them stays small, however large the catalogue is.
constexpr std::chrono::milliseconds kCompareEvery{200};
constexpr int kCompareShare = 30;

// Somebody waits for the answer: reads that could leave the primary (for nodes that are there, or come back), or connections
// that are given back only once it is known what was done on them.
bool is_awaited(const Worker& worker) { return (worker.policy().load_balance() && worker.nodes().count > 1) || worker.lends(); }

std::string id_of(const lb::Missing& name) { return std::to_string(static_cast<int>(name.kind)) + ":" + name.name; }

}  // namespace

CatalogLookup::CatalogLookup(Worker& worker) : worker_(worker) {}
CatalogLookup::~CatalogLookup() = default;

CatalogLookup::Connection& CatalogLookup::connection_to(const std::string& database) {
  auto& slot = connections_[database];
  if (slot == nullptr) {
    slot = std::make_unique<Connection>();
    slot->database = database;
  }
  return *slot;
}

void CatalogLookup::want(const std::string& database, std::span<const lb::Missing> names) {
  Connection* const slot = &connection_to(database);
  bool fresh = false;
  if (slot->wanted.empty()) slot->waits_since = worker_.loop().now();
  for (const lb::Missing& name : names) {
    if (slot->wanted.size() >= kMaxWanted) break;
    if (!slot->known.insert(id_of(name)).second) continue;
    slot->wanted.push_back(name);
    fresh = true;
  }
  if (fresh) slot->last_name = worker_.loop().now();
  if (!is_awaited(worker_)) return;  // sweep() asks
  if (fresh || (!slot->wanted.empty() && slot->backend == nullptr)) run(*slot);
}

void CatalogLookup::suspect(const std::string& database) {
  Connection& connection = connection_to(database);
  connection.suspect = true;
  run(connection);
}

void CatalogLookup::run(Connection& connection) {
  const bool compares = connection.suspect && worker_.loop().now() >= connection.compare_at;
  if (connection.busy || (connection.wanted.empty() && !compares)) return;
  if (connection.backend != nullptr && connection.login == nullptr && !connection.backend->alive()) {
    worker_.loop().destroy_later(std::move(connection.backend));
  }
  if (connection.backend != nullptr && connection.login == nullptr) {
    // Before the first names are asked for, too: so that there is something to compare with.
    return compares || connection.fingerprint.empty() ? compare(connection) : ask(connection);
  }
  if (connection.login == nullptr && worker_.loop().now() >= connection.retry_at) open(connection);
}

void CatalogLookup::open(Connection& connection) {
  const auto& config = worker_.config();
  const int primary = worker_.nodes().primary;
  const std::string& user = config.sr_check_user.empty() ? config.health_check_user : config.sr_check_user;
  const std::string& password = config.sr_check_user.empty() ? config.health_check_password : config.sr_check_password;
  if (primary < 0) return;
  if (user.empty()) {
    if (!std::exchange(warned_, true)) {
      log::warning("sr_check_user is not set: the catalogue cannot be asked, so every read stays on the primary");
    }
    return;
  }
  BackendKey key;
  key.database = connection.database;
  key.user = user;
  key.fixed = {{"application_name", "pgweir service"}};
  connection.backend = std::make_unique<Backend>(worker_, primary, std::move(key));
  std::optional<auth::Secret> secret;
  if (!password.empty()) {
    if (auto parsed = auth::Secret::parse(password, worker_.context().password_key)) {
      secret = std::move(*parsed);
    } else {
      log::warning("the password of the service connection cannot be used: {}", parsed.error().one_line());
      connection.backend.reset();
      connection.retry_at = worker_.loop().now() + kRetry;
      return;
    }
  } else {
    secret = worker_.secret_of(user);
  }
  connection.login = std::make_unique<BackendLogin>(
      worker_, *connection.backend, std::move(secret),
      [this, database = connection.database](const LoginFailure* failure) { logged_in(database, failure); });
  const shmem::Node& node = worker_.nodes().nodes[static_cast<std::size_t>(primary)];
  const std::string_view address = node.address.view().empty() ? node.hostname.view() : node.address.view();
  connection.login->start(address, node.port, Milliseconds(worker_.connect_timeout(primary)));
}

void CatalogLookup::logged_in(const std::string& database, const LoginFailure* failure) {
  Connection& connection = *connections_.at(database);
  worker_.loop().destroy_later(std::move(connection.login));
  if (failure == nullptr) {
    connection.backend->set_user(nullptr);
    connection.backend->set_state(BackendState::Busy);
    return run(connection);
  }
  log::warning("the catalogue of database \"{}\" cannot be read, reads stay on the primary: {}", database, failure->error.one_line());
  close(connection);
}

void CatalogLookup::close(Connection& connection) {
  if (connection.backend != nullptr) {
    connection.backend->set_user(nullptr);
    connection.backend->close();
    worker_.loop().destroy_later(std::move(connection.backend));
  }
  connection.busy = false;
  connection.retry_at = worker_.loop().now() + kRetry;
  connection.wanted.clear();  // they are wanted again when they are met again
  connection.asked.clear();
  connection.known.clear();
  connection.one_by_one = 0;
}

void CatalogLookup::ask(Connection& connection) {
  const bool alone = connection.one_by_one > 0;
  const std::size_t count = alone ? 1 : std::min(connection.wanted.size(), lb::kMaxQueryNames);
  if (alone) --connection.one_by_one;
  connection.asked.assign(connection.wanted.begin(), connection.wanted.begin() + static_cast<std::ptrdiff_t>(count));
  connection.wanted.erase(connection.wanted.begin(), connection.wanted.begin() + static_cast<std::ptrdiff_t>(count));
  connection.busy = true;
  // The epoch is read before the question: an answer that a change of the catalogue overtook is then never used.
  const std::uint64_t epoch = worker_.resolver().catalog().epoch();
  std::string query;
  wire::encode_query(query, lb::catalog_query(connection.asked));
  InternalQuery::start(worker_, *connection.backend, std::move(query), 1,
                       [this, database = connection.database, epoch](InternalResult& result) { answered(database, epoch, result); });
}

void CatalogLookup::compare(Connection& connection) {
  connection.busy = true;
  const bool suspect = std::exchange(connection.suspect, false);
  std::string query;
  wire::encode_query(query, lb::catalog_fingerprint_query());
  InternalQuery::start(worker_, *connection.backend, std::move(query), 1,
                       [this, database = connection.database, at = worker_.loop().now(), suspect](InternalResult& result) { compared(database, at, suspect, result); });
}

void CatalogLookup::compared(const std::string& database, Monotonic asked_at, bool suspect, InternalResult& result) {
  Connection& connection = *connections_.at(database);
  connection.busy = false;
  const Monotonic now = worker_.loop().now();
  connection.compare_at = now + std::max<Monotonic::duration>(kCompareEvery, kCompareShare * (now - asked_at));
  connection.idle_since = now;
  const bool told = !result.error && result.rows.size() == 1 && result.rows.front().size() == 1 && !result.rows.front().front().value_or("").empty();
  std::string fingerprint = told ? *result.rows.front().front() : "not told";
  const bool same = told && connection.fingerprint == fingerprint;
  if (suspect && !same) {
    log::info("the catalogue of database \"{}\" may have changed", database);
    worker_.resolver().catalog_changed();
  }
  connection.fingerprint = std::move(fingerprint);
  if (result.lost) {
    log::warning("the catalogue of database \"{}\" cannot be read: {}", database, result.error->one_line());
    return close(connection);
  }
  run(connection);
}

void CatalogLookup::answered(const std::string& database, std::uint64_t epoch, InternalResult& result) {
  Connection& connection = *connections_.at(database);
  connection.busy = false;
  if (result.error) {
    if (result.lost) {
      log::warning("a catalogue look-up in database \"{}\" failed: {}", database, result.error->one_line());
      return close(connection);
    }
    // One name that the server will not look up must not take the others along: each is asked alone, and the culprit
    // is left unknown (which is the primary) until this connection is closed.
    if (connection.asked.size() > 1) {
      connection.wanted.insert(connection.wanted.begin(), connection.asked.begin(), connection.asked.end());
      connection.one_by_one += connection.asked.size();
    } else {
      log::info("the catalogue of database \"{}\" does not tell what \"{}\" is: {}", database, connection.asked.front().name, result.error->one_line());
    }
    connection.asked.clear();
    return run(connection);
  }
  const auto facts = lb::parse_catalog_rows(connection.asked, result.rows);
  if (!facts) {
    log::warning("a catalogue look-up in database \"{}\" gave an unexpected answer", database);
    return close(connection);
  }
  shmem::CatalogFacts table = shmem::CatalogFacts::attach(worker_.context().mapping->catalog_region());
  const auto now = static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(worker_.loop().now().time_since_epoch()).count());
  for (const lb::CatalogFact& fact : *facts) {
    std::vector<shmem::SchemaFact> schemas;
    schemas.reserve(fact.schemas.size());
    for (const lb::SchemaFlags& flags : fact.schemas) {
      schemas.push_back({flags.schema, flags.plain, flags.plain_to_write, flags.builtin, flags.quiet, flags.late, flags.path_doubts,
                         flags.reads_itself, flags.writes_itself, flags.draws_nothing, flags.tells_time});
    }
    table.insert(epoch, database, fact.kind, fact.name, schemas, now);
  }
  for (const lb::Missing& name : connection.asked) connection.known.erase(id_of(name));
  connection.asked.clear();
  connection.idle_since = worker_.loop().now();
  run(connection);
  worker_.wake_parked_soon();
}

void CatalogLookup::sweep(Monotonic now) {
  for (auto& [database, connection] : connections_) {
    if (connection->suspect || (!connection->wanted.empty() && (now - connection->last_name >= kPause || now - connection->waits_since >= kLongest))) run(*connection);
    if (connection->backend == nullptr || connection->login != nullptr || connection->busy) continue;
    if (now - connection->idle_since > kIdle) close(*connection);
  }
}

void CatalogLookup::reconnect() {
  const int primary = worker_.nodes().primary;
  for (auto& [database, connection] : connections_) {
    if (connection->backend == nullptr || connection->backend->node() == primary || connection->login != nullptr || connection->busy) continue;
    close(*connection);
    connection->retry_at = {};
  }
}

}  // namespace weir::child
