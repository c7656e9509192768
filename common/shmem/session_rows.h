// One row a client and one a server connection, for SHOW: written by the child that owns the slot, and by the parent
// when that child is dead. No secrets and no backend keys: every process of pgweir can read them.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/shmem/node_view.h"
#include "common/shmem/published.h"

namespace weir::shmem {

// Where a client's connection is in its life. The same numbers as the child's ClientState.
enum class ClientPhase : std::uint8_t {
  Startup,
  Idle,
  AwaitBackend,
  AwaitPrimary,
  Preparing,
  InExchange,
  Closing
};
BOOST_DESCRIBE_ENUM(ClientPhase, Startup, Idle, AwaitBackend, AwaitPrimary, Preparing, InExchange, Closing)

struct SessionRow {
  bool in_use = false;
  char status = 'I';              // transaction status as the client was last told: I, T or E
  std::uint8_t state = 0;         // ClientPhase; AwaitBackend and AwaitPrimary tell what it waits for
  std::int16_t node = -1;         // whose server runs its statement now, -1: none
  std::int32_t peer_port = 0;     // 0 with a Unix socket
  std::int32_t slot = -1;         // index of this row among the child's, which BackendRow::session names
  std::int64_t connected_at = 0;  // epoch seconds
  std::int64_t state_since = 0;   // epoch seconds, 0: not told
  FixedText<64> database;
  FixedText<64> user;
  FixedText<48> peer;              // numeric address, "[local]" with a Unix socket
  FixedText<32> application_name;  // its first 31 bytes: a row costs less than 512 bytes with both its copies

  ClientPhase phase() const { return static_cast<ClientPhase>(state); }
};

// A client's row. Its status and phase change several times an exchange, and the rest of it hardly ever: those two live
// in a word of their own.
class SessionSlot {
 public:
  // The writer only; MIDWAY as in Published.
  template <typename... Midway>
  void publish(const SessionRow& row, Midway... midway) {
    row_.publish(row, midway...);
    set_live(row.status, row.state);
  }
  void set_live(char status, std::uint8_t state) {
    live_.store(static_cast<std::uint32_t>(static_cast<unsigned char>(status)) << 8U | state, std::memory_order_relaxed);
  }
  // Anybody; as Published::read.
  bool read(SessionRow& into) const {
    if (!row_.read(into)) return false;
    const std::uint32_t live = live_.load(std::memory_order_relaxed);
    if (live == 0) return true;  // never used
    into.status = static_cast<char>(live >> 8U);
    into.state = static_cast<std::uint8_t>(live & 0xffU);
    return true;
  }
  void repair() { row_.repair(); }

 private:
  Published<SessionRow> row_;
  std::atomic<std::uint32_t> live_{0};
};

struct BackendRow {
  bool in_use = false;
  bool client_connected = false;    // a client has it now
  bool load_balance_node = false;   // it is the node for the reads of that client
  std::int32_t node = -1;
  std::int32_t pid = 0;             // of the server process
  std::int32_t session = -1;        // SessionRow::slot of the client that has it; -1: none, or not told
  std::int64_t created_at = 0;      // epoch seconds
  std::int64_t client_since = 0;    // when its last client got it
  std::int64_t client_until = 0;    // when its last client left it, 0: never
  std::uint64_t uses = 0;
  FixedText<64> database;
  FixedText<64> user;
};

}  // namespace weir::shmem
