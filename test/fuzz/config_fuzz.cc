// A configuration file of any bytes: a configuration whose values can be shown, or errors; never a crash. Input: the
// main file; what stands behind a line "====" is what every included file has in it.
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/check.h"
#include "common/config/describe.h"
#include "common/config/diff.h"
#include "common/config/loader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::config;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find("\n====\n");
  const std::string main_file = text.substr(0, cut);
  const std::string included = cut == std::string::npos ? std::string() : text.substr(cut + 6);
  const LoadRequest request{"/c/main.conf", {{"PGWEIR_PORT", included.substr(0, 10)}}, {{"max_pool", "3"}}};
  const LoadOutcome outcome = load_with(request, [&](const std::string& path) -> weir::Result<std::string> {
    return path == "/c/main.conf" ? main_file : included;
  });
  WEIR_CHECK((outcome.config == nullptr) == !outcome.errors.empty());
  WEIR_CHECK(outcome.errors.size() <= 101);
  if (outcome.config == nullptr) return 0;
  WEIR_CHECK(outcome.config->max_pool == 3 && outcome.config->backends.size() <= 128);
  WEIR_CHECK(!describe(*outcome.config).empty() && !pool_status_items(*outcome.config).empty());
  WEIR_CHECK(diff(*outcome.config, *outcome.config).empty());
  return 0;
}
