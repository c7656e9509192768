// A session that comes from another process.
#include <cstddef>
#include <cstdint>
#include <string>

#include "child/session_snapshot.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir;
  const auto snapshot = child::decode_snapshot(Bytes(reinterpret_cast<const std::byte*>(data), size));
  if (!snapshot) return 0;
  std::string out;
  child::encode_snapshot(out, *snapshot);
  const auto again = child::decode_snapshot(as_bytes(out));
  WEIR_CHECK(again.has_value());
  std::string twice;
  child::encode_snapshot(twice, *again);
  WEIR_CHECK(out == twice);
  return 0;
}
