// A session's part in the statistics of its database: counts where things happen, by the loop's own clock. Without a row in
// the table (before the login, or if the table is full) nothing is counted.
#pragma once

#include <cstdint>

#include "common/base/clock.h"
#include "common/shmem/database_counts.h"

namespace weir::child {

class SessionTraffic {
 public:
  void begin(shmem::DatabaseCounts* counts) {
    counts_ = counts;
    count(shmem::Traffic::Logins);
  }
  // The session was there before, asleep or in another process.
  void resume(shmem::DatabaseCounts* counts) { counts_ = counts; }
  void count(shmem::Traffic kind, std::uint64_t amount = 1) {
    if (counts_ != nullptr) counts_->add(kind, amount);
  }

  // The client begins or ends to wait for a server connection.
  void waits(Monotonic now) {
    if (wait_since_ == Monotonic{}) wait_since_ = now;
  }
  void waits_no_more(Monotonic now) {
    if (wait_since_ == Monotonic{}) return;
    count(shmem::Traffic::WaitTime, microseconds(wait_since_, now));
    wait_since_ = {};
  }
  // Zero if it does not wait.
  Monotonic wait_since() const { return wait_since_; }

  // A server connection is the session's; and since when it has had one without a pause. NONE_YET: it had none before.
  void holds(Monotonic now, bool none_yet) {
    count(shmem::Traffic::Assignments);
    if (none_yet) held_since_ = now;
  }
  Monotonic held_since() const { return held_since_; }

  // Something is sent to a server while nothing is under way; IN_BLOCK: in a transaction that has begun before; AGAIN: the
  // same as last time, on another server.
  void asks(Monotonic now, bool in_block, bool again) {
    if (again && query_since_ != Monotonic{}) return;
    query_since_ = now;
    count(shmem::Traffic::Queries);
    if (in_block && transaction_since_ != Monotonic{}) return;
    transaction_since_ = now;
    count(shmem::Traffic::Transactions);
  }
  // Nothing is under way any more. OVER: nor is a transaction open.
  void answered(Monotonic now, bool over) {
    if (query_since_ != Monotonic{}) count(shmem::Traffic::QueryTime, microseconds(query_since_, now));
    query_since_ = {};
    if (!over || transaction_since_ == Monotonic{}) return;
    count(shmem::Traffic::TransactionTime, microseconds(transaction_since_, now));
    transaction_since_ = {};
  }

 private:
  static std::uint64_t microseconds(Monotonic from, Monotonic to) {
    return to > from ? static_cast<std::uint64_t>(monotonic_microseconds(to) - monotonic_microseconds(from)) : 0;
  }

  shmem::DatabaseCounts* counts_ = nullptr;
  Monotonic wait_since_{};
  Monotonic held_since_{};
  Monotonic query_since_{};
  Monotonic transaction_since_{};
};

}  // namespace weir::child
