// What one process tells another of its clients and servers, whatever the bytes: read, or an error.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/admin/census.h"
#include "common/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::admin::Census census;
  const auto status = weir::admin::decode_census({reinterpret_cast<const std::byte*>(data), size}, census);
  WEIR_CHECK(status || status.error().message.size() < 200);
  std::string text;
  weir::admin::encode_census(text, census);
  weir::admin::Census again;
  WEIR_CHECK(weir::admin::decode_census(weir::as_bytes(text), again).has_value());
  WEIR_CHECK(again.clients.size() == census.clients.size() && again.servers.size() == census.servers.size() && again.pools.size() == census.pools.size());
  weir::admin::merge_pools(census.pools);
  WEIR_CHECK(census.pools.size() <= again.pools.size());
  return 0;
}
