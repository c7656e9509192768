// The side of health that measures replication: when each standby's delay is due, what the primary says of its standbys,
// what is published and logged. The arithmetic is delay_meter.h's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/config/config.h"
#include "common/shmem/node_view.h"
#include "common/shmem/observations.h"
#include "health/delay_command.h"
#include "health/delay_meter.h"
#include "health/probe.h"

namespace weir::health {

class Replication {
 public:
  Replication(EventLoop& loop, shmem::Observations& observations) : observations_(observations), command_(loop) {}

  // Each second: what is due is measured with the next answers. PRIMARY: the node table's, -1: none known. Another one
  // than before makes every delay unknown until it is measured anew.
  void tick(const config::Config& config, int primary, Monotonic now);

  // A node has answered. True: the primary shall be asked once more, for a standby's sample to be compared with.
  bool answered(const config::Config& config, int node, const ProbeAnswer& answer);

  // The primary is asked for pg_stat_replication now.
  bool wants_rows(int node) const { return node == primary_ && meter_.waiting(); }

  // What the primary said last of NODE.
  const ReplicationRow& row(int node) const { return rows_.at(static_cast<std::size_t>(node)); }

 private:
  void learn_rows(const config::Config& config, const std::vector<ReplicationRow>& rows);
  void run_command(const config::Config& config);
  void command_told(const config::Config& config, const std::vector<int>& nodes, const std::vector<std::int64_t>& delays);
  void publish(const config::Config& config, const DelayMeter::Measured& measured);

  shmem::Observations& observations_;
  DelayMeter meter_;
  DelayCommand command_;
  bool command_failed_ = false;  // the last one: its reason is logged once
  int primary_ = -1;
  Monotonic next_{};  // when the delays are due again
  std::array<bool, shmem::kMaxNodes> due_{};
  std::array<ReplicationRow, shmem::kMaxNodes> rows_{};
};

// The line for the log about a standby that is so far behind; empty: log_standby_delay wants none. Pure.
std::string delay_message(const config::Config& config, int node, int primary, const shmem::ReplicationDelay& delay);

}  // namespace weir::health
