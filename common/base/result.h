// Result<T>: a value or an Error. The alias is here so that std::expected can take its place.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "common/base/error.h"

namespace weir {

template <typename T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace weir

// Returns the error of EXPRESSION from the calling function, if it has one.
#define WEIR_TRY(expression)                                                 \
  do {                                                                       \
    auto weir_try_result = (expression);                                     \
    if (!weir_try_result) return ::weir::fail(std::move(weir_try_result).error()); \
  } while (false)
