// One value of any bytes as each kind of number, as a switch, as a list, and for every parameter of the table. What a
// parameter takes is taken again in the form in which it is shown, and is shown the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/config/parameter.h"
#include "common/config/units.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::config;
  const std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(parse_bool(text));
  static_cast<void>(parse_real(text));
  static_cast<void>(parse_octal(text));
  for (const char* unit : {"", "ms", "s", "min", "B", "kB"}) static_cast<void>(parse_integer(text, unit));
  for (const Parameter& parameter : parameters()) {
    Config config;
    if (!set_parameter(config, parameter, text)) continue;
    if (parameter.kind == Kind::SECRET) continue;
    const std::string shown = show_parameter(config, parameter);
    Config again;
    WEIR_CHECK(set_parameter(again, parameter, shown).has_value());
    WEIR_CHECK(show_parameter(again, parameter) == shown);
  }
  return 0;
}
