// This child's side of the ledger (common/ledger/ledger.h): a lease for each server connection of clients, from before it is
// opened until the server has ended its process. What pgweir asks for itself (catalogue, cancels) has none: rule 23.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "child/backend_cache.h"
#include "common/base/clock.h"
#include "common/base/stream.h"
#include "common/ledger/ledger.h"

namespace weir::child {

class Leases {
 public:
  explicit Leases(Worker& worker);
  ~Leases();
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;

  // Another connection of GROUP, for somebody who waits since SINCE. Wait: the group is in the line of all children if
  // MAY_WAIT; ask again when woken or after a while. NoRoom: the ledger has no room for it.
  enum class Answer { Granted, Wait, NoRoom };
  Answer ask(BackendGroup& group, Monotonic since, bool may_wait, ledger::LeaseId& lease);
  // Another connection of GROUP, if all children together have fewer than MIN of that pool. False: they have them, or some
  // limit is in the way.
  bool ask_minimum(BackendGroup& group, std::int32_t min, ledger::LeaseId& lease);
  // min_pool_size of GROUP.
  std::int32_t minimum(const BackendGroup& group) const;
  // Of those who wait in GROUP the oldest has changed, or nobody does any more.
  void waiters_changed(BackendGroup& group);

  // BACKEND has its lease from now on; until ended() or close().
  void bind(Backend& backend);
  void note_idle(const Backend& backend);
  void note_in_use(const Backend& backend);
  void note_pid(const Backend& backend);
  // The server has ended the connection.
  void ended(Backend& backend);
  // pgweir has done with it: the socket is kept until the server has ended its process, which is not before what it does
  // now is over.
  void close(Backend& backend, std::unique_ptr<Stream> stream);

  // Takes in what is asked of this child, by others who wait and by limits that were lowered. One load if there is nothing
  // new.
  void look();
  const std::vector<ledger::CallIn>& calls() const { return calls_; }
  const std::vector<ledger::Eviction>& evictions() const { return evictions_; }
  BackendGroup* group_of(ledger::LeaseId lease) const;
  // Does a connection that has just come free go, instead of staying for the group's own? To be asked once for each: a
  // wish is then fulfilled.
  struct Fate {
    bool goes = false;
    std::optional<ledger::CallIn> call;  // nothing: a limit was lowered
  };
  Fate fate_of(const BackendGroup& group, const Backend& backend);
  // A connection of the group goes to the one who called: no other goes for that.
  void fulfil(const ledger::CallIn& call);
  // Since when the oldest of the group's own waits; 0: nobody does.
  static std::int64_t own_since(const BackendGroup& group);

  // Handing over: see hand_over.h and the ledger.
  void begin_handing(const Backend& backend);
  // It is the taker's: BACKEND has no lease any more.
  bool is_adopted(Backend& backend);
  // False: somebody has just adopted it.
  bool take_back(const Backend& backend);
  // The lease of a sibling, which is on its way, becomes LEASE of GROUP. Wait: the ledger is busy. NoRoom: it cannot be had.
  Answer adopt(int giver, ledger::LeaseId given, BackendGroup& group, ledger::LeaseId& lease);
  // Takes in limits that were set at run time since, so that nothing is lent past them: true if connections of this child are
  // to go now (evictions()). One load if there is nothing new.
  bool notice_limits();
  // BACKEND is one too many since a limit was lowered.
  bool is_evicted(const Backend& backend) const;
  // Limits set at run time that bear on USER in DATABASE.
  config::RuntimeOverrides overrides_for(std::string_view database, std::string_view user);

  // The configuration or what is known of nodes has changed.
  void limits_changed();
  // Once a second.
  void sweep();
  // The cache ends: no group is told of anything any more.
  void forget_groups() { groups_.assign(groups_.size(), nullptr); }
  // Connections whose server process may still live.
  std::size_t ending() const { return ending_.size(); }

 private:
  class Ending;

  std::int64_t now_ms() const;
  const ledger::Limits& limits(BackendGroup& group);
  config::RuntimeOverrides overrides_for(const ledger::PoolName& pool) const;
  ledger::Limits limits_for(const ledger::PoolName& pool) const;
  void read_overrides();
  void mark_surplus();
  void notify(const ledger::Wakes& wakes);
  void end(Ending& ending);
  void give_back(ledger::LeaseId lease);
  void unbind(ledger::LeaseId lease);
  void enforce_evictions();
  void gained(BackendGroup& group, ledger::LeaseId lease);
  static ledger::Demand demand(const BackendGroup& group);

  Worker& worker_;
  ledger::Ledger& ledger_;
  const int slot_;
  std::vector<BackendGroup*> groups_;  // by lease
  std::vector<Backend*> backends_;     // by lease; null: it is being opened, closed, or is on its way to a sibling
  std::vector<std::unique_ptr<Ending>> ending_;
  std::vector<ledger::CallIn> calls_;
  std::int64_t calls_at_ms_ = 0;
  std::vector<ledger::CallIn> fulfilled_;  // of late
  std::vector<ledger::Eviction> evictions_;
  std::uint32_t calls_seen_ = 0;
  bool look_again_ = false;
  std::vector<ledger::Override> overrides_;
  std::uint64_t epoch_ = 0;
  std::uint64_t version_ = 1;   // of what limits are computed from
  bool surplus_due_ = false;
};

}  // namespace weir::child
