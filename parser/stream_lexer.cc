#include "parser/stream_lexer.h"

#include <algorithm>
#include <utility>

#include "parser/lexical.h"

namespace weir::parser {
namespace {

constexpr std::size_t kMaxOperator = 64; // the server refuses longer ones

bool is_operator(char c) {
  constexpr std::string_view kChars = "+-*/<>=~!@#%^&|`?";
  return kChars.find(c) != std::string_view::npos;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}

} // namespace

void StreamLexer::restart_kept() {
  kept_.clear();
  kept_whole_ = true;
  blank_ = 0;
}

void StreamLexer::keep(std::string_view bytes) {
  if (blank_ != 0 && !kept_.empty() && kept_.size() < kMaxKept)
    kept_ += blank_;
  blank_ = 0;
  const std::size_t room = kMaxKept - std::min(kMaxKept, kept_.size());
  kept_.append(bytes.substr(0, room));
  if (bytes.size() > room)
    kept_whole_ = false;
}

void StreamLexer::grow(char c) {
  if (token_.size() < kMaxToken)
    token_ += c;
  keep(c);
}

void StreamLexer::feed(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size() && !broken_; ++i) {
    i += skip(bytes.substr(i));
    if (i < bytes.size())
      step(bytes[i]);
  }
}

// Most of a long text is literals and comments: how many bytes of it mean nothing?
std::size_t StreamLexer::skip(std::string_view bytes) {
  std::size_t length = 0;
  switch (state_) {
  case State::String:
    length = escapes_ ? bytes.find_first_of("'\\") : bytes.find('\'');
    break;
  case State::Dollar:
    length = matched_ == 0 ? bytes.find('$') : 0;
    break;
  case State::LineComment:
    return std::min(bytes.size(), bytes.find_first_of("\r\n"));
  default:
    return 0;
  }
  length = std::min(bytes.size(), length);
  if (length > 0)
    keep(bytes.substr(0, length));
  return length;
}

void StreamLexer::step(char c) {
  if (in_literal(c) || in_token(c) || broken_)
    return;
  normal(c);
}

// True: C was part of what is between quotes, or of a comment.
bool StreamLexer::in_literal(char c) {
  switch (state_) {
  case State::String:
    keep(c);
    if (c == '\'')
      state_ = State::StringQuote;
    else if (c == '\\' && escapes_)
      state_ = State::Backslash;
    return true;
  case State::Backslash:
    keep(c);
    state_ = State::String;
    return true;
  case State::Name:
    if (c == '"') {
      keep(c);
      state_ = State::NameQuote;
    } else {
      grow(c);
    }
    return true;
  case State::Dollar:
    return on_dollar(c), true;
  case State::LineComment:
    if (!is_line_end(c))
      return true;
    state_ = State::Normal;
    return false; // a blank
  case State::BlockComment:
    return on_block_comment(c), true;
  default:
    return false;
  }
}

// True: C belongs to the token that has begun.
bool StreamLexer::in_token(char c) {
  switch (state_) {
  case State::Word:
    return on_word(c);
  case State::UnicodePrefix:
    if (c == '\'' || c == '"') {
      keep('&');
      keep(c);
      token_.clear();
      if (c == '\'')
        return begin_string(false), true;
      escaped_name_ = true;
      state_ = State::Name;
      return true;
    }
    end_token(StreamToken::Word);
    token_.assign(1, '&');
    state_ = State::Operator;
    return on_operator(c);
  case State::Number:
    return on_number(c);
  case State::StringQuote:
    if (c == '\'') {
      keep(c);
      state_ = State::String;
      return true;
    }
    state_ = State::Normal;
    after_string_ = true;
    return false;
  case State::NameQuote:
    if (c == '"') {
      state_ = State::Name;
      grow(c);
      return true;
    }
    end_token(std::exchange(escaped_name_, false) ? StreamToken::EscapedName : StreamToken::Name);
    return false;
  case State::Tag:
    return on_tag(c), true;
  case State::Operator:
    return on_operator(c);
  default:
    return false;
  }
}

bool StreamLexer::on_word(char c) {
  if (is_word_part(c))
    return grow(c), true;
  const bool one = token_.size() == 1;
  constexpr std::string_view kPrefixes = "eEbBxXnN";
  if (one && c == '\'' && kPrefixes.find(token_[0]) != std::string_view::npos) {
    keep(c);
    begin_string(token_[0] == 'e' || token_[0] == 'E');
    return true;
  }
  if (one && c == '&' && (token_[0] == 'u' || token_[0] == 'U')) {
    state_ = State::UnicodePrefix;
    return true;
  }
  end_token(StreamToken::Word);
  return false;
}

// Old servers end a number before a letter; what follows it then is not looked at twice.
bool StreamLexer::on_number(char c) {
  const bool letter = is_word_start(previous_);
  if (c == '$' || (letter && (c == '\'' || c == '"' || c == '&')))
    return broken_ = true;
  if (is_word_part(c) || c == '.') {
    previous_ = c;
    keep(c);
    return true;
  }
  state_ = State::Normal;
  return false;
}

bool StreamLexer::on_operator(char c) {
  const char last = token_.back();
  if ((last == '-' && c == '-') || (last == '/' && c == '*')) {
    end_operator(token_.size() - 1);
    blank_ = blank_ == '\n' ? '\n' : ' ';
    if (c == '*') {
      after_string_ = false;
      comment_depth_ = 1;
      previous_ = 0;
    }
    state_ = c == '-' ? State::LineComment : State::BlockComment;
    return true;
  }
  if (is_operator(c)) {
    token_ += c;
    broken_ = token_.size() > kMaxOperator;
    return true;
  }
  end_operator(token_.size());
  return false;
}

void StreamLexer::end_operator(std::size_t length) {
  state_ = State::Normal;
  if (length > 0) {
    after_string_ = false;
    keep(std::string_view(token_).substr(0, length));
    sink_.on_token(StreamToken::Operator, std::string_view(token_).substr(0, length));
  }
  token_.clear();
}

void StreamLexer::end_token(StreamToken token) {
  state_ = State::Normal;
  sink_.on_token(token, token_);
  token_.clear();
}

void StreamLexer::begin_string(bool escapes) {
  state_ = State::String;
  escapes_ = escapes;
  token_.clear();
  sink_.on_token(StreamToken::String, {});
}

// Behind a '$'. One that is neither a parameter nor a quote is no SQL.
void StreamLexer::on_tag(char c) {
  keep(c);
  if (token_.size() == 1 && is_digit(c)) {
    token_.clear();
    previous_ = c;
    state_ = State::Number;
    sink_.on_token(StreamToken::Number, "$");
    return;
  }
  const bool first = token_.size() == 1;
  token_ += c;
  if (c == '$') {
    state_ = State::Dollar;
    matched_ = 0;
    sink_.on_token(StreamToken::String, {});
    return;
  }
  broken_ = !(first ? is_word_start(c) : is_word_part(c)) || token_.size() > kMaxToken;
}

// No '$' is inside of a tag, so that a failed match can only begin again at the '$' that ended it.
void StreamLexer::on_dollar(char c) {
  keep(c);
  if (c == token_[matched_])
    ++matched_;
  else
    matched_ = c == '$' ? 1 : 0;
  if (matched_ < token_.size())
    return;
  token_.clear();
  state_ = State::Normal;
}

void StreamLexer::on_block_comment(char c) {
  if (previous_ == '/' && c == '*') {
    ++comment_depth_;
    previous_ = 0;
  } else if (previous_ == '*' && c == '/') {
    previous_ = 0;
    if (--comment_depth_ == 0)
      state_ = State::Normal;
  } else {
    previous_ = c;
  }
}

void StreamLexer::normal(char c) {
  if (is_blank(c)) {
    if (is_line_end(c) || blank_ == 0)
      blank_ = is_line_end(c) ? '\n' : ' ';
    return;
  }
  if (is_operator(c)) { // it may turn out to begin a comment
    token_.assign(1, c);
    state_ = State::Operator;
    return;
  }
  const bool goes_on = after_string_ && blank_ == '\n' && c == '\'';
  after_string_ = false;
  keep(c);
  if (goes_on) {
    state_ = State::String;
  } else if (is_word_start(c)) {
    token_.assign(1, c);
    state_ = State::Word;
  } else if (is_digit(c)) {
    previous_ = c;
    state_ = State::Number;
    sink_.on_token(StreamToken::Number, {});
  } else if (c == '\'') {
    begin_string(false);
  } else if (c == '"') {
    token_.clear();
    state_ = State::Name;
  } else if (c == '$') {
    token_.assign(1, c);
    state_ = State::Tag;
  } else {
    sink_.on_token(StreamToken::Symbol, std::string_view(&c, 1));
  }
}

bool StreamLexer::finish() {
  if (!broken_)
    step('\n');
  return !broken_ && state_ == State::Normal;
}

} // namespace weir::parser
