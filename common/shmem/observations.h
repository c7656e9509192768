// What health has seen of each node: facts, not verdicts about what shall be done. Writer: health.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/shmem/node_view.h"
#include "common/shmem/published.h"
#include "common/shmem/replication_delay.h"

namespace weir::shmem {

// The answer of a node to the last attempt to talk to it, which tells the states of its postmaster apart: Saturated,
// Starting, Stopping, WrongRole and BadCredentials are answers of a live one.
enum class Answer : std::uint8_t {
  None,
  Ok,
  Saturated,
  Starting,
  Stopping,
  Refused,
  Silent,
  WrongRole,
  BadCredentials,
  Unresolved
};
BOOST_DESCRIBE_ENUM(Answer, None, Ok, Saturated, Starting, Stopping, Refused, Silent, WrongRole, BadCredentials,
                    Unresolved)

struct Observation {
  Answer answer = Answer::None;
  bool up = false;                    // health's verdict: it can be used
  std::int8_t in_recovery = -1;       // 1 standby, 0 writable, -1 not known
  FixedText<160> text;                // why it is not up, in words
  FixedText<256> address;             // resolved host, numeric or a directory
  std::uint64_t lsn = 0;              // writable: current position; standby: greatest of received and replayed
  FixedText<16> replication_state;    // of the standby, from the primary's pg_stat_replication; empty: not told
  FixedText<16> sync_state;
  std::int64_t observed_at = 0;       // epoch seconds of the last answer
  std::int32_t max_connections = 0;   // as the server offers, 0: not known
  std::int32_t reserved_connections = 0;  // for superusers, and what other programs have: not for pgweir
  std::uint64_t checks = 0;           // since pgweir started
  std::uint64_t failures = 0;
};

class Observations {
 public:
  // Health only; it then wakes the parent.
  void publish(int node, const Observation& observation) {
    rows_.at(static_cast<std::size_t>(node)).publish(observation);
    changes_.fetch_add(1, std::memory_order_release);
  }
  // False: INTO is untouched, see Published.
  bool read(int node, Observation& into) const { return rows_.at(static_cast<std::size_t>(node)).read(into); }
  // Apart from the rest, since children read it for each read while there is a limit. Health only.
  void publish_delay(int node, const ReplicationDelay& delay) { delays_.at(static_cast<std::size_t>(node)).publish(delay); }
  // False: INTO is untouched. A node that was never measured has measured_at 0.
  bool read_delay(int node, ReplicationDelay& into) const { return delays_.at(static_cast<std::size_t>(node)).read(into); }
  // Moves with each publish.
  std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  // The parent, when health is gone.
  void repair(int node) { rows_.at(static_cast<std::size_t>(node)).repair(); }
  void repair_delay(int node) { delays_.at(static_cast<std::size_t>(node)).repair(); }

 private:
  std::atomic<std::uint64_t> changes_{0};
  std::array<Published<Observation>, kMaxNodes> rows_;
  std::array<Published<ReplicationDelay>, kMaxNodes> delays_;
};

}  // namespace weir::shmem
