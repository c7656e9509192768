// Any text on the admin console -> what it asks for, or an error that can be shown.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/admin/console_command.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::admin::ConsoleCommand;
  using Kind = ConsoleCommand::Kind;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto command = weir::admin::parse_console(text);
  if (!command) {
    require(!command.error().message.empty() && command.error().message.size() < 200 && command.error().sqlstate.size() == 5);
    return 0;
  }
  const auto again = weir::admin::parse_console(" \n" + std::string(text) + " \t");
  require(again && again->kind == command->kind && again->user == command->user && again->database == command->database && again->limits == command->limits);
  if (command->kind != Kind::SetLimits) {
    require(command->user.empty() && command->database.empty() && command->limits.empty() && !command->needs_admin());
    return 0;
  }
  using weir::config::Section;
  require(command->user.empty() == (command->section == Section::Databases) && command->database.empty() == (command->section == Section::Users));
  require(command->user.size() <= 63 && command->database.size() <= 63);
  weir::config::RuntimeLimits limits;
  require(weir::config::parse_runtime_limits(command->section, command->limits, limits).has_value());
  return 0;
}
