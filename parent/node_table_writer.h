// The only code that changes the node table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "common/shmem/mapping.h"

namespace weir::parent {

enum class Clustering { Streaming, Logical, Raw };

// What the table shall be. Pure. SEEN: nodes that have served a client.
shmem::NodeView next_view(const shmem::NodeView& old, const std::vector<config::BackendConfig>& backends, Clustering clustering, bool roles_known,
                          const std::vector<shmem::Observation>& observations, std::int64_t now);

class NodeTableWriter {
 public:
  explicit NodeTableWriter(shmem::Mapping& mapping) : mapping_(mapping) {}

  // Merges configuration and observations; publishes if anything changed. True: it did.
  bool update(const config::Config& config);
  void seen(int node);
  const shmem::NodeView& view() const { return view_; }
  bool any_usable() const;

 private:
  void log_changes(const shmem::NodeView& old) const;

  shmem::Mapping& mapping_;
  shmem::NodeView view_;
  bool warned_ceiling_ = false;
};

}  // namespace weir::parent
