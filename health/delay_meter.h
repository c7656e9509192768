// The primary's position and what standbys have replayed, at their times -> how far each standby is behind. Pure: times
// are handed in, in microseconds of one monotonic clock.
//
// A standby's sample is compared with an answer of the primary that was asked for later, so that what the standby has
// replayed cannot be ahead of it: if it is, the standby follows somebody else, and its delay is not known. For the time
// the meter remembers where the primary was at which moment. That gives two bounds which hold whatever the servers'
// clocks say and however long nothing was written: a standby that has replayed all that the primary had written at
// some moment is at most as far behind as that moment is ago, and one that has not, at least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "common/shmem/replication_delay.h"

namespace weir::health {

// Where the primary's WAL was at which time.
class PositionHistory {
 public:
  // ASKED and ANSWERED: when the question was sent and its answer came; the position is of a moment between. A position
  // before the last one is another server's: everything earlier is forgotten.
  void add(std::uint64_t lsn, std::int64_t asked, std::int64_t answered);
  void clear() { samples_.clear(); }
  std::size_t size() const { return samples_.size(); }

  struct Bounds {
    std::int64_t least = 0;
    std::int64_t most = -1;  // -1: not known, it is behind everything that is remembered
  };
  // How long ago what comes after REPLAYED was written, seen from a standby that answered between ASKED and ANSWERED.
  Bounds lag(std::uint64_t replayed, std::int64_t asked, std::int64_t answered) const;

 private:
  static constexpr std::size_t kMost = 256;
  struct Sample {
    std::uint64_t lsn;
    std::int64_t answered;  // first seen
    std::int64_t asked;     // last seen
  };
  void thin_out();

  std::vector<Sample> samples_;  // positions grow
};

struct StandbySample {
  std::uint64_t replayed = 0;
  std::int64_t asked = 0;
  std::int64_t answered = 0;
  std::int64_t commit_age = -1;  // since the last commit that it has replayed, by its clock; -1: not told
};

class DelayMeter {
 public:
  struct Measured {
    int node = -1;
    shmem::ReplicationDelay delay;
  };
  // Of a node, as the primary says in pg_stat_replication; -1: not told.
  using ReplayLag = std::function<std::int64_t(int node)>;

  // Everything is measured anew: there is another primary.
  void clear();
  // Compared with the primary's next answer that fits; a newer one of the same node takes its place.
  void standby_answered(int node, const StandbySample& sample) { waiting_[node] = sample; }
  // A sample waits for an answer of the primary.
  bool waiting() const { return !waiting_.empty(); }
  // What can be told now. Samples that came after ASKED go on waiting.
  std::vector<Measured> primary_answered(std::uint64_t lsn, std::int64_t asked, std::int64_t answered,
                                         const ReplayLag& replay_lag);

 private:
  shmem::ReplicationDelay measure(const StandbySample& sample, std::uint64_t lsn, std::int64_t replay_lag) const;

  PositionHistory history_;
  std::map<int, StandbySample> waiting_;
};

}  // namespace weir::health
