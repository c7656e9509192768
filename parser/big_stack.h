// Runs a function on a stack of its own that is large enough for the deepest tree that a text of the permitted size can
// have. The stack is mapped without reservation, with a guard page below, and given back to the system after use.
#pragma once

#include <functional>

namespace weir::parser {

// False if no stack or thread could be had; then nothing was run.
bool run_on_big_stack(const std::function<void()>& work);

}  // namespace weir::parser
