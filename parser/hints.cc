#include "parser/hints.h"

#include <charconv>
#include <cctype>
#include <string>

namespace weir::parser {
namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool same(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != lower[i]) return false;
  }
  return true;
}

Hint read_hint(std::string_view comment) {
  Hint hint;
  comment = trim(comment);
  if (same(comment, "no load balance")) {
    hint.kind = Hint::Kind::NoLoadBalance;
    return hint;
  }
  constexpr std::string_view kPrefix = "pgweir:";
  if (comment.size() < kPrefix.size() || !same(comment.substr(0, kPrefix.size()), kPrefix)) return hint;
  const std::string_view what = trim(comment.substr(kPrefix.size()));
  if (same(what, "primary")) hint.kind = Hint::Kind::Primary;
  if (same(what, "standby")) hint.kind = Hint::Kind::Standby;
  if (what.size() > 5 && same(what.substr(0, 5), "node=")) {
    int node = -1;
    const auto [end, error] = std::from_chars(what.data() + 5, what.data() + what.size(), node);
    if (error == std::errc() && end == what.data() + what.size() && node >= 0 && node < 128) {
      hint.kind = Hint::Kind::Node;
      hint.node = node;
    }
  }
  return hint;
}

// Length of the comment at the start of TEXT; 0: none; nested as the server nests. An open one reaches to the end.
std::size_t comment_length(std::string_view text) {
  if (text.starts_with("--")) {
    const std::size_t end = text.find_first_of("\r\n");
    return end == std::string_view::npos ? text.size() : end;
  }
  if (!text.starts_with("/*")) return 0;
  int depth = 1;
  std::size_t i = 2;
  while (i < text.size() && depth > 0) {
    if (text.substr(i).starts_with("/*")) {
      ++depth;
      i += 2;
    } else if (text.substr(i).starts_with("*/")) {
      --depth;
      i += 2;
    } else {
      ++i;
    }
  }
  return i;
}

}  // namespace

Lead read_lead(std::string_view text) {
  Lead lead;
  while (lead.length < text.size()) {
    if (blank(text[lead.length])) {
      ++lead.length;
      continue;
    }
    const std::string_view rest = text.substr(lead.length);
    const std::size_t length = comment_length(rest);
    if (length == 0) break;
    if (lead.hint.kind == Hint::Kind::None && length >= 4 && rest.starts_with("/*")) lead.hint = read_hint(rest.substr(2, length - 4));
    lead.length += length;
  }
  return lead;
}

}  // namespace weir::parser
