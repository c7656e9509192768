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

// Sets those of PARAMETERS again that a RESET has taken back to the server's values, and those of LOCAL until the end of
// the block; what the client has set itself since stays. One ReadyForQuery, in or outside of a block.
std::string restore_messages(const SessionState::Parameters& parameters, const SessionState::Parameters& local);

}  // namespace weir::child
