// load_balance_algorithm.
#pragma once

#include <cstdint>

namespace weir::lb {

enum class Algorithm : std::uint8_t { Weighted, LeastConnections, LeastLatency };

}  // namespace weir::lb
