// May a read that a standby refused be run again elsewhere? Pure; see test/unit/child/retry_test.cc for the table.
#pragma once

#include <string_view>

namespace weir::child {

// Of one batch over nodes that fail or refuse it.
inline constexpr int kMaxRetries = 8;

// 40001, 40P01 and 57P04 come from a standby only when replay of WAL ended the read: another node may do better.
inline bool is_recovery_conflict(std::string_view sqlstate) {
  return sqlstate == "40001" || sqlstate == "40P01" || sqlstate == "57P04";
}

// SQLSTATE is the standby's error before any of the answer was seen. REPEATABLE: it ran outside
// of a block, or in one that can be opened anew elsewhere.
inline bool may_retry(std::string_view sqlstate, bool fatal, bool repeatable, int retries) {
  if (!repeatable || retries >= kMaxRetries || sqlstate.size() != 5) return false;
  if (is_recovery_conflict(sqlstate)) return true;
  if (fatal) return sqlstate.starts_with("57P0");  // shut down or crashed under the read
  // What the session itself has named, whatever the catalogue says.
  if (sqlstate == "42P03" || sqlstate == "42P05") return false;
  // Needs the primary after all (25006), or what it names may not have been replayed yet (42, 3F, 0A000): the primary
  // has the last word.
  return sqlstate == "25006" || sqlstate.starts_with("42") || sqlstate.starts_with("3F") || sqlstate == "0A000";
}

}  // namespace weir::child
