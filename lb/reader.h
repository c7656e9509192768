// Which node a balanced read uses: the session's own, or one drawn by its redirect and the weights. Pure.
#pragma once

#include "common/shmem/node_view.h"
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
};

// KEPT as long as it may be read; else a node drawn anew. -1: none; the caller takes the primary.
int choose_reader(const ReaderInputs& inputs);

}  // namespace weir::lb
