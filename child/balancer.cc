#include "child/balancer.h"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>

#include "child/worker.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

constexpr Milliseconds kBetween{250};
// What a child has said counts for so long.
constexpr std::int64_t kFreshMs = 3000;

std::int64_t processor_time_ns() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

std::size_t descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 1U << 20U;
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace

Balancer::Balancer(Worker& worker)
    : worker_(worker), measured_at_(monotonic_now()), used_at_then_ns_(processor_time_ns()), most_clients_(descriptors() / 2) {}

void Balancer::look(Monotonic now) {
  if (!measure(now)) return;
  read_loads(now);
  const Move move = choose_move(worker_.context().slot, loads_);
  // Twice the same: one measurement is no load.
  const bool again = move.to >= 0 && move.to == last_.to;
  last_ = again ? Move{} : move;
  // Those that were told to go and have not had a quiet moment stay, if that is no longer the advice.
  if (again || giving_) worker_.give_clients(again ? move.to : -1, move.thousandths);
  giving_ = again;
}

bool Balancer::measure(Monotonic now) {
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - measured_at_).count();
  if (passed < std::chrono::nanoseconds(kBetween).count()) return false;
  const std::int64_t used = processor_time_ns();
  const auto busy = static_cast<int>(std::clamp<std::int64_t>((used - used_at_then_ns_) * 1000 / passed, 0, 1000));
  // The last half second counts half.
  busy_ = (busy_ + busy) / 2;
  measured_at_ = now;
  used_at_then_ns_ = used;
  shmem::ChildRow& row = worker_.context().mapping->child_row(worker_.context().slot);
  row.busy.store(static_cast<std::uint32_t>(busy_), std::memory_order_relaxed);
  row.busy_at_ms.store(monotonic_milliseconds(now), std::memory_order_relaxed);
  return true;
}

void Balancer::read_loads(Monotonic now) {
  shmem::Mapping& mapping = *worker_.context().mapping;
  loads_.resize(static_cast<std::size_t>(mapping.children()));
  for (int slot = 0; slot < mapping.children(); ++slot) {
    const shmem::ChildRow& row = mapping.child_row(slot);
    const std::int64_t age = monotonic_milliseconds(now) - row.busy_at_ms.load(std::memory_order_relaxed);
    ChildLoad& load = loads_[static_cast<std::size_t>(slot)];
    load.serves = row.running() && age <= kFreshMs && row.clients.load(std::memory_order_relaxed) < most_clients_;
    load.busy = static_cast<int>(row.busy.load(std::memory_order_relaxed));
  }
}

}  // namespace weir::child
