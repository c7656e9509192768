#include "child/cancel_key.h"

namespace weir::child {
namespace {

constexpr std::uint32_t kHopMask = 3;
constexpr unsigned kSlotBits = 20;

}  // namespace

CancelKey local_key(int child, int slot, std::uint32_t secret) {
  return {(static_cast<std::uint32_t>(child) << kSlotBits | static_cast<std::uint32_t>(slot)) + 1, secret};
}

CancelKey peer_key(std::uint64_t random, int peer_id) {
  const auto id = static_cast<std::uint32_t>(peer_id);
  const auto high = static_cast<std::uint32_t>(random >> 32U);
  return {(high & 0x7f0000ffU) | (id & 0xffU) << 16U | (id >> 8U & 0xffU) << 8U, static_cast<std::uint32_t>(random) | kHopMask};
}

int peer_of(CancelKey key) { return static_cast<int>((key.pid >> 16U & 0xffU) | (key.pid >> 8U & 0xffU) << 8U); }
int hops_left(CancelKey key) { return static_cast<int>(key.secret & kHopMask); }
bool is_same_client(CancelKey a, CancelKey b) { return a.pid == b.pid && (a.secret | kHopMask) == (b.secret | kHopMask); }

CancelRoute route_of(CancelKey key, int own_id, const std::map<int, config::SectionSettings>& peers) {
  using Kind = CancelRoute::Kind;
  const int peer = peer_of(key);
  if (own_id == 0 || peer == own_id) return {Kind::Own, own_id, key};
  if (hops_left(key) == 0) return {Kind::NoHopsLeft, peer, key};
  if (!peers.contains(peer)) return {Kind::NoSuchPeer, peer, key};
  return {Kind::Peer, peer, {key.pid, key.secret - 1}};
}

}  // namespace weir::child
