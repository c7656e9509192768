// The messages that make a backend catch up with a session, to be sent outside any transaction block: all of it is one
// implicit transaction (DISCARD ALL excepted), so that either everything or nothing of it counts. Pure.
#pragma once

#include <string>

#include "child/session_state.h"

namespace weir::child {

struct ReplayMessages {
  std::string bytes;
  int ready = 0;          // how many ReadyForQuery will come
  bool discards = false;  // prepared statements of the backend are gone afterwards
};

ReplayMessages replay_messages(const Replay& replay);

}  // namespace weir::child
