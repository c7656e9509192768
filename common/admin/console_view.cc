#include "common/admin/console_view.h"

#include <algorithm>
#include <iterator>

namespace weir::admin {

bool is_console(std::string_view database) {
  return std::find(std::begin(kConsoleNames), std::end(kConsoleNames), database) != std::end(kConsoleNames);
}

void add_traffic(std::vector<DatabaseTraffic>& into, const shmem::DatabaseTable& table, std::int64_t now_ms) {
  const std::int64_t since = table.recent_since_ms();
  const double seconds = since > 0 && now_ms > since ? static_cast<double>(now_ms - since) / 1000 : 0;
  for (std::uint32_t i = 0; i < table.used(); ++i) {
    const shmem::DatabaseCounts& row = table.row(i);
    auto place = std::lower_bound(into.begin(), into.end(), row.database(), [](const DatabaseTraffic& t, std::string_view name) { return t.database < name; });
    if (place == into.end() || place->database != row.database()) place = into.insert(place, DatabaseTraffic{std::string(row.database()), {}, {}, {}});
    row.add_to(place->totals);
    shmem::TrafficSums recent{};
    row.add_recent_to(recent);
    for (std::size_t k = 0; k < shmem::kTrafficKinds; ++k) {
      place->recent[k] += recent[k];
      if (seconds > 0) place->rates[k] += static_cast<double>(recent[k]) / seconds;
    }
  }
}

config::RuntimeOverrides select_overrides(const std::vector<ledger::Override>& overrides, std::string_view database, std::string_view user) {
  config::RuntimeOverrides said;
  for (const ledger::Override& one : overrides) {
    const bool of_database = one.database == database;
    const bool of_user = one.user == user;
    if (one.kind == ledger::OverrideKind::Pool && of_database && of_user) said.pool = one.limits;
    if (one.kind == ledger::OverrideKind::User && of_user) said.user = one.limits;
    if (one.kind == ledger::OverrideKind::Database && of_database) said.database = one.limits;
  }
  return said;
}

config::RuntimeOverrides ConsoleView::overrides_for(std::string_view database, std::string_view user) const { return select_overrides(overrides, database, user); }

}  // namespace weir::admin
