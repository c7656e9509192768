// What one client's session is while nothing of it is under way and no server connection is its own: small enough to be kept for
// thousands of idle clients, and to be sent to another process of pgweir together with the client's socket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "child/login_info.h"
#include "child/prepared.h"
#include "child/session_state.h"
#include "common/base/bytes.h"
#include "common/config/section_settings.h"

namespace weir::child {

struct SessionSnapshot {
  struct Statement {
    std::string name;
    std::string parse_message;  // whole
    PreparedUnder under;
    std::uint64_t generation = 0;
    bool operator==(const Statement&) const = default;
  };
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  // What is known of its (database, user), for a process that may not know it: see LoginInfo.
  struct Pair {
    auth::AskedMethod method = auth::AskedMethod::Unknown;
    bool from_primary = false;
    Parameters parameters;
    bool defaults_known = false;
    std::vector<std::string> search_path;
    bool serializable_default = true;
    bool unusual_isolation = true;
    bool foreign_role_settings = false;
    std::uint64_t checked_change = 0;
    std::string fingerprint;
    bool operator==(const Pair&) const = default;
  };

  // Who it is: see ClientIdentity and BackendKey.
  std::string user;
  std::string database;
  std::string application_name;
  std::string peer;
  std::int32_t peer_port = 0;
  std::string server_database;
  std::string server_user;
  Parameters fixed;

  std::int64_t connected_epoch = 0;  // seconds
  std::uint32_t cancel_pid = 0;
  std::uint32_t cancel_secret = 0;
  std::uint64_t number = 0;          // of the session in its process
  config::PoolMode pool_mode = config::PoolMode::Session;
  // What servers are told at login: nothing, what the users' file has, a clear text password, or what a file would hold.
  enum class SecretFrom : std::uint8_t { None, File, Plain, Stored };
  SecretFrom secret_from = SecretFrom::None;
  std::string secret;                // of the last two
  std::string client_key;

  SessionState::Saved state;
  Parameters told;                   // ParameterStatus beyond what every client of the pair is told
  std::vector<Statement> statements;
  std::uint64_t generation = 0;      // of the statement that was prepared last

  std::int32_t reader_node = -1;
  double redirect_unit = -1;
  bool unusual_isolation = false;
  bool serializable_default = false;
  bool transactions_kept = false;
  bool reads_kept = false;
  bool asks_sequences = false;       // it has called currval() or lastval()
  std::optional<Pair> pair;

  bool operator==(const SessionSnapshot&) const = default;
};

// Appends SNAPSHOT to OUT.
void encode_snapshot(std::string& out, const SessionSnapshot& snapshot);

// The other way: none if BYTES are not the whole of one.
std::optional<SessionSnapshot> decode_snapshot(Bytes bytes);

}  // namespace weir::child
