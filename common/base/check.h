// WEIR_CHECK aborts on what cannot happen: the parent replaces the process, which is safer than going on.
#pragma once

namespace weir {
[[noreturn]] void check_failed(const char* expression, const char* file, int line);
}

#define WEIR_CHECK(expression)                                                       \
  do {                                                                               \
    if (!(expression)) [[unlikely]] ::weir::check_failed(#expression, __FILE__, __LINE__); \
  } while (false)
