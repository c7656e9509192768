#include "common/config/log_settings.h"

#include <syslog.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace weir::config {
namespace {

constexpr std::string_view kLevels[] = {"debug5", "debug4",  "debug3", "debug2", "debug1", "info",
                                        "notice", "warning", "error",  "log",    "fatal",  "panic"};
constexpr std::pair<std::string_view, int> kFacilities[] = {
    {"LOCAL0", LOG_LOCAL0}, {"LOCAL1", LOG_LOCAL1}, {"LOCAL2", LOG_LOCAL2}, {"LOCAL3", LOG_LOCAL3},
    {"LOCAL4", LOG_LOCAL4}, {"LOCAL5", LOG_LOCAL5}, {"LOCAL6", LOG_LOCAL6}, {"LOCAL7", LOG_LOCAL7},
    {"DAEMON", LOG_DAEMON}, {"USER", LOG_USER},     {"AUTH", LOG_AUTH},     {"AUTHPRIV", LOG_AUTHPRIV}};

}  // namespace

log::Level log_level(const Config& config) {
  const auto* level = std::find(std::begin(kLevels), std::end(kLevels), config.log_min_messages);
  return level != std::end(kLevels) ? static_cast<log::Level>(level - std::begin(kLevels)) : log::Settings().min_level;
}

log::Settings log_settings(const Config& config) {
  log::Settings settings;
  settings.min_level = log_level(config);
  const auto has = [&](std::string_view name) {
    return std::find(config.log_destination.begin(), config.log_destination.end(), name) !=
           config.log_destination.end();
  };
  settings.to_stderr = has("stderr") || !has("syslog");
  settings.to_syslog = has("syslog");
  settings.syslog_ident = config.syslog_ident;
  for (const auto& [name, facility] : kFacilities) {
    if (name == config.syslog_facility) settings.syslog_facility = facility;
  }
  settings.line_prefix = config.log_line_prefix;
  return settings;
}

}  // namespace weir::config
