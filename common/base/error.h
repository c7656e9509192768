// An error as PostgreSQL reports one: severity, SQLSTATE, message, detail, hint. It is what a client is told and what a
// log line shows; code that must react to a kind of failure compares the SQLSTATE.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace weir {

enum class Severity { Notice, Warning, Error, Fatal, Panic };

// "NOTICE", "WARNING", "ERROR", "FATAL", "PANIC": the untranslated words of field 'V' in an ErrorResponse.
std::string_view severity_text(Severity severity);

struct Error {
  Severity severity = Severity::Error;
  std::string sqlstate;  // five characters, see sqlstate.h
  std::string message;   // what is wrong
  std::string detail;    // where, or with which value; may be empty
  std::string hint;      // what to do; may be empty

  bool operator==(const Error&) const = default;

  // "message (detail; hint)" on one line, for logs.
  std::string one_line() const;
};

inline Error make_error(std::string_view sqlstate, std::string message, std::string detail = {},
                        std::string hint = {}) {
  return Error{Severity::Error, std::string(sqlstate), std::move(message), std::move(detail), std::move(hint)};
}

inline Error make_fatal(std::string_view sqlstate, std::string message, std::string detail = {},
                        std::string hint = {}) {
  return Error{Severity::Fatal, std::string(sqlstate), std::move(message), std::move(detail), std::move(hint)};
}

}  // namespace weir
