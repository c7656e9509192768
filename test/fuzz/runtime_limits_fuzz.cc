// What SET POOL, SET USER and SET DATABASE are given: limits within range, or an error that leaves all as it was. First byte: which.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/check.h"
#include "common/config/effective.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::config;
  if (size == 0) return 0;
  constexpr Section kSections[] = {Section::Databases, Section::Users, Section::Pools};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  RuntimeLimits limits;
  limits.pool_size = 7;
  const RuntimeLimits before = limits;
  const auto status = parse_runtime_limits(kSections[data[0] % 3], text, limits);
  if (!status) {
    WEIR_CHECK(limits == before && !status.error().message.empty() && status.error().message.size() < 200);
    return 0;
  }
  for (const std::int32_t value : {limits.pool_size, limits.min_pool_size, limits.reserve_pool_size, limits.max_connections, limits.max_client_connections}) {
    WEIR_CHECK(value >= -1);
  }
  return 0;
}
