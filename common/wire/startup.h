// The first packet of a connection, which has no tag: SSLRequest, GSSENCRequest, CancelRequest or StartupMessage
// (protocol chapter "Start-up"). Views live as long as the bytes given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weir::wire {

inline constexpr std::size_t kMaxStartupPacket = 10000;  // as PostgreSQL's MAX_STARTUP_PACKET_LENGTH

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

StartupResult parse_startup(Bytes bytes);

// The value of the startup parameter `options`: -c name=value, -cname=value and --name=value, blanks apart, backslash
// takes the next character as it is. Names have '-' turned into '_' as the server does.
Result<std::vector<std::pair<std::string, std::string>>> parse_options(std::string_view text);

}  // namespace weir::wire
