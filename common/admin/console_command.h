// The commands of the admin console, from their text to what they ask for. Pure.
//
//   command  = "SHOW" words | "SELECT" word | "SET" setting | word anything        one, with or without ";" behind it
//   setting  = "USER" name ["="|"TO"] limits | "DATABASE" name ["="|"TO"] limits | "POOL" name "." name ["="|"TO"] limits
//            | word ("="|"TO") anything
//   limits   = "'" key=value ... "'", a quote in it doubled
//   name     = characters other than blanks and  " ' . = ;  | '"' anything, a quote in it doubled '"'
//
// Words are taken in any case; names as they are written. There are no comments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/config/effective.h"

namespace weir::admin {

enum class ConsoleShow : std::uint8_t {
#define SHOW(enumerator, ...) enumerator,
#define SHOW_LATER(...)
#define COMMAND_LATER(...)
#include "common/admin/console_commands.def"
#undef SHOW
#undef SHOW_LATER
#undef COMMAND_LATER
};

// What a SHOW needs to hear from all children; bits.
enum class Asked : std::uint32_t { Nothing = 0, Pools = 1, Clients = 2, Servers = 4 };
Asked asked_by(ConsoleShow show);
// "clients" and so on.
std::string_view show_name(ConsoleShow show);
// One line a command, for SHOW HELP.
std::string console_help();

struct ConsoleCommand {
  // Empty: nothing but blanks and a semicolon. ShowParameter: one that clients ask for on their own; VALUE is the answer.
  // Ignored: SET of a parameter of sessions, which a console has no use for. Block: BEGIN, COMMIT, ROLLBACK; NAME is the tag.
  enum class Kind : std::uint8_t { Empty, Show, ShowParameter, SetLimits, Ignored, Block };
  Kind kind = Kind::Empty;
  ConsoleShow show = ConsoleShow::Help;
  std::string name;      // of the parameter, or the tag
  std::string value;
  config::Section section = config::Section::Pools;  // SetLimits: Databases, Users or Pools
  std::string database;  // of Databases and Pools
  std::string user;      // of Users and Pools
  std::string limits;    // "key=value ...", known to be well-formed for that section

  bool needs_admin() const { return kind == Kind::SetLimits; }
};

// Any bytes. Fails (42601) for what is no command, (0A000) for one that comes later, (22023) for limits out of range or with a
// key that there is not, (42622) for a name that no server has.
Result<ConsoleCommand> parse_console(std::string_view text);

}  // namespace weir::admin
