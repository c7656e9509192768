#include "common/ledger/lease_rules.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace weir::ledger {
namespace {

constexpr Limit kTested[] = {Limit::Pool, Limit::Database, Limit::User, Limit::Node};

std::int32_t count_of(const Counts& counts, Limit limit) {
  switch (limit) {
    case Limit::Database: return counts.database;
    case Limit::User: return counts.user;
    case Limit::Node: return counts.node;
    default: return counts.pool;
  }
}

std::int32_t& count_of(Counts& counts, Limit limit) {
  switch (limit) {
    case Limit::Database: return counts.database;
    case Limit::User: return counts.user;
    case Limit::Node: return counts.node;
    default: return counts.pool;
  }
}

std::int32_t limit_value(const Limits& limits, Limit limit) {
  switch (limit) {
    case Limit::Database: return limits.database;
    case Limit::User: return limits.user;
    case Limit::Node: return limits.node;
    default: {
      const std::int64_t all = std::int64_t{limits.pool_size} + limits.reserve_pool_size;
      return static_cast<std::int32_t>(std::min<std::int64_t>(all, kNoLimit));
    }
  }
}

// Keeps what LIMIT binds apart from what it does not.
std::tuple<int, int, int> scope(Limit limit, PoolKey pool) {
  return {limit == Limit::User || limit == Limit::Node ? -1 : pool.database, limit == Limit::Database || limit == Limit::Node ? -1 : pool.user, pool.node};
}

bool would_be_granted(const Waiter& waiter, std::int64_t now_ms) { return judge(waiter.counts, waiter.limits, now_ms - waiter.since_ms).granted(); }

bool claims(const Waiter& waiter, std::int64_t now_ms) {
  const std::int64_t waited = now_ms - waiter.since_ms;
  return waited >= kClaimAfterMs && waited % 1000 < 250;
}

// Of two that are idle or in use, who goes first.
bool goes_before(const Held& a, const Held& b) {
  if (a.idle != b.idle) return a.idle;
  return a.since_ms < b.since_ms;
}

}  // namespace

bool share(Limit limit, PoolKey a, PoolKey b) {
  switch (limit) {
    case Limit::Pool:
    case Limit::Database:
    case Limit::User:
    case Limit::Node: return scope(limit, a) == scope(limit, b);
    default: return false;
  }
}

Limits limits_of(const config::EffectivePool& pool, std::int32_t node_ceiling) {
  Limits limits;
  limits.pool_size = pool.pool_size;
  limits.reserve_pool_size = pool.reserve_pool_size;
  limits.reserve_after_ms = static_cast<std::int32_t>(std::clamp<std::int64_t>(pool.reserve_pool_timeout, 0, kNoLimit / 1000) * 1000);
  limits.database = pool.max_db_connections;
  limits.user = pool.max_user_connections;
  limits.node = node_ceiling;
  return limits;
}

std::int32_t node_ceiling(std::int32_t max_connections, std::int32_t reserved, std::int32_t seen_others, std::int32_t service) {
  if (max_connections <= 0) return kNoLimit;
  const std::int64_t left = std::int64_t{max_connections} - std::max(reserved, 0) - std::max(seen_others, 0) - std::max(service, 0);
  return static_cast<std::int32_t>(std::max<std::int64_t>(left, 1));
}

Verdict judge(const Counts& counts, const Limits& limits, std::int64_t waited_ms) {
  Verdict verdict;
  if (counts.pool >= limits.pool_size) {
    const std::int64_t with_reserve = std::int64_t{limits.pool_size} + limits.reserve_pool_size;
    const bool waited = limits.reserve_after_ms > 0 && waited_ms >= limits.reserve_after_ms;
    // A pool that is blocked has no reserve either.
    if (limits.pool_size == 0 || !waited || counts.pool >= with_reserve) return {Limit::Pool, false};
    verdict.from_reserve = true;
  }
  if (counts.database >= limits.database) return {Limit::Database, false};
  if (counts.user >= limits.user) return {Limit::User, false};
  if (counts.node >= limits.node) return {Limit::Node, false};
  return verdict;
}

bool passed_over(const Waiter& waiter, std::int64_t now_ms) { return waiter.offered_ms != 0 && now_ms - waiter.offered_ms > kOfferPatienceMs; }

bool precedes(const Waiter& a, const Waiter& b) {
  if (!(a.pool == b.pool)) {
    const auto rank = [](const Waiter& one) { return std::tuple(one.counts.pool, one.pool_gained_ms, one.pool.database, one.pool.user, one.pool.node); };
    return rank(a) < rank(b);
  }
  const bool a_has = a.demand.held > 0;
  const bool b_has = b.demand.held > 0;
  if (a_has != b_has) return b_has;
  if (a_has) {
    // What each would have for a client.
    const std::int64_t a_share = std::int64_t{a.demand.held + 1} * std::max(b.demand.clients, 1);
    const std::int64_t b_share = std::int64_t{b.demand.held + 1} * std::max(a.demand.clients, 1);
    if (a_share != b_share) return a_share < b_share;
  }
  return std::tuple(a.demand.gained_ms, a.since_ms, a.child) < std::tuple(b.demand.gained_ms, b.since_ms, b.child);
}

TurnVerdict judge_in_turn(const Waiter& me, std::span<const Waiter> others, std::int64_t now_ms) {
  const std::int64_t waited = now_ms - me.since_ms;
  TurnVerdict result{judge(me.counts, me.limits, waited), std::nullopt};
  if (!result.verdict.granted()) return result;
  Counts with_them = me.counts;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Waiter& other = others[i];
    if (other.pool.node != me.pool.node || passed_over(other, now_ms)) continue;
    const bool claim = claims(other, now_ms) && other.since_ms < me.since_ms;
    if (!claim && !(would_be_granted(other, now_ms) && precedes(other, me))) continue;
    for (const Limit limit : kTested) {
      if (share(limit, other.pool, me.pool)) ++count_of(with_them, limit);
    }
    if (!first || precedes(other, others[*first])) first = i;
  }
  if (!first || judge(with_them, me.limits, waited).granted()) return result;
  return {{Limit::Turn, false}, first};
}

std::optional<std::size_t> next_in_line(std::span<const Waiter> waiters, std::int64_t now_ms) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    if (passed_over(waiters[i], now_ms) || (best && !precedes(waiters[i], waiters[*best]))) continue;
    if (would_be_granted(waiters[i], now_ms)) best = i;
  }
  return best;
}

namespace {

// What one party to a limit has: a pool, or a child of one pool.
struct Party {
  std::int32_t held = 0;     // without what somebody has asked for
  std::int32_t clients = 0;  // that are served or wait
  std::int64_t gained_ms = 0;  // the youngest of its leases
  std::optional<std::size_t> lease;  // which it would give: the longest idle, else the one longest in use
};

void count(Party& party, std::span<const Held> held, std::size_t index, std::int64_t gained_ms, std::int64_t now_ms) {
  const Held& one = held[index];
  if (!one.idle || now_ms - one.since_ms < kUnusedMs) ++party.clients;
  if (one.called) return;
  ++party.held;
  party.gained_ms = std::max(party.gained_ms, gained_ms);
  if (!party.lease || goes_before(one, held[*party.lease])) party.lease = index;
}

// Notes that there is something to ask for from MOMENT on.
void later(Victim& victim, std::int64_t moment) {
  if (victim.ask_again_ms == 0 || moment < victim.ask_again_ms) victim.ask_again_ms = moment;
}

// The longest idle that is not in use.
std::optional<std::size_t> unused(std::span<const Held> held, PoolKey pool, Limit limit, std::int64_t now_ms, Victim& victim) {
  std::optional<std::size_t> longest;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!held[i].idle || held[i].called || !share(limit, held[i].pool, pool)) continue;
    if (now_ms - held[i].since_ms < kUnusedMs) {
      later(victim, held[i].since_ms + kUnusedMs);
    } else if (!longest || held[i].since_ms < held[*longest].since_ms) {
      longest = i;
    }
  }
  return longest;
}

using PartyKey = std::tuple<int, int, int>;

// Does the party that has most give one to MINE, now or later?
void from_other_pool(const Party& mine, std::int64_t my_gain_ms, const Party& most, std::int64_t now_ms, Victim& victim) {
  if (!most.lease || most.held <= mine.held) return;
  if (most.held == mine.held + 1) {
    const std::int64_t slice = mine.held == 0 ? kSliceMs : kEvenOutMs;
    const std::int64_t from = std::max(most.gained_ms, mine.held == 0 ? 0 : my_gain_ms) + slice;
    if (now_ms < from) return later(victim, from);
  }
  victim.lease = most.lease;
}

void from_other_child(const Party& mine, const Party& most, std::int64_t now_ms, Victim& victim) {
  if (!most.lease) return;
  const std::int64_t my_clients = std::max(mine.clients, 1);
  const std::int64_t its_clients = std::max(most.clients, 1);
  const bool much_more = (most.held - 1) * my_clients >= (mine.held + 1) * its_clients;
  if (mine.held > 0) {
    if (!much_more) return;
    // What was moved a moment ago has not shown yet what it is good for.
    const std::int64_t from = std::max(mine.gained_ms, most.gained_ms) + kSettleMs;
    if (now_ms < from) return later(victim, from);
  } else if (!much_more) {
    const std::int64_t slice = std::clamp<std::int64_t>(2 * kChildSliceMs * its_clients / (my_clients + its_clients), 2, 2 * kChildSliceMs);
    if (now_ms < most.gained_ms + slice) return later(victim, most.gained_ms + slice);
  }
  victim.lease = most.lease;
}

}  // namespace

Victim choose_victim(const Waiter& me, Limit limit, std::span<const Held> held, std::span<const Waiter> others, std::int64_t now_ms) {
  Victim victim;
  victim.lease = unused(held, me.pool, limit, now_ms, victim);
  if (victim.lease) return victim;
  std::map<PartyKey, Party> pools;
  std::map<int, Party> children;  // of my pool
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!share(limit, held[i].pool, me.pool)) continue;
    if (held[i].pool == me.pool) count(children[held[i].child], held, i, held[i].gained_ms, now_ms);
    count(pools[{held[i].pool.database, held[i].pool.user, held[i].pool.node}], held, i, held[i].pool_gained_ms, now_ms);
  }
  const PartyKey my_key{me.pool.database, me.pool.user, me.pool.node};
  const Party my_pool = pools[my_key];
  Party wanting = my_pool;
  wanting.held = me.counts.pool;  // with what is on its way from child to child
  const Party* most = nullptr;
  for (const auto& [key, party] : pools) {
    if (key == my_key) continue;
    if (most == nullptr || party.held > most->held || (party.held == most->held && party.gained_ms < most->gained_ms)) most = &party;
  }
  if (most != nullptr) from_other_pool(wanting, me.pool_gained_ms, *most, now_ms, victim);
  if (victim.lease) return victim;
  for (const Waiter& other : others) {
    if (other.pool == me.pool || !share(limit, other.pool, me.pool) || passed_over(other, now_ms)) continue;
    // One of another pool is about to get it: it does not go from child to child instead.
    Victim theirs;
    Party they;
    they.held = other.counts.pool;
    from_other_pool(they, other.pool_gained_ms, my_pool, now_ms, theirs);
    if (!theirs.lease) continue;
    later(victim, now_ms + kChildSliceMs);
    return victim;
  }
  for (const Waiter& other : others) {
    const auto child = children.find(other.child);
    if (other.pool == me.pool && child != children.end()) child->second.clients = std::max(child->second.clients, other.demand.clients);
  }
  Party mine = children[me.child];
  mine.clients = std::max(mine.clients, me.demand.clients);
  most = nullptr;
  for (const auto& [child, party] : children) {
    if (child == me.child || !party.lease) continue;
    if (most == nullptr || std::int64_t{party.held} * std::max(most->clients, 1) > std::int64_t{most->held} * std::max(party.clients, 1)) most = &party;
  }
  if (most != nullptr) from_other_child(mine, *most, now_ms, victim);
  // What is on its way to somebody, or being closed, will be held again.
  const auto settled = std::count_if(held.begin(), held.end(), [&](const Held& one) { return !one.called && share(limit, one.pool, me.pool); });
  if (!victim.lease && settled < count_of(me.counts, limit)) later(victim, now_ms + kChildSliceMs);
  return victim;
}

std::vector<std::size_t> surplus(std::span<const Held> held, std::span<const Limits> limits_at) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < held.size() && i < limits_at.size(); ++i) {
    if (!held[i].called) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return goes_before(held[a], held[b]); });
  std::vector<std::size_t> go;
  for (const Limit limit : kTested) {
    std::map<std::tuple<int, int, int>, std::int64_t> counts;
    for (const std::size_t i : order) ++counts[scope(limit, held[i].pool)];
    std::erase_if(order, [&](std::size_t i) {
      std::int64_t& count = counts[scope(limit, held[i].pool)];
      // A blocked pool's reserve is blocked with it.
      const bool blocked = limit == Limit::Pool && limits_at[i].pool_size == 0;
      if (count <= (blocked ? 0 : limit_value(limits_at[i], limit))) return false;
      --count;
      go.push_back(i);
      return true;
    });
  }
  return go;
}

}  // namespace weir::ledger
