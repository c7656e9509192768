// SHOW CLIENTS and SHOW SERVERS.
#include <fmt/format.h>

#include "common/admin/console_tables.h"
#include "common/admin/show_text.h"

namespace weir::admin {
namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;

std::string pointer(std::uint64_t number) { return number == 0 ? std::string() : fmt::format("{:#x}", number); }

std::optional<std::string> number_or_null(std::int64_t value) {
  if (value < 0) return std::nullopt;
  return std::to_string(value);
}

}  // namespace

std::vector<Column> sockets_columns() {
  return {{"type"},
          {"user"},
          {"database"},
          {"replication"},
          {"state"},
          {"addr"},
          {"port", kInt4},
          {"local_addr"},
          {"local_port", kInt4},
          {"connect_time"},
          {"request_time"},
          {"wait", kInt4},
          {"wait_us", kInt4},
          {"close_needed", kInt4},
          {"ptr"},
          {"link"},
          {"remote_pid", kInt4},
          {"tls"},
          {"application_name"},
          {"prepared_statements", kInt4},
          {"id", kInt4},
          {"child", kInt4},
          {"node", kInt4},
          {"held_for"},
          {"held_seconds", kInt8}};
}

Rowset show_sockets(const std::vector<SocketFacts>& sockets, bool clients) {
  Rowset out{sockets_columns(), {}};
  out.rows.reserve(sockets.size());
  for (const SocketFacts& s : sockets) {
    out.rows.push_back(Row{clients ? "C" : "S",
                           s.user,
                           s.database,
                           s.replication,
                           std::string(socket_state_text(s.state)),
                           s.address,
                           std::to_string(s.port),
                           s.local_address,
                           std::to_string(s.local_port),
                           zoned_time_text(s.connected_at),
                           zoned_time_text(s.requested_at),
                           std::to_string(s.wait_us / kMicroseconds),
                           std::to_string(s.wait_us % kMicroseconds),
                           s.close_needed ? "1" : "0",
                           pointer(s.self),
                           pointer(s.link),
                           std::to_string(s.remote_pid),
                           "",
                           s.application_name,
                           std::to_string(s.prepared_statements),
                           std::to_string(s.id),
                           std::to_string(s.child),
                           number_or_null(s.node),
                           s.held_for,
                           number_or_null(s.held_us < 0 ? -1 : s.held_us / kMicroseconds)});
  }
  return out;
}

}  // namespace weir::admin
