#include "parent/node_table_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "common/base/clock.h"
#include "common/base/log.h"

namespace weir::parent {
namespace {

// Two rows say the same but for the time of their change.
bool same(const shmem::Node& a, const shmem::Node& b) {
  return a.hostname.view() == b.hostname.view() && a.address.view() == b.address.view() && a.reason.view() == b.reason.view() &&
         a.application_name.view() == b.application_name.view() && a.port == b.port && a.weight == b.weight && a.status == b.status &&
         a.admin == b.admin && a.role == b.role && a.always_primary == b.always_primary && a.allow_to_failover == b.allow_to_failover &&
         a.seen_connected == b.seen_connected && a.frozen == b.frozen;
}

bool up(const shmem::Node& node) { return node.status == shmem::NodeStatus::Up; }

int find_primary(const shmem::NodeView& old, const shmem::NodeView& view, Clustering clustering, bool roles_known) {
  for (int id = 0; id < view.count; ++id) {
    const shmem::Node& node = view.nodes[static_cast<std::size_t>(id)];
    if (node.always_primary && up(node)) return id;
  }
  std::vector<int> writable;
  int first_up = -1;
  for (int id = 0; id < view.count; ++id) {
    const shmem::Node& node = view.nodes[static_cast<std::size_t>(id)];
    // One answer that did not come makes a primary doubtful, and not another's place free.
    const bool doubtful = id == old.primary && node.status == shmem::NodeStatus::Suspect;
    if (!up(node) && !doubtful) continue;
    if (first_up < 0) first_up = id;
    if (node.role == shmem::NodeRole::Primary) writable.push_back(id);
  }
  if (clustering != Clustering::Streaming || !roles_known) return first_up;
  if (writable.empty()) return -1;
  if (writable.size() == 1) return writable[0];
  // Two writable servers: which one is right cannot be seen from here. The known one stays; else nothing is written.
  return std::find(writable.begin(), writable.end(), old.primary) != writable.end() ? old.primary : -1;
}

}  // namespace

shmem::NodeView next_view(const shmem::NodeView& old, const std::vector<config::BackendConfig>& backends, Clustering clustering, bool roles_known,
                          const std::vector<shmem::Observation>& observations, std::int64_t now) {
  shmem::NodeView view;
  view.count = static_cast<std::int32_t>(std::min<std::size_t>(backends.size(), shmem::kMaxNodes));
  for (int id = 0; id < view.count; ++id) {
    const auto index = static_cast<std::size_t>(id);
    const config::BackendConfig& backend = backends[index];
    shmem::Node& node = view.nodes[index];
    if (backend.port == 0) continue;  // stays Unused
    const shmem::Node before = id < old.count ? old.nodes[index] : shmem::Node{};
    const shmem::Observation seen = index < observations.size() ? observations[index] : shmem::Observation{};
    node.hostname.assign(backend.hostname);
    node.port = static_cast<std::int32_t>(backend.port);
    node.weight = backend.weight;
    node.application_name.assign(backend.application_name);
    node.always_primary = backend.always_primary;
    node.allow_to_failover = backend.allow_to_failover;
    node.address.assign(seen.address.view());
    node.seen_connected = before.seen_connected;
    node.admin = before.admin;
    if (seen.answer == shmem::Answer::None) {
      node.status = shmem::NodeStatus::Unknown;
      node.reason.assign("not checked yet");
    } else {
      node.status = seen.up ? (seen.answer == shmem::Answer::Silent ? shmem::NodeStatus::Suspect : shmem::NodeStatus::Up) : shmem::NodeStatus::Down;
      node.reason.assign(seen.text.view());
    }
    node.frozen = node.status == shmem::NodeStatus::Down && seen.answer == shmem::Answer::Silent;
    const bool known = clustering == Clustering::Streaming && roles_known && seen.answer != shmem::Answer::None && seen.in_recovery >= 0;
    node.role = known ? (seen.in_recovery == 1 ? shmem::NodeRole::Standby : shmem::NodeRole::Primary) : before.role;
    node.changed_at = before.changed_at;
  }
  view.primary = find_primary(old, view, clustering, roles_known);
  for (int id = 0; id < view.count; ++id) {
    const auto index = static_cast<std::size_t>(id);
    shmem::Node& node = view.nodes[index];
    if (node.status == shmem::NodeStatus::Unused) continue;
    const bool by_place = clustering != Clustering::Streaming || !roles_known;
    if (by_place) node.role = id == view.primary ? shmem::NodeRole::Primary : (clustering == Clustering::Logical ? shmem::NodeRole::Standby : shmem::NodeRole::Unknown);
    if (node.always_primary) node.role = shmem::NodeRole::Primary;
    // A second writable server is no standby and gets no reads.
    if (!by_place && node.role == shmem::NodeRole::Primary && id != view.primary && node.status == shmem::NodeStatus::Up) {
      node.status = shmem::NodeStatus::Suspect;
      node.reason.assign("it is writable, but another node is the primary");
    }
    const shmem::Node before = id < old.count ? old.nodes[index] : shmem::Node{};
    if (before.status != node.status || before.role != node.role) node.changed_at = now;
  }
  return view;
}

bool NodeTableWriter::update(const config::Config& config) {
  std::vector<shmem::Observation> observations(config.backends.size());
  for (std::size_t id = 0; id < config.backends.size() && id < shmem::kMaxNodes; ++id) mapping_.observations().read(static_cast<int>(id), observations[id]);
  const Clustering clustering = config.backend_clustering_mode == "raw" ? Clustering::Raw : config.backend_clustering_mode == "logical_replication" ? Clustering::Logical : Clustering::Streaming;
  const bool roles_known = !config.sr_check_user.empty() || !config.health_check_user.empty();
  auto next = std::make_unique<shmem::NodeView>(next_view(view_, config.backends, clustering, roles_known, observations, epoch_seconds(wall_now())));
  bool changed = next->count != view_.count || next->primary != view_.primary;
  for (int id = 0; id < next->count && !changed; ++id) {
    changed = !same(next->nodes[static_cast<std::size_t>(id)], view_.nodes[static_cast<std::size_t>(id)]);
  }
  if (!warned_ceiling_ && config.max_pool > 0) {
    for (std::size_t id = 0; id < observations.size(); ++id) {
      const int offered = observations[id].max_connections - observations[id].reserved_connections;
      if (observations[id].max_connections > 0 && config.num_init_children * config.max_pool > offered) {
        warned_ceiling_ = true;
        log::warning("num_init_children ({}) times max_pool ({}) is more than the {} connections that node {} offers", config.num_init_children, config.max_pool, offered, id);
      }
    }
  }
  if (!changed) return false;
  const auto old = std::make_unique<shmem::NodeView>(view_);
  view_ = *next;
  mapping_.node_table().publish(view_);
  log_changes(*old);
  return true;
}

void NodeTableWriter::log_changes(const shmem::NodeView& old) const {
  if (view_.primary != old.primary) {
    if (view_.primary >= 0) {
      log::info("node {} is the primary", view_.primary);
    } else if (old.count > 0) {
      log::warning("there is no primary now");
    }
  }
  for (int id = 0; id < view_.count; ++id) {
    const shmem::Node& now = view_.nodes[static_cast<std::size_t>(id)];
    const shmem::NodeStatus before = id < old.count ? old.nodes[static_cast<std::size_t>(id)].status : shmem::NodeStatus::Unused;
    if (before == now.status || now.status == shmem::NodeStatus::Unknown) continue;
    log::info("node {} ({}:{}) is {} now{}{}", id, now.hostname.view(), now.port, enum_name(now.status), now.reason.view().empty() ? "" : ": ", now.reason.view());
  }
}

bool NodeTableWriter::any_usable() const {
  return std::any_of(view_.nodes.begin(), view_.nodes.begin() + view_.count, [](const shmem::Node& node) { return node.usable(); });
}

void NodeTableWriter::seen(int node) {
  if (node < 0 || node >= view_.count || view_.nodes[static_cast<std::size_t>(node)].seen_connected) return;
  view_.nodes[static_cast<std::size_t>(node)].seen_connected = true;
  mapping_.node_table().publish(view_);
}

}  // namespace weir::parent
