// The first packet of a client. Input: its bytes; all of them are also read as the text of the parameter `options`.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/wire/encode.h"
#include "common/wire/startup.h"

namespace {

using namespace weir;
using Kind = wire::StartupResult::Kind;

// What was read and is written again is read the same.
void read_again(const wire::StartupMessage& message) {
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const auto& [name, value] : message.params) {
    WEIR_CHECK(!name.empty() && !name.starts_with("_pq_."));
    parameters.emplace_back(name, value);
  }
  std::string out;
  wire::encode_startup(out, parameters);
  const wire::StartupResult again = wire::parse_startup(as_bytes(out));
  WEIR_CHECK(again.kind == Kind::Startup && again.startup.params == message.params);
}

void options(std::string_view text) {
  const auto parsed = wire::parse_options(text);
  if (!parsed) {
    WEIR_CHECK(parsed.error().severity == Severity::Fatal && !parsed.error().message.empty());
    return;
  }
  for (const auto& [name, value] : *parsed) {
    WEIR_CHECK(!name.empty() && name.find('-') == std::string::npos && name.find('=') == std::string::npos);
    WEIR_CHECK(name.size() + value.size() < text.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  const wire::StartupResult result = wire::parse_startup(bytes);
  switch (result.kind) {
    case Kind::NeedMore: WEIR_CHECK(size < wire::kMaxStartupPacket); break;
    case Kind::Violation: WEIR_CHECK(!result.error.message.empty() && result.error.sqlstate.size() == 5); break;
    case Kind::Startup: read_again(result.startup); [[fallthrough]];
    case Kind::SslRequest:
    case Kind::GssRequest:
    case Kind::CancelRequest:
      WEIR_CHECK(result.size >= 8 && result.size <= size);
      // Less than the packet is never enough, and what follows it does not count.
      WEIR_CHECK(wire::parse_startup(bytes.first(result.size - 1)).kind == Kind::NeedMore);
      WEIR_CHECK(wire::parse_startup(bytes.first(result.size)).kind == result.kind);
      break;
  }
  options(as_text(bytes));
  return 0;
}
