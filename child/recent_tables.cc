#include "child/recent_tables.h"

#include <algorithm>
#include <string>

#include "child/worker.h"
#include "common/config/config.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

// Entries of a database that are no table's: such names cannot be.
constexpr std::string_view kEverything = "";
constexpr std::string_view kAnything = "\n";

}  // namespace

RecentTables::RecentTables(Worker& worker)
    : table_(shmem::RecentWrites::attach(worker.context().mapping->recent_writes_region())),
      now_(monotonic_milliseconds(monotonic_now())) {
  const config::Config& config = worker.config();
  limits_.ttl_factor = config.track_table_mutation_ttl_factor;
  limits_.max_staleness = config.track_table_mutation_max_staleness;
  limits_.cold_start = config.track_table_mutation_cold_start_duration;
  limits_.stale_after = worker.policy().delay_limit().stale_after;
  ttl_ = lb::ttl_of_writes(worker.nodes(), worker.delays(), limits_, now_);
}

// An entry is of no use to anybody after this; longer than the time to live now, since that may grow.
std::int64_t RecentTables::keep() const {
  constexpr std::int64_t kLongest = 24LL * 3600 * 1000;  // far from where the table's clock wraps
  constexpr std::int64_t kLeast = 1000;
  return std::clamp(ttl_, kLeast, kLongest);
}

void RecentTables::note(std::string_view database, const lb::WrittenTables& written) const {
  if (written.none()) return;
  const auto note_one = [&](std::string_view name) { table_.note(shmem::written_key(database, name), now_, keep()); };
  if (written.everything()) note_one(kEverything);
  for (const std::string& name : written.names()) note_one(name);
  note_one(kAnything);
}

bool RecentTables::written(std::string_view database, std::string_view name) const {
  shmem::RecentWrites::Written found;
  if (!table_.find(shmem::written_key(database, name), now_, keep(), found)) return false;
  // A run of writes to one table has its limit; that somebody writes to some table all the time is usual.
  if (name == kAnything) found.first = found.last;
  return lb::is_recent(found, ttl_, limits_, now_);
}

bool RecentTables::meets(std::string_view database, const parser::StatementFacts& facts, const lb::Resolved& resolved) const {
  const bool names_tables = std::any_of(facts.statements.begin(), facts.statements.end(), [](const parser::Statement& statement) { return !statement.relations.empty(); });
  if (!names_tables && !resolved.reads_beyond) return false;
  if (now_ - table_.created_at() < limits_.cold_start || written(database, kEverything)) return true;
  if (resolved.reads_beyond && written(database, kAnything)) return true;
  return std::any_of(facts.statements.begin(), facts.statements.end(), [&](const parser::Statement& statement) {
    return std::any_of(statement.relations.begin(), statement.relations.end(), [&](const parser::Name& name) {
      return written(database, lb::adaptive_name(name.name, false));
    });
  });
}

}  // namespace weir::child
