// What stands before a statement ends where the statement begins, and a hint is one of those there
// are.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "parser/hints.h"
#include "parser/lexical.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::parser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Lead lead = read_lead(text);
  if (lead.length > text.size())
    std::abort();
  if (read_lead(text.substr(lead.length)).length != 0)
    std::abort();
  const bool node = lead.hint.kind == Hint::Kind::Node;
  if (node != (lead.hint.node >= 0) || lead.hint.node > kMaxHintNode)
    std::abort();
  if (without_tail(text).size() > text.size())
    std::abort();
  return 0;
}
