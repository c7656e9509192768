#include "common/base/wake.h"

#include <sys/eventfd.h>

#include <cstdint>

#include "common/base/check.h"

namespace weir {

Wake::Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { WEIR_CHECK(fd_.valid()); }

void Wake::notify() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] auto written = ::write(fd_.get(), &one, sizeof one);  // EAGAIN: already full of wakes
}

void Wake::drain() const {
  std::uint64_t count = 0;
  [[maybe_unused]] auto got = ::read(fd_.get(), &count, sizeof count);
}

}  // namespace weir
