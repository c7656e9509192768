#include "common/admin/show_pools.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/admin/show_text.h"

namespace weir::admin {
namespace {

using shmem::BackendRow;
using shmem::SessionRow;

// Numbers the connections of one child.
class PoolIds {
 public:
  int id_of(const BackendRow& backend) {
    const std::pair owner{backend.database.view(), backend.user.view()};
    const int nth = on_node_[{owner.first, owner.second, backend.node}]++;
    return ids_.try_emplace({owner.first, owner.second, nth}, static_cast<int>(ids_.size())).first->second;
  }

 private:
  using Key = std::tuple<std::string_view, std::string_view, int>;
  std::map<Key, int> on_node_;  // connections seen so far, by node
  std::map<Key, int> ids_;      // by their number on that node
};

const SessionRow* client_of(const ProcessFacts& process, const BackendRow& backend) {
  if (!backend.client_connected || backend.session < 0) return nullptr;
  for (const SessionRow& session : process.sessions) {
    if (session.slot == backend.session) return &session;
  }
  return nullptr;
}

std::string_view status_of(const BackendRow& backend, const SessionRow* client) {
  if (!backend.client_connected) return "Wait for connection";
  return client != nullptr ? client_status_text(*client) : "Execute command";
}

std::int64_t idle_seconds(const SessionRow* client, std::int64_t now) {
  if (client == nullptr || client->phase() != shmem::ClientPhase::Idle || client->state_since == 0) return 0;
  return now > client->state_since ? now - client->state_since : 0;
}

}  // namespace

std::vector<Column> pools_columns() {
  return {{"pool_pid", kInt4},
          {"start_time"},
          {"client_connection_count", kInt8},
          {"pool_id", kInt4},
          {"backend_id", kInt4},
          {"database"},
          {"username"},
          {"backend_connection_time"},
          {"client_connection_time"},
          {"client_disconnection_time"},
          {"client_idle_duration", kInt8},
          {"majorversion", kInt4},
          {"minorversion", kInt4},
          {"pool_counter", kInt8},
          {"pool_backendpid", kInt4},
          {"pool_connected", kInt4},
          {"status"},
          {"load_balance_node", kInt4},
          {"client_host"},
          {"client_port"},
          {"statement"}};
}

Rowset show_pools(std::span<const ProcessFacts> processes, std::int64_t now) {
  Rowset out{pools_columns(), {}};
  for (const ProcessFacts& process : processes) {
    PoolIds ids;
    for (const BackendRow& backend : process.backends) {
      const SessionRow* client = client_of(process, backend);
      out.rows.push_back(Row{std::to_string(process.pid),
                             time_text(process.started_at),
                             std::to_string(process.served),
                             std::to_string(ids.id_of(backend)),
                             std::to_string(backend.node),
                             std::string(backend.database.view()),
                             std::string(backend.user.view()),
                             time_text(backend.created_at),
                             time_text(backend.client_since),
                             time_text(backend.client_until),
                             std::to_string(idle_seconds(client, now)),
                             "3",
                             "0",
                             std::to_string(backend.uses),
                             std::to_string(backend.pid),
                             backend.client_connected ? "1" : "0",
                             std::string(status_of(backend, client)),
                             backend.load_balance_node ? "1" : "0",
                             client != nullptr ? std::string(client->peer.view()) : "",
                             client != nullptr && client->peer_port != 0 ? std::to_string(client->peer_port) : "",
                             ""});
    }
  }
  return out;
}

}  // namespace weir::admin
