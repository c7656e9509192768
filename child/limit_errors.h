// What a client is told that waited for a server connection in vain. Pure.
#pragma once

#include <cstdint>

#include "common/base/error.h"
#include "common/config/config.h"
#include "common/config/effective.h"
#include "common/ledger/ledger.h"

namespace weir::child {

// LIMIT is what said no; None: max_pool of this process, or the server itself. WAITED in seconds. SET: limits set at run time
// that bear on POOL.
Error no_connection_in_time(ledger::Limit limit, const ledger::PoolName& pool, const config::Config& config, const config::RuntimeOverrides& set,
                            std::int64_t waited);
// More connections, or names of databases and users, than pgweir keeps account of.
Error no_room_in_ledger();
// No node has been reachable for server_login_retry.
Error nothing_is_reachable();

}  // namespace weir::child
