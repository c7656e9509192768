// SHOW POOL_PROCESSES. Pure: values in, rows out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/admin/rowset.h"
#include "common/shmem/session_rows.h"

namespace weir::admin {

// One child, with its rows in use.
struct ProcessFacts {
  std::int32_t pid = 0;
  std::int64_t started_at = 0;  // epoch seconds
  std::uint64_t served = 0;     // clients since it started
  std::uint32_t clients = 0;    // now
  std::uint32_t waiting = 0;    // for a server connection
  std::uint32_t busy = 0;       // thousandths of the time that it uses a processor
  std::uint32_t asleep = 0;     // of its clients: idle, and kept as snapshots
  std::uint64_t moved_away = 0; // clients that it has given to others
  bool draining = false;        // takes no more clients and ends with its last
  std::vector<shmem::SessionRow> sessions;
  std::vector<shmem::BackendRow> backends;
};

// What a client does, in Pgpool-II's words: Wait for connection, Connecting, Idle, Idle in transaction, Execute
// command.
std::string_view client_status_text(const shmem::SessionRow& session);

// Pgpool-II's columns, then `clients` and `waiting` (now) and `draining`.
std::vector<Column> processes_columns();

// One row a child. A child serves many clients: client_connection_count is those served since it started; database and
// username are those of the client that came last; status is that of its busiest client; backend_connection_time is
// that of its oldest server connection and pool_counter the uses of all of them.
Rowset show_processes(std::span<const ProcessFacts> processes);

}  // namespace weir::admin
