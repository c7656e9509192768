#include "common/base/error.h"

namespace weir {

std::string_view severity_text(Severity severity) {
  switch (severity) {
    case Severity::Notice: return "NOTICE";
    case Severity::Warning: return "WARNING";
    case Severity::Error: return "ERROR";
    case Severity::Fatal: return "FATAL";
    case Severity::Panic: return "PANIC";
  }
  return "ERROR";
}

std::string Error::one_line() const {
  std::string text = message;
  if (!detail.empty() || !hint.empty()) {
    text += " (";
    text += detail;
    if (!detail.empty() && !hint.empty()) text += "; ";
    text += hint;
    text += ')';
  }
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

}  // namespace weir
