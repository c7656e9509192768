// One row a client and one a server connection, for SHOW: written by the child that owns the slot.
#pragma once

#include <cstdint>

#include "common/shmem/node_view.h"

namespace weir::shmem {

struct SessionRow {
  bool in_use = false;
  char status = 'I';             // transaction status
  std::uint8_t state = 0;        // index into the child's ClientState
  std::int32_t peer_port = 0;
  std::int64_t connected_at = 0;  // epoch seconds
  FixedText<64> database;
  FixedText<64> user;
  FixedText<48> peer;
};

struct BackendRow {
  bool in_use = false;
  bool client_connected = false;
  std::int32_t node = -1;
  std::int32_t pid = 0;           // of the server process
  std::int64_t created_at = 0;    // epoch seconds
  std::int64_t client_since = 0;  // when its last client got it
  std::int64_t client_until = 0;  // when its last client left it, 0: never
  std::uint64_t uses = 0;
  FixedText<64> database;
  FixedText<64> user;
};

}  // namespace weir::shmem
