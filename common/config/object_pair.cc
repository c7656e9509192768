#include "common/config/object_pair.h"

#include <fmt/format.h>

#include <cstddef>

#include "common/base/sqlstate.h"

namespace weir::config {
namespace {

// From AT up to an unescaped colon or the end; AT is left there.
std::string read_side(std::string_view text, std::size_t& at) {
  std::string side;
  std::size_t keep = 0;  // up to here nothing is a blank to be dropped
  for (; at < text.size() && text[at] != ':'; ++at) {
    const bool escape = text[at] == '\\' && at + 1 < text.size() &&
                        (text[at + 1] == ':' || text[at + 1] == ' ' || text[at + 1] == '\\');
    if (escape) ++at;
    if (text[at] == ' ' && !escape) {
      if (!side.empty()) side += ' ';
      continue;
    }
    side += text[at];
    keep = side.size();
  }
  side.resize(keep);
  return side;
}

}  // namespace

Result<std::pair<std::string, std::string>> parse_object_pair(std::string_view text) {
  std::size_t at = 0;
  std::string object = read_side(text, at);
  const bool colon = at < text.size();
  if (colon) ++at;
  std::string dependent = read_side(text, at);
  if (colon && at == text.size() && !object.empty() && !dependent.empty()) return std::pair(std::move(object), std::move(dependent));
  return fail(make_error(sqlstate::kInvalidParameterValue, fmt::format("\"{}\" is not object:dependent", text)));
}

}  // namespace weir::config
