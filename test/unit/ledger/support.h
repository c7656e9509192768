// A ledger in memory that forked processes share, for the tests of this folder.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <string>

#include "common/ledger/ledger.h"

namespace weir::ledger {

// The ledger's friend: sets the hook that runs at places in the middle, in this process and in those forked from it.
struct LedgerTest {
  static void hook(Ledger& ledger, detail::StepHook step) { ledger.hook_ = step; }
};

class SharedLedger {
 public:
  explicit SharedLedger(LedgerPlan plan) : bytes_(Ledger::bytes(plan)), memory_(map(bytes_)), ledger_(Ledger::create({memory_, bytes_}, plan)) {}
  ~SharedLedger() { munmap(memory_, bytes_); }
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;
  Ledger& operator*() { return ledger_; }
  Ledger* operator->() { return &ledger_; }
  std::byte* memory() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static std::byte* map(std::size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    return static_cast<std::byte*>(memory);
  }

  std::size_t bytes_;
  std::byte* memory_;
  Ledger ledger_;
};

inline Limits limits(std::int32_t pool, std::int32_t database = kNoLimit, std::int32_t user = kNoLimit, std::int32_t node = kNoLimit) {
  return {pool, 0, 0, database, user, node};
}

struct Ask {
  std::string database = "d";
  std::string user = "u";
  int node = 0;
  Limits limits;
  std::int64_t since = 1;
  WaitId wait = -1;
  bool may_wait = true;
  Demand demand{};

  // As a caller that always knows the limits set at run time.
  AcquireResult of(Ledger& ledger, int slot, std::int64_t now = 0) const {
    while (true) {
      const AcquireResult result = once(ledger, slot, now);
      if (result.outcome != Outcome::Stale) return result;
    }
  }
  AcquireResult once(Ledger& ledger, int slot, std::int64_t now = 0) const {
    AcquireRequest request;
    request.pool = {database, user, node};
    request.limits = limits;
    request.overrides_epoch = ledger.overrides_epoch();
    request.since_ms = since;
    request.wait = wait;
    request.may_wait = may_wait;
    request.demand = demand;
    return ledger.acquire(slot, request, now != 0 ? now : since);
  }
};

inline std::vector<int> woken(const Wakes& wakes) { return {wakes.children, wakes.children + wakes.count}; }

}  // namespace weir::ledger
