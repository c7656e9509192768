#include "child/session_settings.h"

#include <algorithm>

#include "common/base/sqlstate.h"

namespace weir::child {
namespace {

Status check_context(const config::Parameter& parameter) {
  if (parameter.context == config::Context::Session) return {};
  const bool restart = parameter.context == config::Context::Startup;
  return fail(make_error(sqlstate::kCantChangeRuntimeParam,
                         "invalid Context, value for parameter \"" + std::string(parameter.name) + "\" cannot be changed",
                         restart ? "It is set in the configuration file and needs a restart."
                                 : "It is set in the configuration file and needs a reload."));
}

}  // namespace

Status SessionSettings::set(const config::Config& base, const config::Parameter& parameter, std::string value) {
  WEIR_TRY(check_context(parameter));
  config::Config changed = config_ != nullptr ? *config_ : base;
  if (const Status status = config::set_parameter(changed, parameter, value); !status) {
    constexpr std::size_t kLongestShown = 64;
    return fail(make_error(sqlstate::kInvalidParameterValue,
                           "invalid value for parameter \"" + std::string(parameter.name) + "\": \"" +
                               value.substr(0, kLongestShown) + "\"",
                           status.error().message));
  }
  const auto known = std::find_if(values_.begin(), values_.end(), [&](const auto& each) { return each.first == &parameter; });
  if (known != values_.end()) {
    known->second = std::move(value);
  } else {
    values_.emplace_back(&parameter, std::move(value));
  }
  config_ = std::make_unique<config::Config>(std::move(changed));
  return {};
}

Status SessionSettings::reset(const config::Config& base, const config::Parameter& parameter) {
  WEIR_TRY(check_context(parameter));
  std::erase_if(values_, [&](const auto& each) { return each.first == &parameter; });
  rebase(base);
  return {};
}

void SessionSettings::reset_all() {
  values_.clear();
  config_.reset();
}

void SessionSettings::rebase(const config::Config& base) {
  if (values_.empty()) return config_.reset();
  config_ = std::make_unique<config::Config>(base);
  for (const auto& [parameter, value] : values_) {
    // It was a value before, and what is one does not hang on the others.
    static_cast<void>(config::set_parameter(*config_, *parameter, value));
  }
}

}  // namespace weir::child
