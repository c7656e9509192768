// The first packet of a connection, which has no tag: SSLRequest, GSSENCRequest, CancelRequest or StartupMessage
// (protocol chapter "Start-up"). Views live as long as the bytes given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/error.h"
#include "common/wire/startup_options.h"

namespace weir::wire {

// The whole packet with its length word: PostgreSQL's MAX_STARTUP_PACKET_LENGTH does not count that.
inline constexpr std::size_t kMaxStartupPacket = 10000 + 4;

struct StartupMessage {
  int major = 3;
  int minor = 0;
  std::vector<std::pair<std::string_view, std::string_view>> params;
  std::vector<std::string_view> unknown_options;  // names that begin with _pq_.
};

struct CancelPacket {
  std::int32_t pid = 0;
  Bytes key;  // 4 bytes, up to 256 since protocol 3.2
};

struct StartupResult {
  enum class Kind { NeedMore, Violation, SslRequest, GssRequest, CancelRequest, Startup } kind = Kind::NeedMore;
  std::size_t size = 0;  // bytes of the packet
  StartupMessage startup;
  CancelPacket cancel;
  Error error;           // with Violation, FATAL
};

// Judged when the packet is there as a whole, but for its length, which must lie in 8 .. kMaxStartupPacket. Minor
// versions of protocol 3 that are not spoken are no violation: they are negotiated.
StartupResult parse_startup(Bytes bytes);

}  // namespace weir::wire
