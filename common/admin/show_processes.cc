#include "common/admin/show_processes.h"

#include <algorithm>
#include <string>

#include "common/admin/show_text.h"

namespace weir::admin {
namespace {

using shmem::ClientPhase;
using shmem::SessionRow;

constexpr std::string_view kNoClient = "Wait for connection";

// Which of several clients' states tells most of their process.
int busyness(const SessionRow& session) {
  switch (session.phase()) {
    case ClientPhase::AwaitBackend:
    case ClientPhase::AwaitPrimary:
    case ClientPhase::Preparing:
    case ClientPhase::InExchange: return 4;
    case ClientPhase::Idle: return session.status == 'I' ? 2 : 3;
    case ClientPhase::Startup: return 1;
    case ClientPhase::Closing: break;
  }
  return 0;
}

const SessionRow* newest_logged_in(const ProcessFacts& process) {
  const SessionRow* newest = nullptr;
  for (const SessionRow& session : process.sessions) {
    if (session.database.view().empty()) continue;
    if (newest == nullptr || session.connected_at > newest->connected_at) newest = &session;
  }
  return newest;
}

std::string_view process_status(const ProcessFacts& process) {
  const auto busiest =
      std::max_element(process.sessions.begin(), process.sessions.end(),
                       [](const SessionRow& a, const SessionRow& b) { return busyness(a) < busyness(b); });
  return busiest == process.sessions.end() ? kNoClient : client_status_text(*busiest);
}

}  // namespace

std::string_view client_status_text(const SessionRow& session) {
  switch (busyness(session)) {
    case 4: return "Execute command";
    case 3: return "Idle in transaction";
    case 2: return "Idle";
    case 1: return "Connecting";
    default: return kNoClient;
  }
}

std::vector<Column> processes_columns() {
  return {{"pool_pid", kInt4},
          {"start_time"},
          {"client_connection_count", kInt8},
          {"database"},
          {"username"},
          {"backend_connection_time"},
          {"pool_counter", kInt8},
          {"status"},
          {"clients", kInt4},
          {"waiting", kInt4},
          {"draining"},
          {"busy_percent", kInt4},
          {"asleep", kInt4},
          {"moved_away", kInt8}};
}

Rowset show_processes(std::span<const ProcessFacts> processes) {
  Rowset out{processes_columns(), {}};
  for (const ProcessFacts& process : processes) {
    const SessionRow* newest = newest_logged_in(process);
    std::int64_t oldest = 0;
    std::uint64_t uses = 0;
    for (const shmem::BackendRow& backend : process.backends) {
      if (oldest == 0 || backend.created_at < oldest) oldest = backend.created_at;
      uses += backend.uses;
    }
    out.rows.push_back(Row{std::to_string(process.pid),
                           time_text(process.started_at),
                           std::to_string(process.served),
                           newest != nullptr ? std::string(newest->database.view()) : "",
                           newest != nullptr ? std::string(newest->user.view()) : "",
                           time_text(oldest),
                           std::to_string(uses),
                           std::string(process_status(process)),
                           std::to_string(process.clients),
                           std::to_string(process.waiting),
                           process.draining ? "true" : "false",
                           std::to_string((process.busy + 5) / 10),
                           std::to_string(process.asleep),
                           std::to_string(process.moved_away)});
  }
  return out;
}

}  // namespace weir::admin
