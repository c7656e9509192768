// The keys by which clients ask for their query to be cancelled, and where a request goes. Eight bytes, as clients know
// them: a number that they take for a process id, and a secret. With peer_id the layout is PgBouncer's, so that a request
// that comes to another pgweir (or PgBouncer) of [peers], behind one address, finds its way:
//
//   byte 0: seven bits at random, the highest is 0 (the number is positive)   byte 3: random
//   byte 1, 2: peer_id, its low and its high byte                              byte 4 to 7: random, but for the
//                                                                              two lowest bits: hops left, at first 3
//
// Without peer_id the number tells child and client, and the secret is 32 bits at random. Pure.
#pragma once

#include <cstdint>
#include <map>

#include "common/config/section_settings.h"

namespace weir::child {

struct CancelKey {
  std::uint32_t pid = 0;
  std::uint32_t secret = 0;
  bool operator==(const CancelKey&) const = default;
};

// Of SLOT (below 2^20) of CHILD (below 2^11).
CancelKey local_key(int child, int slot, std::uint32_t secret);
// PEER_ID 1 ... 65535.
CancelKey peer_key(std::uint64_t random, int peer_id);

int peer_of(CancelKey key);
int hops_left(CancelKey key);
// The same client's, however many hops are left.
bool is_same_client(CancelKey a, CancelKey b);

struct CancelRoute {
  enum class Kind : std::uint8_t {
    Own,          // a client of this pgweir, if of anybody
    Peer,         // `key` is to be sent to `peer`
    NoSuchPeer,
    NoHopsLeft,   // it has been going round in a circle
  } kind = Kind::Own;
  int peer = 0;
  CancelKey key;  // with a hop less
};

// OWN_ID: peer_id; 0: there are no peers, and every key is one of ours.
CancelRoute route_of(CancelKey key, int own_id, const std::map<int, config::SectionSettings>& peers);

}  // namespace weir::child
