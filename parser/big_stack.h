// Runs a function on a stack of its own that is large enough for the deepest tree that a text of
// the permitted size can have. The stack is mapped without reservation, with a guard page below,
// and given back to the system after use.
#pragma once

#include <cstddef>
#include <functional>

namespace weir::parser {

// A level costs up to 2 KB (measured, unpacking protobuf), and 64 KB of text have at most 32,768 of
// them: four times that.
inline constexpr std::size_t kBigStack = std::size_t{256} << 20U;

// Runs WORK in a thread of its own with signals blocked, and waits for it. False if no stack or
// thread could be had; then nothing was run. WORK must not throw.
bool run_on_big_stack(const std::function<void()>& work);
// As above, with a stack of SIZE bytes, guard included (at least 1 MB).
bool run_on_stack(std::size_t size, const std::function<void()>& work);

} // namespace weir::parser
