// A stream of answers -> is the node usable? Pure; rule 14 (only a fresh connect tells).
#pragma once

#include "common/shmem/observations.h"

namespace weir::health {

struct NodeHealth {
  bool up = false;
  int silent = 0;  // answers in a row that did not come
};

// RETRIES: silent answers that are forgiven, health_check_max_retries.
NodeHealth judge(NodeHealth health, shmem::Answer answer, int retries);

// Words for the reason column; empty for Ok.
const char* answer_text(shmem::Answer answer);

// SQLSTATE of a refused login -> the kind of answer.
shmem::Answer answer_of_sqlstate(const char* sqlstate);

}  // namespace weir::health
