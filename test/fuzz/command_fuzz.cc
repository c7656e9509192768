// Any words behind PGPOOL -> what they ask for, or an error that can be shown.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/admin/pgpool_command.h"
#include "common/admin/show_parameters.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::admin::PgpoolCommand;
  const std::string_view words(reinterpret_cast<const char*>(data), size);
  const auto command = weir::admin::parse_pgpool(words);
  if (!command) {
    require(command.error().message.size() < 200 && command.error().sqlstate.size() == 5);
    return 0;
  }
  require(!command->name.empty() && command->name.size() < size);
  require(command->value.size() < size);
  require(command->value.empty() || command->kind == PgpoolCommand::Kind::Set);
  const auto again = weir::admin::parse_pgpool(" \n" + std::string(words) + " ");
  require(again && again->kind == command->kind && again->name == command->name && again->value == command->value);
  if (command->kind != PgpoolCommand::Kind::Show) return 0;
  const auto rows = weir::admin::show_parameters(weir::config::Config(), command->name);
  require(rows ? !rows->columns.empty() : rows.error().message.size() < 200);
  return 0;
}
