#include "common/admin/command.h"

namespace weir::admin {
namespace {

struct Known {
  std::string_view name;
  ShowCommand command;
};
constexpr Known kKnown[] = {
#define COMMAND(enumerator, name, help) {name, ShowCommand::enumerator},
#define LATER(name, help) {name, ShowCommand::NotYet},
#include "common/admin/commands.def"
#undef COMMAND
#undef LATER
};

}  // namespace

std::optional<ShowCommand> show_command(std::string_view name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return known.command;
  }
  return std::nullopt;
}

}  // namespace weir::admin
