#include "common/config/pattern.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "common/base/sqlstate.h"

namespace weir::config {
namespace {

// Bytes, not characters: a subject in any encoding must still match the patterns that it matches as ASCII.
RE2::Options options() {
  RE2::Options result;
  result.set_encoding(RE2::Options::EncodingLatin1);
  result.set_case_sensitive(false);
  result.set_dot_nl(true);
  result.set_log_errors(false);
  result.set_never_capture(true);
  return result;
}

}  // namespace

Pattern::Pattern(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

Result<Pattern> Pattern::compile(std::string_view text) {
  std::string anchored(text);
  if (!anchored.starts_with('^')) anchored.insert(0, 1, '^');
  if (!anchored.ends_with('$')) anchored += '$';
  auto regex = std::make_unique<RE2>(anchored, options());
  if (!regex->ok()) return fail(make_error(sqlstate::kInvalidParameterValue, regex->error()));
  return Pattern(std::move(regex));
}

bool Pattern::matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex_);
}

}  // namespace weir::config
