#include "health/orphans.h"

#include <algorithm>

namespace weir::health {
namespace {

constexpr std::size_t kPidsInQuestion = 500;
constexpr std::size_t kEndedAtOnce = 10;

bool has(const std::vector<std::int32_t>& pids, std::int32_t pid) { return std::find(pids.begin(), pids.end(), pid) != pids.end(); }

}  // namespace

bool orphan_gone(const ledger::Orphan& orphan, const ProbeAnswer& answer, std::int64_t now_ms) {
  const std::int64_t age = now_ms - orphan.since_ms;
  if (orphan.backend_pid == 0) return age >= kUnknownPidMs;
  if (!answer.pids_told) return age >= kUnseenMs;
  // Asked after its child was gone: an answer of before says nothing.
  const bool asked = has(answer.pids, orphan.backend_pid) && monotonic_milliseconds(answer.asked) >= orphan.since_ms;
  return asked && !has(answer.living, orphan.backend_pid);
}

std::vector<int> Orphans::nodes() const {
  std::vector<int> nodes;
  for (const ledger::Orphan& orphan : context_.ledger->orphans()) {
    if (std::find(nodes.begin(), nodes.end(), orphan.node) == nodes.end()) nodes.push_back(orphan.node);
  }
  return nodes;
}

std::vector<std::int32_t> Orphans::pids(int node) const {
  std::vector<std::int32_t> pids;
  for (const ledger::Orphan& orphan : context_.ledger->orphans()) {
    if (orphan.node == node && orphan.backend_pid > 0 && pids.size() < kPidsInQuestion) pids.push_back(orphan.backend_pid);
  }
  return pids;
}

std::vector<std::pair<std::int32_t, std::int64_t>> Orphans::overdue(int node) const {
  const std::int64_t now = monotonic_milliseconds(monotonic_now());
  std::vector<std::pair<std::int32_t, std::int64_t>> all;
  for (const ledger::Orphan& orphan : context_.ledger->orphans()) {
    const std::int64_t age = now - orphan.since_ms;
    if (orphan.node == node && orphan.backend_pid > 0 && age >= kEndAfterMs && all.size() < kEndedAtOnce) all.emplace_back(orphan.backend_pid, age);
  }
  return all;
}

void Orphans::answered(int node, const ProbeAnswer& answer) {
  const std::int64_t now = monotonic_milliseconds(monotonic_now());
  for (const ledger::Orphan& orphan : context_.ledger->orphans()) {
    if (orphan.node != node || !orphan_gone(orphan, answer, now)) continue;
    const ledger::Wakes wakes = context_.ledger->free_orphan(orphan.slot, orphan.lease, now);
    for (int i = 0; i < wakes.count; ++i) context_.wakes->at(process::RoleContext::kFirstChildWake + static_cast<std::size_t>(wakes.children[i])).notify();
  }
}

}  // namespace weir::health
