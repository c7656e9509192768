// What was sent to one node from one child's slot, by kind of statement and by the reason why it was sent there. Only that
// child adds (a relaxed load and a store, so no two processors fight for the line); anybody sums them up. The counts are
// of the slot, since pgweir started: they outlive its children.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weir::shmem {

// Pgpool-II's classes of SHOW POOL_BACKEND_STATS.
enum class StatementClass : std::uint8_t { Select, Insert, Update, Delete, Ddl, Other };
enum class ErrorClass : std::uint8_t { Panic, Fatal, Error };

inline constexpr std::size_t kStatementClasses = 6;
inline constexpr std::size_t kErrorClasses = 3;
inline constexpr std::size_t kMaxReasons = 128;  // shared memory does not know the reasons, only their numbers

// The sum over all slots, or part of it.
struct NodeTotals {
  std::array<std::uint64_t, kStatementClasses> statements{};
  std::array<std::uint64_t, kErrorClasses> errors{};
  std::array<std::uint64_t, kMaxReasons> decisions{};  // sent there, by number of the reason
  std::array<std::uint64_t, kMaxReasons> dry_runs{};   // would have been, with routing_dry_run

  std::uint64_t of(StatementClass kind) const { return statements[static_cast<std::size_t>(kind)]; }
  std::uint64_t of(ErrorClass kind) const { return errors[static_cast<std::size_t>(kind)]; }
};

class NodeCounts {
 public:
  // The slot's child only. A reason beyond the table is not counted.
  void count(StatementClass kind) { add(statements_[static_cast<std::size_t>(kind)]); }
  void count(ErrorClass kind) { add(errors_[static_cast<std::size_t>(kind)]); }
  void count_decision(std::size_t reason) {
    if (reason < kMaxReasons) add(decisions_[reason]);
  }
  void count_dry_run(std::size_t reason) {
    if (reason < kMaxReasons) add(dry_runs_[reason]);
  }
  // Anybody.
  void add_to(NodeTotals& totals) const {
    sum(totals.statements, statements_);
    sum(totals.errors, errors_);
    sum(totals.decisions, decisions_);
    sum(totals.dry_runs, dry_runs_);
  }
  std::uint64_t selects() const { return statements_[0].load(std::memory_order_relaxed); }

 private:
  using Count = std::atomic<std::uint64_t>;
  static void add(Count& count) { count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  template <std::size_t N>
  static void sum(std::array<std::uint64_t, N>& into, const std::array<Count, N>& counts) {
    for (std::size_t i = 0; i < N; ++i) into[i] += counts[i].load(std::memory_order_relaxed);
  }

  std::array<Count, kStatementClasses> statements_{};
  std::array<Count, kErrorClasses> errors_{};
  std::array<Count, kMaxReasons> decisions_{};
  std::array<Count, kMaxReasons> dry_runs_{};
};

static_assert(StatementClass::Select == StatementClass{0} && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace weir::shmem
