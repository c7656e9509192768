// What clients have done in one database, as one child's slot has seen it: PgBouncer's statistics. Only that child adds (a
// relaxed load and a store); anybody sums them up. The counts are of the slot, since pgweir started: they outlive its
// children.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/shmem/node_view.h"

namespace weir::shmem {

// In the order of PgBouncer's columns. Received is bytes from clients, Sent bytes to them from servers; times are
// microseconds.
enum class Traffic : std::uint8_t {
  Assignments,      // server connections handed to clients
  Transactions,
  Queries,          // groups of requests, up to the answer of the last one
  Received,
  Sent,
  TransactionTime,
  QueryTime,
  WaitTime,         // of clients for server connections
  ClientParses,     // Parse messages of clients
  ServerParses,     // ... and to servers
  Binds,
  Logins
};
inline constexpr std::size_t kTrafficKinds = 12;
using TrafficSums = std::array<std::uint64_t, kTrafficKinds>;

class DatabaseCounts {
 public:
  std::string_view database() const { return database_.view(); }
  // The slot's child only.
  void add(Traffic kind, std::uint64_t amount = 1) {
    auto& count = now_[static_cast<std::size_t>(kind)];
    count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  // Anybody.
  std::uint64_t of(Traffic kind) const { return now_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed); }
  void add_to(TrafficSums& totals) const {
    for (std::size_t i = 0; i < kTrafficKinds; ++i) totals[i] += now_[i].load(std::memory_order_relaxed);
  }
  // What was counted since the last full period began.
  void add_recent_to(TrafficSums& sums) const {
    for (std::size_t i = 0; i < kTrafficKinds; ++i) {
      const std::uint64_t before = before_[i].load(std::memory_order_relaxed);
      sums[i] += std::max(now_[i].load(std::memory_order_relaxed), before) - before;
    }
  }

 private:
  friend class DatabaseTable;
  using Counts = std::array<std::atomic<std::uint64_t>, kTrafficKinds>;
  static void copy(Counts& into, const Counts& from) {
    for (std::size_t i = 0; i < kTrafficKinds; ++i) into[i].store(from[i].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  FixedText<64> database_;
  Counts now_{};
  Counts before_{};   // at the start of the last full period
  Counts current_{};  // at the start of the one under way
};

// The databases of one slot. All zeros is an empty table. A row is whole before `used_` says that it is there.
class DatabaseTable {
 public:
  static constexpr std::uint32_t kMaxDatabases = 1024;

  // The slot's child only: the row of DATABASE, a new one if need be; null if there is no room, then it is not counted.
  // A name longer than 63 bytes is cut, as servers do.
  DatabaseCounts* row_of(std::string_view database) {
    const std::uint32_t used = used_.load(std::memory_order_relaxed) % (kMaxDatabases + 1);
    FixedText<64> name;
    name.assign(database);
    for (std::uint32_t i = 0; i < used; ++i) {
      if (rows_[i].database_.view() == name.view()) return &rows_[i];
    }
    if (used == kMaxDatabases) return nullptr;
    rows_[used].database_ = name;
    used_.store(used + 1, std::memory_order_release);
    return &rows_[used];
  }
  // The slot's child only, at least once a second: a period ends when PERIOD_MS have passed since it began.
  void turn(std::int64_t now_ms, std::int64_t period_ms) {
    const std::int64_t began = current_ms_.load(std::memory_order_relaxed);
    if (began == 0) {
      before_ms_.store(now_ms, std::memory_order_relaxed);
      current_ms_.store(now_ms, std::memory_order_relaxed);
      return;
    }
    if (now_ms - began < period_ms) return;
    for (std::uint32_t i = 0; i < used(); ++i) {
      DatabaseCounts::copy(rows_[i].before_, rows_[i].current_);
      DatabaseCounts::copy(rows_[i].current_, rows_[i].now_);
    }
    before_ms_.store(began, std::memory_order_relaxed);
    current_ms_.store(now_ms, std::memory_order_relaxed);
  }

  // Anybody.
  std::uint32_t used() const { return std::min(used_.load(std::memory_order_acquire), kMaxDatabases); }
  const DatabaseCounts& row(std::uint32_t index) const { return rows_.at(index); }
  // When the last full period began, by the monotonic clock; 0: the slot had no child yet.
  std::int64_t recent_since_ms() const { return before_ms_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> used_{0};
  std::atomic<std::int64_t> before_ms_{0};
  std::atomic<std::int64_t> current_ms_{0};
  std::array<DatabaseCounts, kMaxDatabases> rows_{};
};

static_assert(static_cast<std::size_t>(Traffic::Logins) + 1 == kTrafficKinds);

}  // namespace weir::shmem
