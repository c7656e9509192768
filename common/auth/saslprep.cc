#include "common/auth/saslprep.h"

#include <stringprep.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace weir::auth {

std::string saslprep(std::string_view password) {
  std::string text(password);
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; })) return text;
  char* prepared = nullptr;
  if (stringprep_profile(text.c_str(), &prepared, "SASLprep", STRINGPREP_NO_UNASSIGNED) != STRINGPREP_OK) return text;
  const std::unique_ptr<char, decltype(&std::free)> owned(prepared, &std::free);
  if (*owned != '\0') text = owned.get();
  return text;
}

}  // namespace weir::auth
