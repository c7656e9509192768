// Makes the shared segment and hands out its parts; see layout.h for who may write what.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/base/result.h"
#include "common/shmem/layout.h"

namespace weir::shmem {

struct MappingPlan {
  int children = 1;
  int sessions_per_child = 1000;
  int backends_per_child = 1024;
  std::size_t catalog_bytes = 8U << 20U;
};

class Mapping {
 public:
  static Result<std::unique_ptr<Mapping>> create(const MappingPlan& plan);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const MappingPlan& plan() const { return plan_; }
  int children() const { return plan_.children; }

  ServerStatus& status() { return head().status; }
  NodeTable& node_table() { return head().nodes; }
  Observations& observations() { return head().observations; }
  Suspicions& suspicions() { return head().suspicions; }
  NodeCounters& counters() { return head().counters; }
  ChildRow& child_row(int slot) { return child(slot).row; }
  CancelMailbox& cancel_mailbox(int slot) { return child(slot).cancels; }
  RequestRing& requests(int slot) { return child(slot).requests; }
  SessionSlot& session_row(int slot, int index);
  BackendSlot& backend_row(int slot, int index);
  std::span<std::byte> catalog_region();

  // Clients over all children; clients of the siblings of SLOT on average.
  std::uint32_t total_clients();
  // The parent, when the child of SLOT is gone: its rows are empty again.
  void reset_child(int slot);

 private:
  Mapping(const MappingPlan& plan, std::byte* base, std::size_t size);
  Head& head();
  ChildPart& child(int slot);

  MappingPlan plan_;
  std::byte* base_;
  std::size_t size_;
  std::size_t child_offset_;
  std::size_t child_size_;
  std::size_t session_offset_;  // in a child's part
  std::size_t backend_offset_;
  std::size_t catalog_offset_;
};

}  // namespace weir::shmem
