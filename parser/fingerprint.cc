#include "parser/fingerprint.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "parser/hints.h"
#include "parser/lexical.h"
#include "parser/names.h"

namespace weir::parser {
namespace {

constexpr unsigned char kMark = 1; // in front of a hint
constexpr std::size_t kMarkLength = 4;

enum Class : std::uint8_t {
  kOther,
  kWord,
  kDigit,
  kPoint,
  kQuote,
  kName,
  kDollar,
  kDash,
  kSlash,
  kOdd
};

constexpr std::array<std::uint8_t, 256> classes() {
  std::array<std::uint8_t, 256> table{};
  for (std::size_t c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
    table[c] = letter ? kWord : (c >= '0' && c <= '9') ? kDigit : kOther;
  }
  table[kMark] = kOdd;
  table['.'] = kPoint;
  table['\''] = kQuote;
  table['"'] = kName;
  table['$'] = kDollar;
  table['-'] = kDash;
  table['/'] = kSlash;
  return table;
}

constexpr std::array<std::uint8_t, 256> kClasses = classes();

Class class_of(char c) {
  return static_cast<Class>(kClasses[static_cast<unsigned char>(c)]);
}

// The grammar asks in places for a number that fits an int: those and all others have a placeholder
// each.
constexpr char kInteger = '0';
constexpr char kNumber = '9';

bool fits_int(const char* from, const char* to) {
  while (from != to && *from == '0')
    ++from;
  constexpr char kLargest[] = "2147483647";
  constexpr std::ptrdiff_t kDigits = sizeof kLargest - 1;
  return to - from < kDigits || (to - from == kDigits && std::memcmp(from, kLargest, kDigits) <= 0);
}

// Copies the text piece by piece. Each step is at a byte of its class, moves on, and is false where
// the text is odd. No piece grows, so OUT needs the room of the text and of the mark.
class Copier {
public:
  Copier(std::string_view text, char* out)
      : at_(text.data()), begin_(at_), end_(at_ + text.size()), out_(out) {}

  // A comment before the statement may be a hint, and that is all it can be.
  void lead() {
    if (at_ == end_ || (!is_blank(*at_) && *at_ != '/' && *at_ != '-'))
      return;
    const Lead lead = read_lead({at_, static_cast<std::size_t>(end_ - at_)});
    at_ += lead.length;
    begin_ = at_;
    if (lead.hint.kind == Hint::Kind::None)
      return;
    *out_++ = static_cast<char>(kMark);
    *out_++ = static_cast<char>('a' + static_cast<int>(lead.hint.kind));
    *out_++ = static_cast<char>(' ' + (lead.hint.node + 1) / 64);
    *out_++ = static_cast<char>(' ' + (lead.hint.node + 1) % 64);
  }

  bool run() {
    while (at_ != end_) {
      switch (class_of(*at_)) {
      case kOther:
        *out_++ = *at_++;
        break;
      case kWord:
        if (!word())
          return false;
        break;
      case kDigit:
        if (!number(false))
          return false;
        break;
      case kPoint:
        *out_++ = *at_++;
        if (at_ != end_ && class_of(*at_) == kDigit && !number(true))
          return false;
        break;
      case kOdd:
        return false;
      case kQuote:
        if (!string())
          return false;
        break;
      case kName:
        if (!name())
          return false;
        break;
      case kDollar:
        if (!parameter())
          return false;
        break;
      case kDash:
      case kSlash:
        if (!operator_or_comment())
          return false;
        break;
      }
    }
    return found_;
  }

  char* out() const { return out_; }

private:
  bool word() {
    const char* start = at_;
    do {
      *out_++ = *at_++;
    } while (at_ != end_ && (class_of(*at_) == kWord || class_of(*at_) == kDigit || *at_ == '$'));
    // E'', B'', X'', N'' or a typed literal glued on.
    if (at_ != end_ && *at_ == '\'')
      return false;
    // FLOAT(24) and FLOAT(25) are different types.
    constexpr std::string_view kFloat = "float";
    return static_cast<std::size_t>(at_ - start) != kFloat.size() ||
           lower({start, kFloat.size()}) != kFloat;
  }

  // AFTER_POINT: a point stands in front and belongs to it, so that it has no other.
  bool number(bool after_point) {
    const char* start = at_;
    bool integer = !after_point;
    digits();
    const char* digits_end = at_;
    if (!after_point && at_ != end_ && *at_ == '.') {
      integer = false;
      if (++at_ != end_ && *at_ == '.')
        return false;
      digits();
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      integer = false;
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-'))
        ++at_;
      if (at_ == end_ || class_of(*at_) != kDigit)
        return false;
      digits();
    }
    if (at_ != end_ && (class_of(*at_) == kWord || *at_ == '$'))
      return false;
    *out_++ = integer && fits_int(start, digits_end) ? kInteger : kNumber;
    found_ = true;
    return true;
  }

  bool string() {
    // A string behind a string continues it (across lines); U& in front gives backslashes a
    // meaning.
    const char* before = out_;
    while (before != out_begin_ && is_blank(before[-1]))
      --before;
    if (before != out_begin_ && before[-1] == '\'')
      return false;
    if (unicode_prefix())
      return false;
    const char* start = ++at_;
    std::size_t doubled = 0;
    while (true) {
      at_ = static_cast<const char*>(std::memchr(at_, '\'', static_cast<std::size_t>(end_ - at_)));
      if (at_ == nullptr)
        return false;
      ++at_;
      if (at_ == end_ || *at_ != '\'')
        break;
      ++at_;
      ++doubled;
    }
    const std::string_view literal(start, static_cast<std::size_t>(at_ - 1 - start));
    if (has_date_word(literal, doubled) || contains_temp(literal))
      return false;
    *out_++ = '\'';
    *out_++ = '\'';
    found_ = true;
    return true;
  }

  bool name() {
    if (unicode_prefix())
      return false;
    const auto* end =
        at_ + 1 == end_ ? nullptr
                        : static_cast<const char*>(
                              std::memchr(at_ + 1, '"', static_cast<std::size_t>(end_ - at_ - 1)));
    if (end == nullptr)
      return false;
    const auto length = static_cast<std::size_t>(end + 1 - at_);
    std::memcpy(out_, at_, length);
    out_ += length;
    at_ += length;
    return true;
  }

  // $1; everything else with a dollar is a dollar quote.
  bool parameter() {
    *out_++ = *at_++;
    if (at_ == end_ || class_of(*at_) != kDigit)
      return false;
    while (at_ != end_ && class_of(*at_) == kDigit)
      *out_++ = *at_++;
    return true;
  }

  bool operator_or_comment() {
    const std::size_t rest = static_cast<std::size_t>(end_ - at_);
    if (rest > 1 && ((*at_ == '-' && at_[1] == '-') || (*at_ == '/' && at_[1] == '*'))) {
      bool closed = false;
      const std::string_view comment(at_, comment_length({at_, rest}, closed));
      at_ += comment.size();
      *out_++ = ' ';
      // Before a later statement of the text a hint counts.
      return closed && read_lead(comment).hint.kind == Hint::Kind::None;
    }
    *out_++ = *at_++;
    return true;
  }

  void digits() {
    while (at_ != end_ && class_of(*at_) == kDigit)
      ++at_;
  }
  bool unicode_prefix() const {
    return at_ - begin_ >= 2 && at_[-1] == '&' && (at_[-2] == 'U' || at_[-2] == 'u');
  }

  const char* at_;
  const char* begin_;
  const char* end_;
  char* out_;
  const char* out_begin_ = out_;
  bool found_ = false;
};

} // namespace

std::string_view skeleton(std::string_view text, std::string& buffer) {
  if (text.find('\0') != std::string_view::npos)
    return {}; // no text of the protocol; what looks at it with C strings sees its beginning only
  if (buffer.size() < text.size() + kMarkLength)
    buffer.resize(text.size() + kMarkLength);
  Copier copier(text, buffer.data());
  copier.lead();
  if (!copier.run())
    return {};
  return {buffer.data(), static_cast<std::size_t>(copier.out() - buffer.data())};
}

} // namespace weir::parser
