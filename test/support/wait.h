// Waiting for a condition, never for a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace weir::test {

// Long enough for a loaded machine under a sanitizer: only a failing test waits it out.
inline constexpr std::chrono::seconds kPatience{30};

// Asks CONDITION every few milliseconds until it holds; false when the patience ran out.
bool wait_until(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = kPatience);

// The same as a failure of the current test that says what was waited for.
bool expect_soon(const std::string& what, const std::function<bool()>& condition,
                 std::chrono::milliseconds patience = kPatience);

} // namespace weir::test
