#include "child/peer_cancels.h"

#include <algorithm>
#include <utility>

#include "child/worker.h"
#include "common/base/bytes.h"
#include "common/base/log.h"
#include "common/config/config.h"

namespace weir::child {
namespace {

constexpr std::size_t kMaxActive = 100;   // where nothing says less: each is a descriptor
constexpr std::size_t kMaxWaiting = 1000;
constexpr Milliseconds kLookAgain{200};

std::string four_bytes(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
  return out;
}

}  // namespace

PeerCancels::PeerCancels(Worker& worker) : worker_(worker), hosts_(worker.loop()) {
  timer_.set(worker.loop(), [this] { expire(); });
}

std::size_t PeerCancels::limit(int peer) const {
  const auto line = worker_.config().settings.peers.find(peer);
  std::int64_t size = worker_.config().default_pool_size;
  if (line != worker_.config().settings.peers.end() && line->second.pool_size) size = *line->second.pool_size;
  return size > 0 ? std::min(kMaxActive, static_cast<std::size_t>(size)) : kMaxActive;
}

void PeerCancels::forward(int peer, CancelKey key, Over over) {
  Peer& target = peers_[peer];
  Request request{key, std::move(over), worker_.loop().now()};
  if (static_cast<std::size_t>(target.active) < limit(peer)) return send(peer, std::move(request));
  if (target.waiting.size() < kMaxWaiting) {
    target.waiting.push_back(std::move(request));
    if (!timer_.armed()) timer_.arm(kLookAgain);
    return;
  }
  log::warning("a cancel request for peer {} is lost: too many wait already", peer);
  request.over();
}

void PeerCancels::expire() {
  const std::chrono::seconds limit(worker_.config().cancel_wait_timeout);
  std::vector<Over> lost;
  bool more = false;
  for (auto& [peer, target] : peers_) {
    while (limit.count() > 0 && !target.waiting.empty() && worker_.loop().now() - target.waiting.front().since >= limit) {
      log::info("a cancel request for peer {} is lost: it has waited for cancel_wait_timeout", peer);
      lost.push_back(std::move(target.waiting.front().over));
      target.waiting.pop_front();
    }
    more = more || !target.waiting.empty();
  }
  if (more) timer_.arm(kLookAgain);
  for (const Over& over : lost) over();
}

void PeerCancels::send(int peer, Request request) {
  const auto line = worker_.config().settings.peers.find(peer);
  if (line == worker_.config().settings.peers.end()) return request.over();  // gone while it waited
  const std::string address = hosts_.address(line->second.host.value_or(std::string()));
  const auto port = static_cast<int>(line->second.port.value_or(worker_.config().port));
  const auto free = std::find(requests_.begin(), requests_.end(), nullptr);
  const auto slot = static_cast<std::size_t>(free - requests_.begin());
  if (free == requests_.end()) requests_.emplace_back();
  const Over over = std::move(request.over);
  std::unique_ptr<CancelRequest> begun;
  if (!address.empty()) {
    begun = CancelRequest::start_at(worker_, address, port, static_cast<std::int32_t>(request.key.pid), four_bytes(request.key.secret),
                                    [this, peer, slot, over](bool delivered) { sent(peer, slot, delivered, over); });
  }
  if (begun == nullptr) {
    log::warning("a cancel request cannot be handed on to peer {} ({} port {})", peer, line->second.host.value_or(std::string()), port);
    return over();
  }
  requests_[slot] = std::move(begun);
  ++peers_[peer].active;
}

void PeerCancels::sent(int peer, std::size_t slot, bool delivered, const Over& over) {
  if (!delivered) log::warning("peer {} did not take a cancel request", peer);
  worker_.loop().destroy_later(std::move(requests_[slot]));
  Peer& target = peers_[peer];
  --target.active;
  if (!target.waiting.empty()) {
    Request next = std::move(target.waiting.front());
    target.waiting.pop_front();
    send(peer, std::move(next));
  }
  over();
}

}  // namespace weir::child
