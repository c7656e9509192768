#include "common/base/log.h"

#include <fmt/chrono.h>
#include <sys/time.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <ctime>

namespace weir::log {
namespace {

struct State {
  Settings settings;
  std::string process_name = "main";
  std::uint64_t lines = 0;
};

// One process, one thread, one sink: the only global of the program, reached through these functions alone.
State& state() {
  static State instance;
  return instance;
}

constexpr std::array<std::string_view, 12> kLevelNames = {"DEBUG", "DEBUG", "DEBUG",   "DEBUG", "DEBUG", "INFO",
                                                          "NOTICE", "WARNING", "ERROR", "LOG",   "FATAL", "PANIC"};

std::string time_text(bool milliseconds) {
  timeval now{};
  gettimeofday(&now, nullptr);
  std::tm local{};
  localtime_r(&now.tv_sec, &local);
  std::string text = fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
  if (milliseconds) text += fmt::format(".{:03}", now.tv_usec / 1000);
  return text;
}

void append_escape(std::string& line, char escape, const Context& context) {
  switch (escape) {
    case 'a': line += context.application.empty() ? std::string_view(state().process_name) : context.application; break;
    case 'p': line += std::to_string(getpid()); break;
    case 'P': line += state().process_name; break;
    case 'u': line += context.user; break;
    case 'd': line += context.database; break;
    case 'r': line += context.client; break;
    case 'n':
      if (context.node >= 0) line += std::to_string(context.node);
      break;
    case 'l': line += std::to_string(state().lines); break;
    case 't': line += time_text(false); break;
    case 'm': line += time_text(true); break;
    case '%': line += '%'; break;
    default: break;
  }
}

int syslog_priority(Level level) {
  if (level >= Level::Panic) return LOG_CRIT;
  if (level == Level::Fatal) return LOG_ERR;
  if (level == Level::Log) return LOG_INFO;
  if (level == Level::Error) return LOG_WARNING;
  if (level == Level::Warning || level == Level::Notice) return LOG_NOTICE;
  return level == Level::Info ? LOG_INFO : LOG_DEBUG;
}

}  // namespace

void configure(const Settings& settings) {
  State& s = state();
  s.settings = settings;
  closelog();
  if (settings.to_syslog) openlog(s.settings.syslog_ident.c_str(), LOG_PID | LOG_NDELAY, settings.syslog_facility);
}

void set_process_name(std::string name) { state().process_name = std::move(name); }

bool enabled(Level level, const Context& context) {
  // As PostgreSQL: LOG ranks between ERROR and FATAL, so it is shown at every setting up to log.
  return level >= context.min_level.value_or(state().settings.min_level);
}

std::string format_line(const Settings& settings, Level level, const Context& context, std::string_view message) {
  std::string line;
  line.reserve(settings.line_prefix.size() + message.size() + 64);
  for (std::size_t i = 0; i < settings.line_prefix.size(); ++i) {
    if (settings.line_prefix[i] == '%' && i + 1 < settings.line_prefix.size()) {
      append_escape(line, settings.line_prefix[++i], context);
    } else {
      line += settings.line_prefix[i];
    }
  }
  line += kLevelNames.at(static_cast<std::size_t>(level));
  line += ":  ";
  for (char c : message) {
    // Text of clients may hold anything; a log line is one line and cannot forge another.
    line += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? ' ' : c;
  }
  if (!context.client.empty() || !context.database.empty() || context.node >= 0) {
    line += " [";
    if (!context.client.empty()) line += fmt::format("client={}", context.client);
    if (!context.user.empty()) line += fmt::format(" user={}", context.user);
    if (!context.database.empty()) line += fmt::format(" database={}", context.database);
    if (context.node >= 0) line += fmt::format("{}node={}", line.back() == '[' ? "" : " ", context.node);
    line += ']';
  }
  return line;
}

void write(Level level, const Context& context, std::string_view message) {
  State& s = state();
  ++s.lines;
  if (s.settings.to_stderr) {
    std::string line = format_line(s.settings, level, context, message);
    line += '\n';
    [[maybe_unused]] auto written = ::write(STDERR_FILENO, line.data(), line.size());
  }
  if (s.settings.to_syslog) {
    Settings bare = s.settings;
    bare.line_prefix.clear();
    const std::string line = format_line(bare, level, context, message);
    syslog(syslog_priority(level), "%s", line.c_str());
  }
}

}  // namespace weir::log
