// Which node a balanced read uses: the session's own, or one drawn by its redirect and load_balance_algorithm; and what is done
// when that one is too far behind. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "common/shmem/node_view.h"
#include "common/shmem/replication_delay.h"
#include "lb/choose.h"
#include "lb/eligible.h"
#include "lb/policy.h"
#include "lb/redirect.h"

namespace weir::lb {

struct ReaderInputs {
  const shmem::NodeView& view;
  const Policy& policy;
  Candidates candidates = Candidates::Readable;
  NodeSet excluded{};          // failed this exchange, or could not be reached a moment ago
  int kept = -1;               // drawn for the session earlier; -1: nothing, or a draw for each statement
  Redirect redirect{};         // Policy::redirect of the session
  double redirect_unit = 0;    // uniform in [0, 1): the draw of the redirect's ratio
  double random_unit = 0;      // uniform in [0, 1): the draw of the node
  const NodeLoads* loads = nullptr;  // null: not looked at, the draw is by weight
  std::span<const shmem::ReplicationDelay> delays{};  // by node id; one that is missing is not known
  std::int64_t now = 0;        // milliseconds of the machine's monotonic clock
};

struct Reader {
  int drawn = -1;  // the session's node, however far behind: KEPT as long as it may be read, else drawn anew
  int node = -1;   // for this read
};

// -1: none; the caller takes the primary. While the node drawn is over the limit of delay, or its delay is not known, the
// read goes to the primary. With prefer_lower_delay_standby (and when a hint wants a standby, or no primary is known) it
// goes to the standby with weight that is least behind within the limit, if there is one. The session's node stays what
// it is.
Reader choose_reader(const ReaderInputs& inputs);

// May node ID be read now, by its state, its delay, and what has been excluded? For a node that a hint names.
bool may_read(const ReaderInputs& inputs, int id);

}  // namespace weir::lb
