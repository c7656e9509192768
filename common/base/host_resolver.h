// Host names -> numeric addresses without blocking the loop: the look-up runs in a thread that owns nothing and posts
// its answer.
#pragma once

#include <memory>
#include <string>

#include "common/base/event.h"
#include "common/base/wake.h"

namespace weir {

class HostResolver {
 public:
  explicit HostResolver(EventLoop& loop);
  ~HostResolver();

  // The address of HOST: itself if it is numeric or a directory; the last one found; empty while there is none. Starts a
  // new look-up if the last is older than 10 s.
  std::string address(const std::string& host);

 private:
  struct Shared;
  EventLoop& loop_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir
