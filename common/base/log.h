// One line an event, with the prefix that log_line_prefix asks for. The level test comes before any formatting, so a
// message that is not shown costs a comparison. One sink a process, in append mode; never a lock between processes.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weir::log {

// In PostgreSQL's order for log_min_messages (LOG stands above ERROR there).
enum class Level { Debug5, Debug4, Debug3, Debug2, Debug1, Info, Notice, Warning, Error, Log, Fatal, Panic };

// What a line can say of where it comes from; set by the code that knows, for the time of a call.
struct Context {
  std::string_view client;    // "host:port" or "[local]"
  std::string_view database;
  std::string_view user;
  std::string_view application;
  int node = -1;  // backend node id, -1 = none
  std::optional<Level> min_level{};  // instead of the process's, for a session that has set its own
};

struct Settings {
  Level min_level = Level::Warning;
  bool to_stderr = true;
  bool to_syslog = false;
  std::string syslog_ident = "pgweir";
  int syslog_facility = 16 << 3;  // LOG_LOCAL0
  std::string line_prefix = "%m: %a pid %p: ";  // Pgpool-II's escapes, and %r client, %n node
};

void configure(const Settings& settings);
// Name of this process for %P ("main", "child", "health"), kept until changed.
void set_process_name(std::string name);
bool enabled(Level level, const Context& context = {});
void write(Level level, const Context& context, std::string_view message);

template <typename... Args>
void print(Level level, const Context& context, fmt::format_string<Args...> format, Args&&... args) {
  if (enabled(level, context)) write(level, context, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  print(Level::Log, {}, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  print(Level::Warning, {}, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  print(Level::Error, {}, format, std::forward<Args>(args)...);
}
template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  print(Level::Debug1, {}, format, std::forward<Args>(args)...);
}

// Formats a line as it would be written, without the newline (tests).
std::string format_line(const Settings& settings, Level level, const Context& context, std::string_view message);

}  // namespace weir::log
