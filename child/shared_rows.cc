#include "child/shared_rows.h"

#include <unistd.h>

#include "child/backend.h"
#include "child/client_session.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

std::int64_t wall_seconds() { return epoch_seconds(wall_now()); }

}  // namespace

SharedRows::SharedRows(process::RoleContext& context) : context_(context), node_seen_(shmem::kMaxNodes, false) {}

void SharedRows::started() {
  shmem::ChildRow& row = context_.mapping->child_row(context_.slot);
  row.started_at = wall_seconds();
  row.pid = getpid();
  row.state = shmem::ChildState::Running;
}

void SharedRows::draining() { context_.mapping->child_row(context_.slot).state = shmem::ChildState::Draining; }

void SharedRows::set_clients(std::size_t clients) {
  context_.mapping->child_row(context_.slot).clients.store(static_cast<std::uint32_t>(clients), std::memory_order_relaxed);
}

void SharedRows::count_served() { context_.mapping->child_row(context_.slot).served.fetch_add(1, std::memory_order_relaxed); }

void SharedRows::set_waiting(std::size_t waiting) {
  context_.mapping->child_row(context_.slot).waiting.store(static_cast<std::uint32_t>(waiting), std::memory_order_relaxed);
}

void SharedRows::set_asleep(std::size_t asleep) {
  context_.mapping->child_row(context_.slot).asleep.store(static_cast<std::uint32_t>(asleep), std::memory_order_relaxed);
}

void SharedRows::count_moved() { context_.mapping->child_row(context_.slot).moved_away.fetch_add(1, std::memory_order_relaxed); }

std::uint32_t SharedRows::total_clients() const { return context_.mapping->total_clients(); }

double SharedRows::siblings_mean(bool& sibling_has_room) const {
  double sum = 0;
  int running = 0;
  sibling_has_room = false;
  for (int slot = 0; slot < context_.mapping->children(); ++slot) {
    if (slot == context_.slot) continue;
    const shmem::ChildRow& row = context_.mapping->child_row(slot);
    if (row.state.load(std::memory_order_relaxed) != shmem::ChildState::Running) continue;
    sum += row.clients.load(std::memory_order_relaxed);
    sibling_has_room = sibling_has_room || row.waiting.load(std::memory_order_relaxed) == 0;
    ++running;
  }
  return running > 0 ? sum / running : 1e18;
}

void SharedRows::publish_session(const ClientSession& session) {
  if (session.slot() >= context_.mapping->plan().sessions_per_child) return;
  shmem::ChildRow& child = context_.mapping->child_row(context_.slot);
  const auto used = static_cast<std::uint32_t>(session.slot() + 1);
  if (child.session_slots.load(std::memory_order_relaxed) < used) child.session_slots.store(used, std::memory_order_relaxed);
  shmem::SessionRow row;
  row.in_use = session.state() != ClientState::Closing;
  row.status = session.status();
  row.state = static_cast<std::uint8_t>(session.state());
  row.peer_port = session.identity().peer_port;
  row.connected_at = session.connected_epoch();
  row.database.assign(session.identity().database);
  row.user.assign(session.identity().user);
  row.peer.assign(session.identity().peer);
  context_.mapping->session_row(context_.slot, session.slot()).publish(row);
}

void SharedRows::publish_phase(const ClientSession& session) {
  if (session.slot() >= context_.mapping->plan().sessions_per_child) return;
  context_.mapping->session_row(context_.slot, session.slot()).set_live(session.status(), static_cast<std::uint8_t>(session.state()));
}

void SharedRows::forget_session(int slot) {
  if (slot < context_.mapping->plan().sessions_per_child) context_.mapping->session_row(context_.slot, slot).publish(shmem::SessionRow{});
}

void SharedRows::register_backend(Backend& backend) {
  if (!free_rows_.empty()) {
    backend.row = free_rows_.back();
    free_rows_.pop_back();
  } else if (next_row_ < context_.mapping->plan().backends_per_child) {
    backend.row = next_row_++;
    context_.mapping->child_row(context_.slot).backend_slots.store(static_cast<std::uint32_t>(next_row_), std::memory_order_relaxed);
  }
  if (backend.row < 0) return;
  backends_.resize(static_cast<std::size_t>(next_row_));
  backends_[static_cast<std::size_t>(backend.row)] = &backend;
  count_connection(backend, true);
}

void SharedRows::count_connection(Backend& backend, bool in_use) {
  if (backend.counted == in_use) return;
  backend.counted = in_use;
  auto& count = context_.mapping->child_row(context_.slot).connections.at(static_cast<std::size_t>(backend.node()));
  const std::uint32_t before = count.load(std::memory_order_relaxed);
  count.store(in_use ? before + 1 : before - 1, std::memory_order_relaxed);
}

void SharedRows::note_latency(int node, std::int64_t sample) {
  auto& latency = context_.mapping->child_row(context_.slot).latency.at(static_cast<std::size_t>(node));
  latency.store(lb::smoothed_latency(latency.load(std::memory_order_relaxed), sample), std::memory_order_relaxed);
}

void SharedRows::read_loads(int nodes, lb::NodeLoads& loads) const {
  for (std::size_t id = 0; id < static_cast<std::size_t>(nodes); ++id) {
    std::uint64_t connections = 0;
    std::uint64_t latency = 0;
    std::uint64_t measured = 0;
    for (int slot = 0; slot < context_.mapping->children(); ++slot) {
      const shmem::ChildRow& row = context_.mapping->child_row(slot);
      connections += row.connections[id].load(std::memory_order_relaxed);
      const std::uint32_t own = row.latency[id].load(std::memory_order_relaxed);
      latency += own;
      measured += own > 0 ? 1U : 0U;
    }
    loads.connections[id] = static_cast<std::uint32_t>(connections);
    loads.latency[id] = measured > 0 ? static_cast<std::uint32_t>(latency / measured) : 0;
  }
}

void SharedRows::publish_backend(Backend& backend) {
  if (backend.row < 0) return;
  count_connection(backend, backend.state() != BackendState::Idle && backend.state() != BackendState::Closing);
  auto& slot = context_.mapping->backend_row(context_.slot, backend.row);
  shmem::BackendRow row;
  slot.read(row);
  const bool was_busy = row.in_use && row.client_connected;
  if (!row.in_use) row.created_at = wall_seconds();
  row.in_use = true;
  row.node = backend.node();
  row.pid = backend.pid;
  row.uses = backend.uses;
  row.client_connected = backend.state() == BackendState::Busy;
  if (row.client_connected && !was_busy) row.client_since = wall_seconds();
  if (!row.client_connected && was_busy) row.client_until = wall_seconds();
  row.database.assign(backend.key().database);
  row.user.assign(backend.key().user);
  slot.publish(row);
}

void SharedRows::note_lent(Backend& backend) {
  count_connection(backend, backend.state() == BackendState::Busy);
  if (!std::exchange(backend.row_is_old, true)) old_rows_.push_back(&backend);
}

void SharedRows::publish_old_rows() {
  for (Backend* backend : old_rows_) {
    backend->row_is_old = false;
    publish_backend(*backend);
  }
  old_rows_.clear();
}

void SharedRows::forget_backend(Backend& backend) {
  if (std::exchange(backend.row_is_old, false)) std::erase(old_rows_, &backend);
  if (backend.row < 0) return;
  count_connection(backend, false);
  context_.mapping->backend_row(context_.slot, backend.row).publish(shmem::BackendRow{});
  backends_[static_cast<std::size_t>(backend.row)] = nullptr;
  free_rows_.push_back(backend.row);
  backend.row = -1;
}

shmem::NodeCounts& SharedRows::counts(int node) { return context_.mapping->counts(context_.slot, node); }

void SharedRows::use_node(int node) {
  const auto index = static_cast<std::size_t>(node);
  if (!node_seen_.at(index)) {
    node_seen_.at(index) = true;
    if (context_.mapping->requests(context_.slot).push({shmem::Request::Kind::NodeSeen, node})) {
      context_.wakes->at(process::RoleContext::kParentWake).notify();
    }
  }
}

}  // namespace weir::child
