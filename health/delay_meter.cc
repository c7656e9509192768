#include "health/delay_meter.h"

#include <algorithm>

namespace weir::health {

void PositionHistory::add(std::uint64_t lsn, std::int64_t asked, std::int64_t answered) {
  if (!samples_.empty() && lsn < samples_.back().lsn) samples_.clear();
  if (!samples_.empty() && lsn == samples_.back().lsn) {
    samples_.back().asked = std::max(samples_.back().asked, asked);
    return;
  }
  if (samples_.size() >= kMost) thin_out();
  samples_.push_back({lsn, answered, asked});
}

// Every second one of the older half goes: bounds of what is long ago get wider and stay true.
void PositionHistory::thin_out() {
  const std::size_t half = samples_.size() / 2;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (i < half && i % 2 == 1) continue;
    samples_[kept++] = samples_[i];
  }
  samples_.resize(kept);
}

PositionHistory::Bounds PositionHistory::lag(std::uint64_t replayed, std::int64_t asked, std::int64_t answered) const {
  const auto beyond = std::upper_bound(samples_.begin(), samples_.end(), replayed,
                                       [](std::uint64_t lsn, const Sample& sample) { return lsn < sample.lsn; });
  Bounds bounds;
  if (beyond != samples_.begin()) bounds.most = std::max<std::int64_t>(0, answered - std::prev(beyond)->asked);
  if (beyond != samples_.end()) bounds.least = std::max<std::int64_t>(0, asked - beyond->answered);
  return bounds;
}

void DelayMeter::clear() {
  history_.clear();
  waiting_.clear();
}

std::vector<DelayMeter::Measured> DelayMeter::primary_answered(std::uint64_t lsn, std::int64_t asked,
                                                               std::int64_t answered, const ReplayLag& replay_lag) {
  history_.add(lsn, asked, answered);
  std::vector<Measured> measured;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    if (it->second.answered > asked) {
      ++it;
      continue;
    }
    measured.push_back({it->first, measure(it->second, lsn, replay_lag(it->first))});
    it = waiting_.erase(it);
  }
  return measured;
}

shmem::ReplicationDelay DelayMeter::measure(const StandbySample& sample, std::uint64_t lsn,
                                            std::int64_t replay_lag) const {
  shmem::ReplicationDelay delay;
  delay.measured_at = std::max<std::int64_t>(1, sample.answered / 1000);
  if (sample.replayed > lsn) return delay;
  delay.bytes = static_cast<std::int64_t>(lsn - sample.replayed);
  if (delay.bytes == 0) {
    delay.microseconds = 0;
    return delay;
  }
  const PositionHistory::Bounds bounds = history_.lag(sample.replayed, sample.asked, sample.answered);
  // The primary's own measure first: it is the finest. But it stands still while nothing is replayed, and the age of
  // the last commit counts the time in which nothing was written.
  std::int64_t lag = replay_lag >= 0 ? replay_lag : sample.commit_age;
  if (lag < 0) lag = bounds.most;
  if (lag < 0) return delay;
  if (bounds.most >= 0) lag = std::min(lag, bounds.most);
  delay.microseconds = std::max(lag, bounds.least);
  return delay;
}

}  // namespace weir::health
