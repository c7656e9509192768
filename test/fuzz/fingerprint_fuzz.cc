// Texts of equal skeleton have equal facts: the input against the same with other literals, and
// against what came before.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "parser/classify.h"
#include "parser/fingerprint.h"
#include "parser/lexical.h"
#include "test/unit/parser/describe.h"

namespace {

using namespace weir::parser;

std::string with_other_literals(std::string_view text) {
  std::string out;
  Lexer lexer(text);
  for (Token token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
    std::string piece(token.text);
    for (std::size_t i = 1; i + 1 < piece.size() && token.kind == TokenKind::String; ++i) {
      if (piece[i] != '\'')
        piece[i] = static_cast<char>(piece[i] ^ 1);
    }
    for (std::size_t i = 0; i < piece.size() && token.kind == TokenKind::Number; ++i) {
      if (piece[i] >= '0' && piece[i] <= '9')
        piece[i] = static_cast<char>('0' + (piece[i] - '0' + 3) % 10);
    }
    out += piece;
  }
  return out;
}

std::string shared_facts(std::string_view text) {
  const StatementFacts facts = classify(text);
  return facts.exact_text_only ? "exact" : describe(facts);
}

void compare(std::string_view one, std::string_view other, const std::string& facts_of_one) {
  const std::string facts = shared_facts(other);
  if (facts == facts_of_one)
    return;
  std::fprintf(stderr, "%.*s\n  %s\n%.*s\n  %s\n", static_cast<int>(one.size()), one.data(),
               facts_of_one.c_str(), static_cast<int>(other.size()), other.data(), facts.c_str());
  std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::map<std::string, std::string> seen;
  if (size > 4096)
    return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string buffer;
  const std::string key(skeleton(text, buffer));
  if (key.empty())
    return 0;
  const std::string facts = shared_facts(text);
  const std::string other = with_other_literals(text);
  if (skeleton(other, buffer) == key)
    compare(text, other, facts);
  if (seen.size() > 20000)
    seen.clear();
  const auto [it, added] = seen.try_emplace(key, text);
  if (!added)
    compare(it->second, text, shared_facts(it->second));
  return 0;
}
