// The one shared segment. It is an anonymous mapping made before the first fork: it has no name and leaves nothing
// behind. Only pages that were touched cost memory.
//
//   part                    only writer                      readers    a reader's consistent copy
//   ServerStatus            parent                           all        atomics
//   NodeTable               parent                           all        Published rows and an epoch
//   Observations            health                           all        Published rows
//   Suspicions              children (add only)              health     atomic counters
//   NodeCounters            children (add only)              all        atomic counters
//   per child: ChildRow     that child; parent when dead     all        atomics
//              CancelMailbox any (robust mutex)              that child under the mutex
//              RequestRing  that child                       parent     single-producer ring
//              SessionRows, BackendRows  that child          all        Published rows
//   catalogue region        children, insert-only            children   catalog_facts.h
#pragma once

#include <atomic>
#include <cstdint>

#include "common/shmem/cancel_mailbox.h"
#include "common/shmem/child_rows.h"
#include "common/shmem/node_table.h"
#include "common/shmem/observations.h"
#include "common/shmem/published.h"
#include "common/shmem/request_ring.h"
#include "common/shmem/session_rows.h"
#include "common/shmem/suspicions.h"

namespace weir::shmem {

struct ServerStatus {
  std::atomic<std::int64_t> started_at{0};      // epoch seconds
  std::atomic<std::int32_t> parent_pid{0};
  std::atomic<std::uint64_t> config_generation{0};  // grows with each reload that took effect
};

// The fixed part at the start of the segment.
struct Head {
  ServerStatus status;
  NodeTable nodes;
  Observations observations;
  Suspicions suspicions;
  NodeCounters counters;
};

// The fixed part of a child; its rows follow behind.
struct ChildPart {
  ChildRow row;
  CancelMailbox cancels;
  RequestRing requests;
};

using SessionSlot = Published<SessionRow>;
using BackendSlot = Published<BackendRow>;

}  // namespace weir::shmem
