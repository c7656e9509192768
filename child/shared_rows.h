// This child's rows in shared memory: what SHOW tells of its clients and server connections, and its load. Nobody else
// writes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/process/role_context.h"
#include "lb/choose.h"
#include "common/shmem/statement_counts.h"

namespace weir::child {

class Backend;
class ClientSession;

class SharedRows {
 public:
  explicit SharedRows(process::RoleContext& context);

  void started();
  void draining();
  void set_clients(std::size_t clients);
  void count_served();
  void set_waiting(std::size_t waiting);
  void set_asleep(std::size_t asleep);
  // A client was given to another child.
  void count_moved();
  std::uint32_t total_clients() const;
  // Clients of the other running children on average, and whether one of them has nobody waiting.
  double siblings_mean(bool& sibling_has_room) const;

  void publish_session(const ClientSession& session);
  // Only its state and transaction status have changed.
  void publish_phase(const ClientSession& session);
  void forget_session(int slot);
  void register_backend(Backend& backend);
  void publish_backend(Backend& backend);
  // It is lent to a session or back from it: its row follows with publish_old_rows(), once a second.
  void note_lent(Backend& backend);
  void publish_old_rows();
  void forget_backend(Backend& backend);
  // By row; null where there is none. Those beyond the table are not among them.
  std::span<Backend* const> backends() const { return backends_; }

  // A read on NODE had its first answer after SAMPLE microseconds.
  void note_latency(int node, std::int64_t sample);
  // Of all children: connections, and the mean latency of those that have measured one.
  void read_loads(int nodes, lb::NodeLoads& loads) const;
  // A client's statement goes to NODE: the parent is told of the first.
  void use_node(int node);
  shmem::NodeCounts& counts(int node);

 private:
  void count_connection(Backend& backend, bool in_use);
  std::vector<Backend*> old_rows_;  // of which the row does not show the state

  process::RoleContext& context_;
  std::vector<Backend*> backends_;
  std::vector<int> free_rows_;
  int next_row_ = 0;
  std::vector<bool> node_seen_;
};

}  // namespace weir::child
