#include "common/wire/startup.h"

#include "common/base/byte_reader.h"
#include "common/base/sqlstate.h"

namespace weir::wire {
namespace {

constexpr std::uint32_t kCancelCode = 80877102;
constexpr std::uint32_t kSslCode = 80877103;
constexpr std::uint32_t kGssCode = 80877104;

StartupResult violation(std::string message, std::string_view state = sqlstate::kProtocolViolation) {
  StartupResult result;
  result.kind = StartupResult::Kind::Violation;
  result.error = make_fatal(state, std::move(message));
  return result;
}

StartupResult parse_parameters(ByteReader reader, std::uint32_t version, std::size_t size) {
  StartupResult result;
  result.kind = StartupResult::Kind::Startup;
  result.size = size;
  result.startup.major = static_cast<int>(version >> 16U);
  result.startup.minor = static_cast<int>(version & 0xffffU);
  while (true) {
    const std::string_view name = reader.cstring();
    if (!reader.ok()) break;
    if (name.empty()) {
      if (!reader.at_end()) break;
      return result;
    }
    const std::string_view value = reader.cstring();
    if (!reader.ok()) break;
    if (name.starts_with("_pq_.")) {
      result.startup.unknown_options.push_back(name);
    } else {
      result.startup.params.emplace_back(name, value);
    }
  }
  return violation("invalid startup packet layout: expected terminator as last byte");
}

}  // namespace

StartupResult parse_startup(Bytes bytes) {
  if (bytes.size() < 4) return {};
  ByteReader reader(bytes);
  const std::uint32_t length = reader.u32();
  if (length < 8 || length > kMaxStartupPacket) return violation("invalid length of startup packet");
  if (bytes.size() < length) return {};
  ByteReader body(bytes.first(length).subspan(4));
  const std::uint32_t code = body.u32();
  StartupResult result;
  result.size = length;
  switch (code) {
    case kSslCode:
    case kGssCode:
      if (length != 8) return violation("invalid length of startup packet");
      result.kind = code == kSslCode ? StartupResult::Kind::SslRequest : StartupResult::Kind::GssRequest;
      return result;
    case kCancelCode:
      result.kind = StartupResult::Kind::CancelRequest;
      result.cancel.pid = body.i32();
      result.cancel.key = body.rest();
      if (result.cancel.key.size() < 4 || result.cancel.key.size() > 256) {
        return violation("invalid length of cancel request packet");
      }
      return result;
    default: break;
  }
  if (code >> 16U != 3) {
    return violation("unsupported frontend protocol " + std::to_string(code >> 16U) + "." +
                         std::to_string(code & 0xffffU) + ": server supports 3.0 to 3.0",
                     sqlstate::kFeatureNotSupported);
  }
  return parse_parameters(body, code, length);
}

}  // namespace weir::wire
