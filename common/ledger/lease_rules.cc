#include "common/ledger/lease_rules.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weir::ledger {
namespace {

constexpr Limit kTested[] = {Limit::Pool, Limit::Database, Limit::User, Limit::Node};

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

TurnVerdict judge_in_turn(const Waiter& me, std::span<const Waiter> others, std::int64_t now_ms) {
  const std::int64_t waited = now_ms - me.since_ms;
  TurnVerdict result{judge(me.counts, me.limits, waited), std::nullopt};
  if (!result.verdict.granted()) return result;
  Counts with_them = me.counts;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const Waiter& other = others[i];
    if (other.since_ms + kNearlySameMs >= me.since_ms || other.pool.node != me.pool.node || passed_over(other, now_ms)) continue;
    if (!would_be_granted(other, now_ms) && !claims(other, now_ms)) continue;
    for (const Limit limit : kTested) {
      if (share(limit, other.pool, me.pool)) ++count_of(with_them, limit);
    }
    if (!first || other.since_ms < others[*first].since_ms) first = i;
  }
  if (!first || judge(with_them, me.limits, waited).granted()) return result;
  return {{Limit::Turn, false}, first};
}

std::optional<std::size_t> next_in_line(std::span<const Waiter> waiters, std::int64_t now_ms) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    if (passed_over(waiters[i], now_ms) || (best && waiters[*best].since_ms <= waiters[i].since_ms)) continue;
    if (would_be_granted(waiters[i], now_ms)) best = i;
  }
  return best;
}

std::optional<std::size_t> choose_victim(const Waiter& me, Limit limit, std::span<const Held> held) {
  // Who holds how much of what is short: pools, or of one pool the children.
  const auto holder = [&](int child, PoolKey pool) {
    return limit == Limit::Pool ? std::tuple<int, int, int>(child, -1, -1) : std::tuple<int, int, int>(pool.database, pool.user, pool.node);
  };
  std::map<std::tuple<int, int, int>, int> shares;
  std::optional<std::size_t> idle;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!share(limit, held[i].pool, me.pool) || held[i].called) continue;
    ++shares[holder(held[i].child, held[i].pool)];
    if (held[i].idle && (!idle || held[i].since_ms < held[*idle].since_ms)) idle = i;
  }
  if (idle) return idle;
  const auto mine = shares.find(holder(me.child, me.pool));
  int most = mine == shares.end() ? 0 : mine->second;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!share(limit, held[i].pool, me.pool) || held[i].called) continue;
    const int has = shares[holder(held[i].child, held[i].pool)];
    if (has < most || (has == most && (!best || held[i].since_ms >= held[*best].since_ms))) continue;
    most = has;
    best = i;
  }
  return best;
}

bool gives_up(std::int64_t own_since_ms, std::int64_t since_ms) { return own_since_ms == 0 || since_ms + kNearlySameMs < own_since_ms; }

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
