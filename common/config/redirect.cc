#include "common/config/redirect.h"

#include <fmt/format.h>

#include <charconv>
#include <cctype>
#include <utility>

#include "common/base/sqlstate.h"
#include "common/config/pattern.h"

namespace weir::config {
namespace {

constexpr int kMaxNode = 127;

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != word[i]) return false;
  }
  return true;
}

template <typename... Args>
tl::unexpected<Error> bad(fmt::format_string<Args...> format, Args&&... args) {
  return fail(make_error(sqlstate::kInvalidParameterValue, fmt::format(format, std::forward<Args>(args)...)));
}

// "primary", "standby" or a number into ENTRY.
bool set_node(RedirectEntry& entry, std::string_view text) {
  if (is_word(text, "primary")) {
    entry.to = RedirectEntry::To::Primary;
    return true;
  }
  if (is_word(text, "standby")) {
    entry.to = RedirectEntry::To::Standby;
    return true;
  }
  entry.to = RedirectEntry::To::Node;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), entry.node);
  return error == std::errc() && end == text.data() + text.size() && entry.node >= 0 && entry.node <= kMaxNode;
}

}  // namespace

Result<RedirectEntry> parse_redirect(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return bad("\"{}\" has no colon: an entry is name:node or name:node(ratio)", text);
  }
  RedirectEntry entry;
  entry.pattern = trimmed(text.substr(0, colon));
  std::string_view node = trimmed(text.substr(colon + 1));
  if (entry.pattern.empty()) return bad("\"{}\" names nobody before the colon", text);
  if (node.ends_with(')')) {
    const std::size_t open = node.find('(');
    if (open == std::string_view::npos) return bad("\"{}\" has no parenthesis to close", text);
    const std::string_view ratio = trimmed(node.substr(open + 1, node.size() - open - 2));
    const auto [end, error] = std::from_chars(ratio.data(), ratio.data() + ratio.size(), entry.ratio);
    const bool number = error == std::errc() && end == ratio.data() + ratio.size();
    if (!number || !(entry.ratio >= 0 && entry.ratio <= 1)) {
      return bad("\"{}\" in \"{}\" is no ratio (a number from 0 to 1)", ratio, text);
    }
    node = trimmed(node.substr(0, open));
  }
  if (!set_node(entry, node)) {
    return bad("\"{}\" in \"{}\" is no node (primary, standby or a number from 0 to {})", node, text, kMaxNode);
  }
  if (const auto pattern = Pattern::compile(entry.pattern); !pattern) {
    return bad("\"{}\" in \"{}\" is no regular expression: {}", entry.pattern, text, pattern.error().message);
  }
  return entry;
}

}  // namespace weir::config
