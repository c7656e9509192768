// Words and forms that several SHOW commands share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/shmem/node_view.h"
#include "common/shmem/replication_delay.h"

namespace weir::admin {

// "2026-11-30 04:20:00", local time; empty for 0, which is never.
std::string time_text(std::int64_t epoch_seconds);

// "2026-11-30 04:20:00 UTC", local time with the zone's name, as PgBouncer has it; empty for 0.
std::string zoned_time_text(std::int64_t epoch_seconds);

// up (a client was served there), waiting (it could be), down (it failed, or an operator took it out), unused.
std::string_view status_text(const shmem::Node& node);

// primary or standby with STREAMING, else main or replica. With a primary known, that one alone is it: a second writable
// server shows itself in pg_role. Without, the last known role counts.
std::string_view role_text(const shmem::NodeView& nodes, int id, bool streaming);

// The configured weight as a fraction of the sum: "0.333333"; "0.000000" if nothing has weight.
std::string weight_text(double weight, double total);

enum class DelayUnit { Bytes, Time };

// Bytes as a number, time as "0.250000 second" or "2.000000 seconds" (from two on, as Pgpool-II); "unknown" if it was
// never measured or could not be.
std::string delay_text(const shmem::ReplicationDelay& delay, DelayUnit unit);

}  // namespace weir::admin
