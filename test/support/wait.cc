#include "test/support/wait.h"

#include <gtest/gtest.h>

#include <thread>

namespace weir::test {

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool expect_soon(const std::string& what, const std::function<bool()>& condition,
                 std::chrono::milliseconds patience) {
  if (wait_until(condition, patience))
    return true;
  ADD_FAILURE() << "waited in vain: " << what;
  return false;
}

} // namespace weir::test
