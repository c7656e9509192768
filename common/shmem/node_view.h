// The value copy of one backend node that every decision is made on. Written by the parent alone (node table),
// published as a whole; see layout.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/base/enum_text.h"

namespace weir::shmem {

inline constexpr int kMaxNodes = 128;  // as Pgpool-II

// Operational status. Unknown: not checked yet. Suspect: checks fail, no verdict yet.
enum class NodeStatus : std::uint8_t { Unused, Unknown, Up, Suspect, Down };
// What an operator wants of the node.
enum class NodeAdmin : std::uint8_t { Ready, Draining, Detached };
enum class NodeRole : std::uint8_t { Unknown, Primary, Standby };
BOOST_DESCRIBE_ENUM(NodeStatus, Unused, Unknown, Up, Suspect, Down)
BOOST_DESCRIBE_ENUM(NodeAdmin, Ready, Draining, Detached)
BOOST_DESCRIBE_ENUM(NodeRole, Unknown, Primary, Standby)

// Text of fixed size, NUL-padded, as shared memory needs it.
template <std::size_t N>
struct FixedText {
  std::array<char, N> chars{};
  void assign(std::string_view text) {
    chars.fill('\0');
    const std::size_t n = text.size() < N - 1 ? text.size() : N - 1;
    for (std::size_t i = 0; i < n; ++i) chars[i] = text[i];
  }
  std::string_view view() const {
    std::size_t n = 0;
    while (n < N && chars[n] != '\0') ++n;
    return {chars.data(), n};
  }
};

struct Node {
  FixedText<256> hostname;  // as configured: a name, an address or a socket directory
  FixedText<256> address;   // resolved by health: what children connect to (numeric address or socket directory)
  FixedText<160> reason;    // why it is not usable, in words; empty if it is
  FixedText<64> application_name;  // backend_application_nameN
  std::int32_t port = 0;    // 0: slot unused
  double weight = 0;        // as configured, not normalised
  NodeStatus status = NodeStatus::Unused;
  NodeAdmin admin = NodeAdmin::Ready;
  NodeRole role = NodeRole::Unknown;
  bool always_primary = false;     // backend_flagN ALWAYS_PRIMARY
  bool allow_to_failover = true;   // backend_flagN
  bool frozen = false;             // Down since it is silent: connections to it never end by themselves
  bool seen_connected = false;     // a client was served there: Pgpool's "up" as opposed to "waiting"
  std::int64_t changed_at = 0;     // epoch seconds of the last change of status or role

  bool usable() const { return status == NodeStatus::Up && admin == NodeAdmin::Ready; }
};

// All nodes at one moment.
struct NodeView {
  std::uint64_t epoch = 0;  // grows with each change
  std::int32_t count = 0;   // slots in use: 0 … count-1 (some may be Unused)
  std::int32_t primary = -1;  // node id of the one writable server, -1 = none known
  std::array<Node, kMaxNodes> nodes{};
};

}  // namespace weir::shmem
