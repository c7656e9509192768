#include "parser/hints.h"

#include <algorithm>
#include <charconv>

#include "parser/lexical.h"

namespace weir::parser {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

bool same(std::string_view text, std::string_view lower) {
  const auto fold = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(),
                                                   [&](char a, char b) { return fold(a) == b; });
}

// COMMENT is what stands between the marks.
Hint read_hint(std::string_view comment) {
  constexpr std::string_view kPrefix = "pgweir:";
  constexpr std::string_view kNode = "node=";
  Hint hint;
  comment = trim(comment);
  if (same(comment, "no load balance"))
    hint.kind = Hint::Kind::NoLoadBalance;
  if (!same(comment.substr(0, kPrefix.size()), kPrefix))
    return hint;
  const std::string_view what = trim(comment.substr(kPrefix.size()));
  if (same(what, "primary"))
    hint.kind = Hint::Kind::Primary;
  if (same(what, "standby"))
    hint.kind = Hint::Kind::Standby;
  if (same(what.substr(0, kNode.size()), kNode)) {
    const std::string_view digits = what.substr(kNode.size());
    int node = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), node);
    if (error == std::errc() && end == digits.data() + digits.size() && node >= 0 &&
        node <= kMaxHintNode) {
      hint.kind = Hint::Kind::Node;
      hint.node = node;
    }
  }
  return hint;
}

} // namespace

Lead read_lead(std::string_view text) {
  Lead lead;
  while (lead.length < text.size()) {
    if (is_blank(text[lead.length])) {
      ++lead.length;
      continue;
    }
    const std::string_view rest = text.substr(lead.length);
    bool closed = false;
    const std::size_t length = comment_length(rest, closed);
    if (length == 0)
      break;
    if (lead.hint.kind == Hint::Kind::None && closed && rest[0] == '/')
      lead.hint = read_hint(rest.substr(2, length - 4));
    lead.length += length;
  }
  return lead;
}

} // namespace weir::parser
