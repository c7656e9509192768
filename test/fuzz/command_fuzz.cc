// Any text -> a command of pgweir's own or none.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/admin/command.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string in_case(std::string_view text, int (*change)(int)) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [&](char c) {
    return c >= 0 ? static_cast<char>(change(c)) : c;
  });
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::admin::CommandKind;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto command = weir::admin::parse_command(text);
  const auto upper = weir::admin::parse_command(in_case(text, std::toupper));
  require(command.has_value() == upper.has_value());
  if (!command) return 0;
  require(upper->kind == command->kind && upper->show == command->show);
  require(!command->argument.empty());
  require(command->argument.data() >= text.data() &&
          command->argument.data() + command->argument.size() <= text.data() + text.size());
  require(command->argument.front() != ' ' && command->argument.back() != ' ' && command->argument.back() != ';');
  if (command->kind == CommandKind::PoolShow) {
    require(weir::admin::show_command(in_case(command->argument, std::tolower)) == command->show);
  }
  // Blanks around a command and a semicolon behind it change nothing.
  const std::string wrapped = " \n" + text + " ; ";
  const auto again = weir::admin::parse_command(wrapped);
  require(again && again->kind == command->kind && again->argument == command->argument);
  const weir::Error error = weir::admin::not_available(*command);
  require(error.sqlstate == "0A000" && error.message.size() < 200);
  return 0;
}
