#include "lb/delay.h"

namespace weir::lb {

std::int64_t delay_measure(const shmem::ReplicationDelay& delay, const DelayLimit& limit) {
  return limit.by_time() ? delay.microseconds : delay.bytes;
}

DelayVerdict judge_delay(const shmem::ReplicationDelay& delay, const DelayLimit& limit, std::int64_t now) {
  if (!limit.set()) return DelayVerdict::Within;
  const std::int64_t measure = delay_measure(delay, limit);
  if (measure < 0 || delay.measured_at <= 0 || now - delay.measured_at > limit.stale_after) return DelayVerdict::Unknown;
  // Divided and not multiplied: the limit is any number of the configuration.
  const bool over = limit.by_time() ? (measure + 999) / 1000 > limit.milliseconds : measure > limit.bytes;
  return over ? DelayVerdict::Over : DelayVerdict::Within;
}

}  // namespace weir::lb
