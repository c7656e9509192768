#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weir {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "pgweir: impossible state: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace weir
