// Leases of children that died: free once the server shows that it has ended their connections (rule 21). The kernel closes
// a dead child's sockets, and an idle server process ends at once; one with a query under way lives on until that is over.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/ledger/ledger.h"
#include "common/process/role_context.h"
#include "health/probe.h"

namespace weir::health {

// Who had not logged in when its child died has no pid to look for. Its server process notices the end of the connection
// as soon as it is ready.
inline constexpr std::int64_t kUnknownPidMs = 2000;
// A server that cannot be asked, because it does not answer or there is no user to ask as.
inline constexpr std::int64_t kUnseenMs = 30000;
// A query of a client that is gone, or a connection that was on its way to a child that is stopped, is ended after this.
inline constexpr std::int64_t kEndAfterMs = 10000;

// Is the orphan's connection gone, as far as ANSWER (of its node) tells? Pure.
bool orphan_gone(const ledger::Orphan& orphan, const ProbeAnswer& answer, std::int64_t now_ms);

class Orphans {
 public:
  // How soon the next question follows while there are any.
  static constexpr Milliseconds kPause{50};

  explicit Orphans(process::RoleContext& context) : context_(context) {}
  // Those that have any.
  std::vector<int> nodes() const;
  // For the question to NODE, no more than fit into one.
  std::vector<std::int32_t> pids(int node) const;
  // Those to be ended, and how many ms ago their child was gone; a few at a time.
  std::vector<std::pair<std::int32_t, std::int64_t>> overdue(int node) const;
  void answered(int node, const ProbeAnswer& answer);

 private:
  process::RoleContext& context_;
};

}  // namespace weir::health
