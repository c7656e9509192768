#include "health/replication.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "common/base/log.h"

namespace weir::health {

namespace {

constexpr Milliseconds kEarly{100};  // a tick that comes a little before its second counts for it

}  // namespace

std::string delay_message(const config::Config& config, int node, int primary, const shmem::ReplicationDelay& delay) {
  const bool by_time = config.delay_threshold_by_time > 0;
  const std::int64_t measure = by_time ? delay.microseconds : delay.bytes;
  const std::int64_t limit = by_time ? config.delay_threshold_by_time : config.delay_threshold;
  if (measure <= 0 || config.log_standby_delay == "none") return {};
  const bool over = limit > 0 && (by_time ? (measure + 999) / 1000 > limit : measure > limit);
  if (!over && config.log_standby_delay != "always") return {};
  const std::string behind = by_time ? fmt::format("{}.{:06} second{}", measure / 1'000'000, measure % 1'000'000, measure >= 2'000'000 ? "s" : "")
                                     : fmt::format("{} bytes", measure);
  return fmt::format("Replication of node: {} is behind {} from the primary server (node: {})", node, behind, primary);
}

void Replication::tick(const config::Config& config, int primary, Monotonic now) {
  if (primary != primary_) {
    primary_ = primary;
    meter_.clear();
    rows_.fill({});
    for (std::size_t id = 0; id < config.backends.size() && id < shmem::kMaxNodes; ++id) observations_.publish_delay(static_cast<int>(id), {});
    next_ = now;
  }
  const bool measures = config.sr_check_period > 0 && config.backend_clustering_mode == "streaming_replication";
  if (!measures) return;
  const auto period = std::chrono::seconds(config.sr_check_period);
  next_ = std::min(next_, now + period);  // a reload may have made it shorter
  if (now + kEarly < next_) return;
  next_ = now + period;
  if (!config.replication_delay_source_cmd.empty()) return run_command(config);
  due_.fill(true);
}

// What it does not tell is not known, and what was known before grows old.
void Replication::run_command(const config::Config& config) {
  if (primary_ < 0 || command_.running()) return;
  const std::vector<int> nodes = delay_command_nodes(config, primary_);
  if (nodes.empty()) return;
  const auto timeout = std::chrono::seconds(config.replication_delay_source_timeout);
  // The configuration may be another one by then.
  command_.start(delay_command_line(config, nodes), timeout, [this, nodes, primary = primary_, then = config](std::optional<std::string> output, const std::string& problem) {
    if (primary != primary_) return;
    const auto delays = output ? parse_delays(*output, nodes.size()) : std::nullopt;
    if (!delays && !std::exchange(command_failed_, true)) {
      log::warning("replication_delay_source_cmd has not told the delays: {}", output ? fmt::format("{} numbers were expected", nodes.size()) : problem);
    }
    command_failed_ = !delays;
    command_told(then, nodes, delays ? *delays : std::vector<std::int64_t>(nodes.size(), -1));
  });
}

void Replication::command_told(const config::Config& config, const std::vector<int>& nodes, const std::vector<std::int64_t>& delays) {
  const std::int64_t now = monotonic_milliseconds(monotonic_now());
  for (std::size_t i = 0; i < nodes.size(); ++i) publish(config, {nodes[i], {-1, delays[i], now}});
}

bool Replication::answered(const config::Config& config, int node, const ProbeAnswer& answer) {
  if (answer.answer != shmem::Answer::Ok || answer.in_recovery < 0 || primary_ < 0) return false;
  const auto index = static_cast<std::size_t>(node);
  const std::int64_t asked = monotonic_microseconds(answer.asked);
  const std::int64_t came = monotonic_microseconds(answer.answered);
  if (node == primary_ && answer.in_recovery == 0) {
    if (answer.replication_told) learn_rows(config, answer.replication);
    const auto replay_lag = [this](int id) { return row(id).replay_lag; };
    for (const DelayMeter::Measured& measured : meter_.primary_answered(answer.lsn, asked, came, replay_lag)) publish(config, measured);
    return meter_.waiting();
  }
  if (node == primary_ || answer.in_recovery != 1 || !due_.at(index)) return false;
  due_.at(index) = false;
  meter_.standby_answered(node, {answer.replayed, asked, came, answer.commit_age});
  return true;
}

// A row belongs to the node whose backend_application_nameN it bears.
void Replication::learn_rows(const config::Config& config, const std::vector<ReplicationRow>& rows) {
  for (std::size_t id = 0; id < config.backends.size() && id < rows_.size(); ++id) {
    const std::string& name = config.backends[id].application_name;
    const auto it = std::find_if(rows.begin(), rows.end(), [&](const ReplicationRow& row) { return row.application_name == name; });
    rows_[id] = !name.empty() && it != rows.end() ? *it : ReplicationRow{};
  }
}

void Replication::publish(const config::Config& config, const DelayMeter::Measured& measured) {
  observations_.publish_delay(measured.node, measured.delay);
  const std::string message = delay_message(config, measured.node, primary_, measured.delay);
  if (!message.empty()) {
    log::print(log::Level::Log, {.client = {}, .database = {}, .user = {}, .application = {}, .node = measured.node}, "{}", message);
  }
}

}  // namespace weir::health
