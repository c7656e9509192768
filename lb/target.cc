#include "lb/target.h"

#include <array>
#include <cstddef>

namespace weir::lb {
namespace {

struct ReasonRow {
  const char* name;
  const char* text;
};

constexpr std::array kReasons = {
#define REASON(name, text) ReasonRow{#name, text},
#include "lb/reasons.def"
#undef REASON
};

}  // namespace

const char* reason_text(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < kReasons.size() ? kReasons[index].text : "?";
}

const char* reason_name(Reason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < kReasons.size() ? kReasons[index].name : "?";
}

}  // namespace weir::lb
