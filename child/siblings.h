// Datagrams with a descriptor between the children of one parent: what one gives away and another goes on with. The first byte tells
// the kind; the rest is the business of who takes it. A datagram for a child that has died waits for the one that follows it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/event.h"
#include "common/base/unique_fd.h"
#include "common/process/role_context.h"

namespace weir::child {

class Siblings {
 public:
  // A client with its session; a server connection with its lease.
  enum class Kind : std::uint8_t { Client = 'C', Connection = 'S' };
  // BYTES live during the call; the descriptor is not valid if not exactly one came.
  using OnArrival = std::function<void(Bytes bytes, UniqueFd fd)>;

  // One datagram; longer ones are not sent.
  static constexpr std::size_t kMaxBytes = 64U << 10U;

  explicit Siblings(process::RoleContext& context) : context_(context) {}
  void start(EventLoop& loop);
  void take(Kind kind, OnArrival on_arrival) { takers_[kind] = std::move(on_arrival); }
  // The descriptor stays the caller's. False: it was not sent, and nobody has it.
  bool send(int child, Kind kind, std::string_view bytes, int fd);

 private:
  void receive();

  process::RoleContext& context_;
  int fd_ = -1;  // the parent's
  FdEvent event_;
  std::map<Kind, OnArrival> takers_;
};

}  // namespace weir::child
