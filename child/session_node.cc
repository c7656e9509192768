// The node of an exchange, and nodes that come and go: see client_session.h.
#include <fmt/format.h>

#include "child/client_session.h"
#include "child/worker.h"
#include "common/base/sqlstate.h"
#include "common/config/config.h"
#include "lb/reader.h"

namespace weir::child {

// Nodes to which a connection could not be made a moment ago; those that this session is connected to count as good.
lb::NodeSet ClientSession::avoided() const {
  lb::NodeSet nodes = worker_.avoided();
  if (nodes.any()) {
    for (const auto& backend : set_) nodes.reset(static_cast<std::size_t>(backend->node()));
  }
  for (const Abandoned& one : abandoned_) nodes.set(static_cast<std::size_t>(one.backend->node()));
  return nodes;
}

lb::ReaderInputs ClientSession::reader_inputs(lb::Candidates candidates) {
  return {.view = worker_.nodes(),
          .policy = worker_.policy(),
          .candidates = candidates,
          .excluded = excluded_ | avoided(),
          .delays = worker_.delays(),
          .now = monotonic_milliseconds(worker_.loop().now())};
}

int ClientSession::pick_reader(bool standby_only) {
  const lb::Policy& policy = worker_.policy();
  if (!redirect_) redirect_ = policy.redirect(identity_.application_name, identity_.database, identity_.user);
  if (redirect_unit_ < 0 || config().statement_level_load_balance) redirect_unit_ = worker_.random().unit();
  lb::ReaderInputs inputs = reader_inputs(standby_only ? lb::Candidates::Standbys : lb::Candidates::Readable);
  inputs.kept = config().statement_level_load_balance ? -1 : reader_node_;
  inputs.redirect = *redirect_;
  inputs.loads = worker_.loads();
  inputs.redirect_unit = redirect_unit_;
  inputs.random_unit = worker_.random().unit();
  const lb::Reader reader = lb::choose_reader(inputs);
  if (reader.drawn >= 0 && !standby_only && excluded_.none()) reader_node_ = reader.drawn;
  return reader.node >= 0 ? reader.node : worker_.nodes().primary;
}

int ClientSession::choose_node(const lb::Target& target) {
  const shmem::NodeView& nodes = worker_.nodes();
  if (target.aside) return choose_aside(target);
  switch (target.scope) {
    case lb::Scope::SameNode:
      if (block_node_ >= 0) return block_node_;
      return active_ != nullptr ? active_->node() : nodes.primary;
    case lb::Scope::AnyReadable: return batch_.primary_only ? nodes.primary : pick_reader(target.prefer_standby);
    case lb::Scope::Node:
      return !batch_.primary_only && lb::may_read(reader_inputs(lb::Candidates::Readable), target.node) ? target.node : nodes.primary;
    case lb::Scope::Primary:
    case lb::Scope::Local: return nodes.primary;
  }
  return nodes.primary;
}

Backend* ClientSession::backend_at(int node) {
  for (auto& backend : set_) {
    if (backend->node() == node) return backend.get();
  }
  return nullptr;
}

void ClientSession::nodes_changed(bool grown) {
  if (state_ == ClientState::Closing || set_.empty()) return;
  const shmem::NodeView& nodes = worker_.nodes();
  if (grown && block_node_ < 0) reader_node_ = -1;  // drawn again: a node that is back gets its share of old sessions too
  for (auto& backend : set_) {
    // A frozen or cut off server never says that it is gone.
    const bool frozen = backend->node() < nodes.count && nodes.nodes[static_cast<std::size_t>(backend->node())].frozen;
    if (!frozen || !backend->alive()) continue;
    backend->give_up(make_error(sqlstate::kConnectionFailure, fmt::format("node {} does not answer any more", backend->node())));
    // The set has changed, and its order: once more, when this turn is over.
    worker_.loop().defer([this, alive = std::weak_ptr<char>(alive_)] {
      if (!alive.expired()) nodes_changed(false);
    });
    return;
  }
  if (internal_ != nullptr || acquiring_) return;
  if (reader_node_ >= 0 && !lb::eligible_node(nodes, reader_node_)) reader_node_ = -1;
  if (reader_node_ >= 0 && backend_at(reader_node_) == nullptr) reader_node_ = -1;  // a node that is back gets its share
  for (std::size_t i = 0; i < set_.size();) {
    Backend& backend = *set_[i];
    const bool idle = &backend != active_ || (tracker_.idle() && !tracker_.unsynced());
    const bool usable = backend.node() < nodes.count && nodes.nodes[static_cast<std::size_t>(backend.node())].usable();
    const bool primary = backend.node() == nodes.primary;
    if (!usable && idle && !is_abandoned(backend) && !primary && block_node_ != backend.node() && nodes.primary >= 0 && !primary_backend(backend)) {
      remove_backend(backend);
    } else {
      ++i;
    }
  }
}

}  // namespace weir::child
