// The one shared segment. It is an anonymous mapping made before the first fork: it has no name and leaves nothing
// behind. Only pages that were touched cost memory, so tables are as long as they may ever get. All zeros is how every
// part but the mailboxes and the ledger (they hold a mutex) and the catalogue region starts.
//
//   part                     only writer                  readers        a reader's consistent copy
//   ServerStatus             parent; children count       all            atomics
//                            login_changes
//   NodeTable                parent                       all            two copies of the whole and an epoch
//   Observations             health                       all            Published rows
//   Suspicions               children (add only)          health         atomic counters
//   idle recalls             children (add only)          children       atomic counters
//   RequestRing of health    health                       parent         single-producer ring
//   for each child:
//     ChildRow               that child; parent if dead   all            atomics
//     CancelMailbox          any (robust mutex)           that child     under the mutex
//     RequestRing            that child                   parent         single-producer ring
//     NodeCounts             that child                   SHOW           atomics, one set a node
//     DatabaseTable          that child                   SHOW           atomics, one set a database
//     ReportDesk             that child; parent if dead   children       report_desk.h
//     SessionRows            that child; parent if dead   SHOW           Published rows
//     BackendRows            that child; parent if dead   SHOW           Published rows
//   catalogue region         children (insert only)       children       catalog_facts.h
//   ledger region            each child its rows; sums    children,      common/ledger/books.h
//                            under a robust mutex         parent
//   recent writes            children (compare and swap)  children       recent_writes.h
//
// Pages in this order: Head | child 0: ChildPart, SessionSlots, BackendSlots, desk | child 1 ... | catalogue region |
// ledger region | recent writes; each piece begins on a page of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "common/shmem/cancel_mailbox.h"
#include "common/shmem/child_rows.h"
#include "common/shmem/database_counts.h"
#include "common/shmem/node_table.h"
#include "common/shmem/observations.h"
#include "common/shmem/published.h"
#include "common/shmem/report_desk.h"
#include "common/shmem/request_ring.h"
#include "common/shmem/session_rows.h"
#include "common/shmem/statement_counts.h"
#include "common/shmem/suspicions.h"

namespace weir::shmem {

struct ServerStatus {
  std::atomic<std::int64_t> started_at{0};      // epoch seconds
  std::atomic<std::int32_t> parent_pid{0};
  std::atomic<std::uint64_t> health_beat{0};    // health counts its seconds here
  std::atomic<std::uint64_t> config_generation{0};  // grows with each reload that took effect
  std::atomic<std::uint64_t> login_changes{0};  // statements seen that may have changed what logins give: child/login_defaults.h
};

// The fixed part at the start of the segment.
struct Head {
  ServerStatus status;
  NodeTable nodes;
  Observations observations;
  Suspicions suspicions;
  NodeCounters idle_recalls;  // the node has no slot for a client that waits: every child closes what it has idle there
  RequestRing health_requests;
  std::atomic<std::uint64_t> wishes;     // made on desks: the number of the last one
  std::atomic<std::uint64_t> announced;  // counts those that lie there
};

// The fixed part of a child; its rows follow behind.
struct ChildPart {
  ChildRow row;
  CancelMailbox cancels;
  RequestRing requests;
  std::array<NodeCounts, kMaxNodes> counts;  // only those of nodes in use are ever touched
  ReportHead report;
  DatabaseTable databases;
};

using BackendSlot = Published<BackendRow>;

// Nothing in shared memory may need a destructor, and an idle client's row must stay small.
static_assert(std::is_trivially_destructible_v<Head> && std::is_trivially_destructible_v<ChildPart>);
static_assert(sizeof(SessionSlot) < 512);
static_assert(std::atomic<ChildState>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<std::int32_t>::is_always_lock_free);

}  // namespace weir::shmem
