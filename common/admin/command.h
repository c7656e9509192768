// From the text of a statement to a command that pgweir answers itself. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "common/base/error.h"

namespace weir::admin {

// NotYet: a command of Pgpool-II that pgweir knows but does not have yet.
enum class ShowCommand : std::uint8_t { Nodes, Processes, Pools, Status, Version, NotYet };

// "pool_nodes", in lower case, and so on -> command; nothing for another name, which is the server's to answer.
std::optional<ShowCommand> show_command(std::string_view name);

// PoolShow: SHOW POOL_NODES and its kin. The others are PGPOOL SHOW, SET and RESET.
enum class CommandKind : std::uint8_t { PoolShow, PgpoolShow, PgpoolSet, PgpoolReset };

struct Command {
  CommandKind kind = CommandKind::PoolShow;
  ShowCommand show = ShowCommand::NotYet;  // with PoolShow
  std::string_view argument;  // what follows the verb, without blanks around it; points into the text. Never empty
};

// The command that TEXT is, in any case, with blanks around the words and semicolons behind them. Nothing for all else,
// several statements, a bare PGPOOL SHOW and text with a NUL byte among it. Any length: what is no command is found out
// at its first word, in no time.
std::optional<Command> parse_command(std::string_view text);

// The error (0A000) that answers a command which is not available yet.
Error not_available(const Command& command);

}  // namespace weir::admin
