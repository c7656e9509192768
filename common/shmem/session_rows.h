// One row a client and one a server connection, for SHOW: written by the child that owns the slot, and by the parent
// when that child is dead. No secrets and no backend keys: every process of pgweir can read them.
#pragma once

#include <cstdint>

#include "common/shmem/node_view.h"

namespace weir::shmem {

// What a client is doing, as SHOW tells it.
enum class ClientActivity : std::uint8_t { Connecting, Idle, Active, Waiting };
BOOST_DESCRIBE_ENUM(ClientActivity, Connecting, Idle, Active, Waiting)

// What a client in ClientActivity::Waiting waits for.
enum class WaitReason : std::uint8_t { None, Backend, Primary };
BOOST_DESCRIBE_ENUM(WaitReason, None, Backend, Primary)

struct SessionRow {
  bool in_use = false;
  char status = 'I';              // transaction status as the client was last told: I, T or E
  std::uint8_t state = 0;         // index into the child's ClientState
  ClientActivity activity = ClientActivity::Connecting;
  WaitReason wait = WaitReason::None;
  std::int16_t node = -1;         // whose server runs its statement now, -1: none
  std::int32_t peer_port = 0;     // 0 with a Unix socket
  std::int64_t connected_at = 0;  // epoch seconds
  std::int64_t state_since = 0;   // epoch seconds
  FixedText<64> database;
  FixedText<64> user;
  FixedText<48> peer;             // numeric address, "[local]" with a Unix socket
  FixedText<32> application_name; // its first 31 bytes: a row costs less than 512 bytes with both its copies
};

struct BackendRow {
  bool in_use = false;
  bool client_connected = false;    // a client has it now
  bool load_balance_node = false;   // it is the node for the reads of that client
  std::int32_t node = -1;
  std::int32_t pid = 0;             // of the server process
  std::int32_t session = -1;        // row of the client that has it, in the same child; -1: none
  std::int64_t created_at = 0;      // epoch seconds
  std::int64_t client_since = 0;    // when its last client got it
  std::int64_t client_until = 0;    // when its last client left it, 0: never
  std::uint64_t uses = 0;
  FixedText<64> database;
  FixedText<64> user;
};

}  // namespace weir::shmem
