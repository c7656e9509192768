// Makes the shared segment and hands out its parts; see layout.h for who may write what.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "common/base/result.h"
#include "common/shmem/layout.h"

namespace weir::shmem {

struct MappingPlan {
  int children = 1;
  int sessions_per_child = 1000;
  int backends_per_child = 1024;
  std::size_t catalog_bytes = 8U << 20U;
  std::size_t ledger_bytes = 0;  // Ledger::bytes(), which this folder cannot see
  std::size_t recent_writes = 2048;  // entries
};

class Mapping {
 public:
  // The parent, before its first fork. Fails (22023) for a plan that makes no sense, (53200) if the kernel refuses.
  static Result<std::unique_ptr<Mapping>> create(const MappingPlan& plan);
  // Ends the mapping of this process alone.
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  const MappingPlan& plan() const { return plan_; }
  int children() const { return plan_.children; }
  std::size_t bytes() const { return size_; }

  ServerStatus& status() { return head().status; }
  NodeTable& node_table() { return head().nodes; }
  Observations& observations() { return head().observations; }
  Suspicions& suspicions() { return head().suspicions; }
  NodeCounters& idle_recalls() { return head().idle_recalls; }
  // What was sent to NODE since pgweir started, by all children that are and were.
  NodeTotals totals(int node);
  // Of that, the SELECTs.
  std::uint64_t selects(int node);
  RequestRing& health_requests() { return head().health_requests; }

  // Of the child in SLOT, 0 … children() - 1.
  ChildRow& child_row(int slot) { return child(slot).row; }
  CancelMailbox& cancel_mailbox(int slot) { return child(slot).cancels; }
  RequestRing& requests(int slot) { return child(slot).requests; }
  DatabaseTable& databases(int slot) { return child(slot).databases; }
  ReportDesk report_desk(int slot);
  // The number of the next wish, never 0.
  std::uint64_t next_wish() { return head().wishes.fetch_add(1, std::memory_order_acq_rel) + 1; }
  // One lies on a desk now: before its children are woken.
  void announce_wish() { head().announced.fetch_add(1, std::memory_order_acq_rel); }
  std::uint64_t announced_wishes() { return head().announced.load(std::memory_order_acquire); }
  NodeCounts& counts(int slot, int node) { return child(slot).counts.at(static_cast<std::size_t>(node)); }
  std::span<SessionSlot> session_rows(int slot);
  std::span<BackendSlot> backend_rows(int slot);
  // The first rows only: those that the child has ever used. Looking at the others would make them cost memory.
  std::span<SessionSlot> used_session_rows(int slot);
  std::span<BackendSlot> used_backend_rows(int slot);
  SessionSlot& session_row(int slot, int index);
  BackendSlot& backend_row(int slot, int index);

  // For the colleague of catalog_facts.h, already made a table.
  std::span<std::byte> catalog_region();
  // Zeros, for the colleague of common/ledger/ledger.h, who makes a ledger of it before the first fork.
  std::span<std::byte> ledger_region();
  // For recent_writes.h, already made a table.
  std::span<std::byte> recent_writes_region();

  // Clients over all children.
  std::uint32_t total_clients();
  // What the child of SLOT needs to know of the others.
  Siblings siblings(int slot);

  // The parent: hands every request of every process to TAKE, at most one ring's length of each in one turn.
  template <typename Take>
  void drain_requests(Take&& take) {
    drain(head().health_requests, take);
    for (int slot = 0; slot < plan_.children; ++slot) drain(requests(slot), take);
  }

  // The parent, when the child of SLOT is gone: its rows are empty again, its cancels are dropped, a restart is
  // counted. What it had asked of the parent stays in its ring.
  void reset_child(int slot);
  // The parent, when health is gone: its rows keep what it published last.
  void reset_health();

 private:
  struct Offsets {
    std::size_t sessions = 0;  // in a child's part
    std::size_t backends = 0;
    std::size_t desk = 0;        // acknowledgements, then on a page of its own the text
    std::size_t desk_text = 0;
    std::size_t child_size = 0;
    std::size_t first_child = 0;
    std::size_t catalog = 0;
    std::size_t ledger = 0;
    std::size_t recent_writes = 0;
    std::size_t total = 0;
  };

  Mapping(const MappingPlan& plan, const Offsets& offsets, std::byte* base);
  static Offsets offsets_of(const MappingPlan& plan);
  Head& head();
  ChildPart& child(int slot);

  template <typename Take>
  static void drain(RequestRing& ring, Take& take) {
    for (std::size_t i = 0; i < RequestRing::kCapacity; ++i) {
      const auto request = ring.pop();
      if (!request) return;
      take(*request);
    }
  }

  MappingPlan plan_;
  Offsets offsets_;
  std::byte* base_;
  std::size_t size_;
};

}  // namespace weir::shmem
