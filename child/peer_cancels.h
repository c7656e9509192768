// Hands cancel requests on to the pgweir whose client they are for: over a connection each, as many to one peer at a time as
// the pool_size of its line in [peers], else default_pool_size, says. A request that cannot be delivered is lost with a line
// in the log, as a cancel may be.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "child/cancel.h"
#include "child/cancel_key.h"
#include "common/base/clock.h"
#include "common/base/event.h"
#include "common/base/host_resolver.h"

namespace weir::child {

class Worker;

class PeerCancels {
 public:
  using Over = std::function<void()>;
  explicit PeerCancels(Worker& worker);

  // OVER is called once, perhaps before this returns: when the peer has taken the request, or it is lost.
  void forward(int peer, CancelKey key, Over over);

 private:
  struct Request {
    CancelKey key;
    Over over;
    Monotonic since{};
  };
  struct Peer {
    int active = 0;
    std::deque<Request> waiting;
  };
  std::size_t limit(int peer) const;
  void send(int peer, Request request);
  // cancel_wait_timeout: who waits for longer is lost.
  void expire();
  void sent(int peer, std::size_t slot, bool delivered, const Over& over);

  Worker& worker_;
  HostResolver hosts_;
  std::map<int, Peer> peers_;
  Timer timer_;
  std::vector<std::unique_ptr<CancelRequest>> requests_;  // null: a free place
};

}  // namespace weir::child
