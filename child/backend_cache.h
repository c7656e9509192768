// The child's private cache of server connections: at most max_pool a (database, user, node), LRU among the idle ones, a
// fair queue of those who wait. Nothing in it is shared: no lock on the query path.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "child/backend.h"
#include "child/backend_login.h"
#include "child/upkeep.h"
#include "common/auth/verifier.h"
#include "common/base/event.h"
#include "common/ledger/ledger.h"
#include "common/shmem/node_view.h"

namespace weir::child {

class InternalQuery;
struct InternalResult;

struct AcquireFailure {
  enum class Kind {
    Full,        // max_pool or the server (53300, see `login`) allows no more, and the request may not wait
    Timeout,     // ... and none came free in time
    Login,       // see `login`
    NoRoom,      // more connections than pgweir can keep account of
  } kind = Kind::Full;
  LoginFailure login;
  ledger::Limit limit = ledger::Limit::None;  // Timeout: which one; None: max_pool, or the server's answer
  bool give_up = false;  // Login: it has failed for server_login_retry, and nobody shall wait
};

// One who asked for a backend. Told exactly once, unless it withdraws.
class BackendWaiter {
 public:
  virtual void on_backend(std::unique_ptr<Backend> backend) = 0;
  virtual void on_backend_failed(int node, const AcquireFailure& failure) = 0;

 protected:
  ~BackendWaiter() = default;
};

struct BackendGroup;

struct AcquireRequest {
  const BackendKey* key = nullptr;
  BackendGroup** group = nullptr;      // where the cache may keep what it has found for this database, user and node
  int node = -1;
  const std::optional<auth::Secret>* secret = nullptr;  // for a login, if the server asks; copied where it is waited
  bool may_wait = false;               // only for the primary: rule 12
  bool lent = false;                   // for a transaction: it will be given back
  bool fresh = false;                  // a new login, not a cached connection (to verify a password)
  StateImagePtr image;                 // the state that is wanted: a connection that has it is taken before all others
  Monotonic deadline{};                // of waiting
};

// The connections of one database and user to one node. They live as long as the cache.
struct BackendGroup {
  using Key = std::tuple<std::string, std::string, int>;  // database, user, node
  struct Waiting {
    AcquireRequest request;
    BackendKey key;
    BackendWaiter* waiter = nullptr;
    std::optional<auth::Secret> secret;
    Monotonic since{};     // when it asked
    bool no_room = false;  // the ledger is full: told at once
  };
  Key key;
  int total = 0;  // idle, handed out, resetting and connecting
  std::vector<std::unique_ptr<Backend>> idle;  // most recently used last
  std::deque<Waiting> waiters;
  // What Leases knows of it.
  ledger::Limits limits;
  std::uint64_t limits_version = 0;
  ledger::WaitId wait = -1;
  ledger::Limit refused_by = ledger::Limit::None;  // by which limit it was last told to wait
  std::int64_t gained_ms = 0;     // when it last got a lease
  std::int64_t ask_again_ms = 0;  // when the ledger will have another answer; 0: it is not known
  Monotonic ask_at{};             // not before this moment, if there is no news
  std::optional<auth::Secret> secret;  // of the last login that a client asked for, if
  bool secret_known = false;           // there was one: min_pool_size has no other
  int ending = 0;                                  // closed connections that the server has not ended yet
  Monotonic saturated_until{};  // the server had no slot: till then only those who may wait ask again
  // Upkeep of its connections (backend_upkeep.cc).
  ConnectionTimes times;
  Monotonic last_aged{};         // when one was last closed for its age
  std::uint32_t generation = 1;  // older connections are not used again
  // (login_defaults.h)
  std::uint64_t oldest_change = 0;    // ... nor those that were opened before this change of logins
  std::uint64_t compared_change = 0;  // a standby: it was seen to have replayed that one
};

class BackendCache {
 public:
  explicit BackendCache(Worker& worker);
  ~BackendCache();

  // An idle connection at once; or full: none is free and the request may not wait; or failure: the server cannot be
  // reached, and is not tried now; else the waiter is told later.
  struct Acquired {
    std::unique_ptr<Backend> backend;
    bool full = false;
    std::optional<AcquireFailure> failure = std::nullopt;
  };
  Acquired acquire(AcquireRequest request, BackendWaiter& waiter);
  void withdraw(BackendWaiter& waiter);
  // Takes back a connection that no session uses any more: reset, then cached, handed on or closed.
  void release(std::unique_ptr<Backend> backend);
  // Takes back a connection that is lent by the transaction, with the state that its image tells: no reset. Nothing is
  // under way on it, and nothing of the session is left there that the image does not tell.
  void give_back(std::unique_ptr<Backend> backend);
  // Closes a connection that was handed out.
  void discard(std::unique_ptr<Backend> backend);
  // Closes what is idle on NODE (it is down, was re-addressed, or has no slot left); a busy one ends with its session.
  void drop_node(int node);
  void drop_idle();
  // connection_life_time and connection_max_age; once a second.
  void sweep(Monotonic now);
  // BEFORE is the configuration until now. What was opened by settings that have changed since is not used again.
  void config_changed(const config::Config& before);
  // Health has found the node usable again: no pause any more.
  void node_is_back(int node);
  // BACKEND, which is handed out, was opened by settings that have changed since.
  static bool is_out_of_date(const Backend& backend) {
    return backend.generation != backend.home->generation || backend.login_change < backend.home->oldest_change;
  }
  // What a login of DATABASE and USER gives is another since CHANGE: no new session gets a connection that is open now.
  void login_has_changed(const std::string& database, const std::string& user, std::uint64_t change);

  // Gives up what other children or lowered limits ask for, and serves those who wait for the ledger.
  void obey_ledger();
  // Limits that were set at run time since hold for what is idle from now on.
  void notice_limits();
  // A connection of GROUP is not counted any more.
  void lease_is_back(BackendGroup& group);

  BackendGroup& group_for(const Backend& backend);
  // A connection that a sibling has handed over, Busy; with prepared statements that this process does not know.
  void take_in(std::unique_ptr<Backend> backend, bool has_statements);
  // What was to go to a sibling: it is closed already, or nobody took it.
  void handed_away(std::unique_ptr<Backend> backend);

  std::size_t waiting() const { return waiting_; }
  bool has_idle() const;
  // Tells, by database and user, of closed connections that their server has not ended yet.
  void each_closing(const std::function<void(const std::string&, const std::string&, int)>& tell) const;

 private:
  static constexpr Milliseconds kSaturatedRetry{200};
  static constexpr Milliseconds kLedgerRetry{50};

  using Group = BackendGroup;
  using Waiting = BackendGroup::Waiting;
  struct Attempt {
    Group* group = nullptr;
    Waiting waiting;  // whose attempt it is; waiter null: withdrawn
    std::unique_ptr<Backend> backend;
    std::unique_ptr<BackendLogin> login;  // null: it is asked something before it is used (ask_first)
    auth::AskedMethod method = auth::AskedMethod::Unknown;
    InternalQuery* query = nullptr;
    Timer deadline;
  };
  class IdleWatch;

  Group& group(const BackendKey& key, int node);
  int limit() const;
  std::unique_ptr<Backend> take_idle(Group& group, const BackendKey& key, const AcquireRequest& request);
  std::vector<std::unique_ptr<Backend>>::iterator best_idle(Group& group, const BackendKey& key, const AcquireRequest& request);
  static std::unique_ptr<Backend> take_out(Group& group, std::vector<std::unique_ptr<Backend>>::iterator which);
  bool may_keep(const Backend& backend) const;  // asked when it is given back
  bool make_room(Group& group);
  enum class Opening { Open, Wait, NoRoom };
  Opening may_open(Group& group, const AcquireRequest& request, Monotonic since, ledger::LeaseId& lease);
  void refuse_at_once(Waiting& waiting);
  bool evict_on_node(int node);
  void close_evicted();
  void open(Group& group, Waiting waiting, ledger::LeaseId lease);
  void attempt_done(Attempt* attempt, const LoginFailure* failure);
  void attempt_failed(Group& group, Waiting waiting, const LoginFailure& failure);
  void store(Group& group, std::unique_ptr<Backend> backend);
  void reset(std::unique_ptr<Backend> backend);
  void reset_done(Backend* backend, bool clean);
  // ASK: there is news from the ledger.
  void serve_waiters(Group& group, bool ask = false);
  void part_with(std::unique_ptr<Backend> backend, const std::optional<ledger::CallIn>& call);
  void serve_all();
  void gone(Group& group);
  void keep_minimum(Monotonic now);
  void arm_deadlines(const Group& group);
  void check_deadlines();

  // (backend_upkeep.cc)
  // The connection's time is over: it is closed now, which puts off the others.
  static bool retires(const Backend& backend, Monotonic now);
  std::unique_ptr<Attempt> take_attempt(Attempt* attempt);
  bool may_login(int node) const;
  void note_login(int node, const LoginFailure* failure);
  std::optional<AcquireFailure> refused_by_gate(const Group& group) const;
  void tell_waiters(int node, const LoginFailure& failure);
  void ask_first(std::unique_ptr<Attempt> attempt, std::string_view text, std::function<void(std::unique_ptr<Attempt>&, InternalResult*)> then);
  void run_connect_query(std::unique_ptr<Attempt> attempt);
  void lost_while_asked(std::unique_ptr<Attempt>& attempt, bool answered, std::string_view what);
  // (backend_defaults.cc)
  bool must_compare(const Attempt& attempt) const;
  void compare_defaults(std::unique_ptr<Attempt> attempt);
  void attempt_ready(std::unique_ptr<Attempt> attempt);
  void login_failed(std::unique_ptr<Attempt> attempt, const LoginFailure& failure);
  void check(Group& group, Waiting waiting, std::unique_ptr<Backend> backend);
  void checked(std::unique_ptr<Attempt>& attempt, bool good);
  void serve_later();

  Worker& worker_;
  std::map<Group::Key, std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Attempt>> attempts_;
  std::array<LoginGate, shmem::kMaxNodes> gates_;  // by node
  std::vector<std::unique_ptr<Backend>> resetting_;
  std::unique_ptr<IdleWatch> idle_watch_;
  Timer deadline_timer_;
  Monotonic deadline_at_{};
  std::size_t waiting_ = 0;
  bool serve_soon_ = false;
  bool looking_ = false;  // at an idle connection that somebody is about to get
};

}  // namespace weir::child
