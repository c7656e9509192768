// What the children have at hand, for the console: clients, server connections and their sums by pool; and the form in which
// one child tells another. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/enum_text.h"
#include "common/base/result.h"

namespace weir::admin {

// PgBouncer's words, in lower case.
enum class SocketState : std::uint8_t { Active, Idle, Waiting, ActiveCancelReq, Used, Tested, New, Login, BeingCanceled };
std::string_view socket_state_text(SocketState state);

// A client or a server connection.
struct SocketFacts {
  std::string database;
  std::string user;
  std::string replication;  // "none", "logical", "physical"
  SocketState state = SocketState::Active;
  std::string address;      // numeric, "unix" with a Unix socket
  std::int32_t port = 0;
  std::string local_address;
  std::int32_t local_port = 0;
  std::int64_t connected_at = 0;  // epoch seconds
  std::int64_t requested_at = 0;  // epoch seconds, 0: never
  std::int64_t wait_us = 0;
  bool close_needed = false;
  std::uint64_t self = 0;   // unique over all children at the moment
  std::uint64_t link = 0;   // the other side, 0: none
  std::int32_t remote_pid = 0;
  std::string application_name;
  std::int32_t prepared_statements = 0;
  std::int32_t id = 0;      // of a client: what its BackendKeyData said
  std::int32_t child = 0;   // pid of the process that has it
  std::int32_t node = -1;   // -1: none
  std::string held_for;     // of a client that holds server connections: why; else empty
  std::int64_t held_us = -1;  // since when; -1: it holds none
};

enum class PoolCount : std::uint8_t {
  ClActive,
  ClWaiting,
  ClActiveCancelReq,
  ClWaitingCancelReq,
  SvActive,
  SvActiveCancel,
  SvBeingCanceled,
  SvIdle,
  SvUsed,
  SvTested,
  SvLogin,
  SvClosing
};
inline constexpr std::size_t kPoolCounts = 12;

// All clients and server connections of one user in one database.
struct PoolFacts {
  std::string database;
  std::string user;
  std::array<std::int32_t, kPoolCounts> counts{};
  std::int64_t longest_wait_us = 0;  // of the clients that wait now
  std::int32_t& count(PoolCount kind) { return counts[static_cast<std::size_t>(kind)]; }
  std::int32_t of(PoolCount kind) const { return counts[static_cast<std::size_t>(kind)]; }
};

struct Census {
  std::vector<SocketFacts> clients;
  std::vector<SocketFacts> servers;
  std::vector<PoolFacts> pools;     // each once, once merged()
  std::int32_t logins = 0;          // clients that are not logged in yet
  std::vector<std::int32_t> silent;  // children that have not answered, by pid
};

void encode_census(std::string& out, const Census& census);
// Adds what BYTES tell to INTO. An error (XX000) for what is not the form: INTO has then what came before.
Status decode_census(Bytes bytes, Census& into);
// Makes one of the pools of equal names, sorted by database and user.
void merge_pools(std::vector<PoolFacts>& pools);

}  // namespace weir::admin
