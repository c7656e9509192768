// One child process at work: owns the loop, the listener, the sessions, the cache of backends and the caches of facts;
// reacts to reload, drain and changes of the nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "child/cancel_key.h"
#include "child/backend.h"
#include "child/login_info.h"
#include "child/sleepers.h"
#include "child/state_image.h"
#include "child/statement_registry.h"
#include "common/auth/verifier.h"
#include "common/base/event_loop.h"
#include "common/base/random.h"
#include "common/process/role_context.h"
#include "common/shmem/cancel_mailbox.h"
#include "common/shmem/node_view.h"
#include "common/shmem/replication_delay.h"
#include "lb/choose.h"
#include "lb/eligible.h"
#include "lb/policy.h"

namespace weir::config {
struct Config;
}

namespace weir::child {

class BackendCache;
class Balancer;
class CancelRequest;
class CatalogLookup;
class ClientSession;
class Leases;
class HandOver;
class Listener;
class PeerCancels;
class Resolver;
class SharedRows;
class Siblings;
class Survey;
class TimeSweep;

class Worker {
 public:
  static constexpr std::size_t kReadSize = 64U << 10U;     // one read of a socket
  static constexpr std::size_t kScratchSize = 3 * kReadSize;

  explicit Worker(process::RoleContext& context);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Until the process shall end; the exit code.
  int run();

  EventLoop& loop() { return loop_; }
  const config::Config& config() const { return *config_; }
  const lb::Policy& policy() const { return policy_; }
  const shmem::NodeView& nodes() const { return nodes_; }
  BackendCache& backends() { return *backends_; }
  Leases& leases() { return *leases_; }
  Siblings& siblings() { return *siblings_; }
  HandOver& hand_over() { return *hand_over_; }
  Resolver& resolver() { return *resolver_; }
  Survey& survey() { return *survey_; }
  TimeSweep& times() { return *times_; }
  CatalogLookup& catalog_lookup() { return *catalog_lookup_; }
  SharedRows& rows() { return *rows_; }
  Random& random() { return random_; }
  auth::KeyCache& keys() { return keys_; }
  process::RoleContext& context() { return context_; }
  // What a read of a socket may fill; its contents live until the next read.
  std::span<std::byte> scratch() { return {scratch_.get(), kScratchSize}; }

  // --- nodes
  bool node_accepts(int node) const;
  std::int64_t connect_timeout(int node) const;  // ms
  // A connection to NODE could not be made: reads use other nodes for a while, until health has had its say.
  void avoid(int node);
  lb::NodeSet avoided() const;
  // How far behind each node is as far as that matters: all unknown while no limit is set.
  std::span<const shmem::ReplicationDelay> delays();
  // How busy each node is, over all children; null if the algorithm does not ask.
  const lb::NodeLoads* loads();
  // A hint for health that something is wrong with the node; never a verdict.
  void suspect(int node);
  // NODE has no slot left (53300) and somebody waits for one: all children close what they have idle there. At most once
  // a second.
  void recall_idle(int node);
  void wake_child(int slot);
  // Limits of the ledger were set at run time: all children make them true at once.
  void limits_were_set();
  // No node could be reached for server_login_retry: nobody waits for one.
  bool nothing_reachable() const;

  // --- sessions
  std::uint64_t next_session_number() { return ++session_numbers_; }
  StateImages& images() { return images_; }
  StatementRegistry& statements() { return statements_; }
  // For messages that are put together before they are sent: room that is used again and again.
  std::string& message_room() { return message_room_; }
  void accepted(UniqueFd fd, bool is_unix, std::string peer, int peer_port);
  void session_ended(ClientSession& session);
  std::size_t session_count() const { return session_count_; }
  // A session has become idle: in a while it is kept as a snapshot.
  void may_sleep_soon();
  // Ends those whose time is over; when the next one's will be.
  Monotonic check_sleepers(Monotonic now);
  // Clients go to another child: this one, at the end of the turn; and of those that are active now, so many thousandths, each as soon as
  // nothing of it is under way; all others stay. CHILD -1: all stay.
  void move_soon(const ClientSession& session);
  void give_clients(int child, int thousandths);
  // ... and come from one: BYTES are a snapshot.
  void adopt_client(Bytes bytes, UniqueFd socket);
  ClientSession* session_at(int slot);
  // By slot; null where there is none, or it sleeps.
  std::span<const std::unique_ptr<ClientSession>> sessions() const { return sessions_; }
  const Sleepers& sleepers() const { return *sleepers_; }
  std::size_t session_slots() const { return sessions_.size(); }
  // Told when the nodes change and every 250 ms while the session is on the list.
  void park(ClientSession& session);
  void unpark(ClientSession& session);
  // What some of them wait for may have come.
  void wake_parked_soon();
  // Connections may be lent by the transaction, to whomever.
  bool lends() const { return lends_; }

  // --- logins
  LoginInfo& login_info(const std::string& database, const std::string& user);
  // The secret of pool_passwd for USER.
  std::optional<auth::Secret> secret_of(const std::string& user) const;
  void learn_login(Backend& backend, auth::AskedMethod method);
  // (login_defaults.h) How many statements that may have changed logins were seen by all children; one more; and INFO tells what
  // was before the last of them.
  std::uint64_t login_changes() const;
  void count_login_change();
  bool is_stale(const LoginInfo& info) const { return info.check_again || info.checked_change < login_changes(); }
  // A login of the pair gives other defaults since CHANGE than INFO tells, and is to be learnt anew.
  void login_has_changed(LoginInfo& info, const std::string& database, const std::string& user, std::uint64_t change);
  // Sessions that were told other values keep what they know.
  void learn_parameters(LoginInfo& info, ParameterList parameters);
  // The same of a sibling's connection, if nothing is known yet.
  void learn_from_sibling(Backend& backend, auth::AskedMethod method);

  const std::vector<std::string>& reset_queries() const { return reset_queries_; }
  // A cancel request: for this child or, through its mailbox, another; or for another pgweir. OVER is called once: when
  // whoever has sent it may be told that it was taken.
  void route_cancel(CancelKey key, const std::function<void()>& over);
  CancelKey new_cancel_key(int slot) const;
  // What that backend runs, for nobody any more, is cancelled, and the process stays until the server has been told. The
  // connection must be closed.
  void cancel_before_exit(int node, std::int32_t pid, std::string_view key);

  // --- shared rows
  void register_backend(Backend& backend);
  void publish_backend(Backend& backend);
  void forget_backend(Backend& backend);
  void publish_waiting(std::size_t waiting);

  bool draining() const { return draining_; }
  // pgweir stops: whoever is not logged in yet comes too late.
  bool stopping() const { return stopping_ != Stop::None; }

 private:
  enum class Stop { None, Smart, Fast };

  void watch_signals();
  void apply_config();
  void load_secrets();
  void reload();
  void on_wake();
  void refresh_nodes();
  void drain_cancels();
  void pass_cancel_on(shmem::CancelNote note);
  ClientSession* client_of(const shmem::CancelNote& note);
  void obey_recalls();
  void stop(Stop how);
  void tick();
  void maybe_exit();
  void wake_parked();
  int take_slot();
  void forget_moved(const ClientSession& session);
  void free_slot(int slot);
  bool move(ClientSession& session, int child);
  void put_to_sleep();
  void move_idle_clients();
  void wake_sleeper(int slot);
  void wake_all_sleepers();
  ClientSession& restore(int slot, Sleepers::Asleep asleep);

  process::RoleContext& context_;
  EventLoop loop_;
  std::shared_ptr<const config::Config> config_;
  lb::Policy policy_;
  bool lends_ = false;
  shmem::NodeView nodes_;
  std::optional<Monotonic> no_node_since_;
  int last_primary_ = -1;  // the last node that was one
  std::array<Monotonic, shmem::kMaxNodes> avoid_until_{};
  std::array<shmem::ReplicationDelay, shmem::kMaxNodes> delays_{};
  lb::NodeLoads loads_;
  Monotonic loads_at_{};
  std::array<Monotonic, shmem::kMaxNodes> recalled_{};           // when this child last asked for that
  std::array<std::uint64_t, shmem::kMaxNodes> recalls_seen_{};
  Random random_;
  std::unique_ptr<std::byte[]> scratch_;
  auth::KeyCache keys_;
  std::map<std::string, auth::Secret, std::less<>> secrets_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<LoginInfo>> logins_;
  std::vector<std::string> reset_queries_;

  std::unique_ptr<SharedRows> rows_;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<Leases> leases_;
  std::unique_ptr<HandOver> hand_over_;
  std::unique_ptr<BackendCache> backends_;
  std::unique_ptr<Survey> survey_;
  std::unique_ptr<CatalogLookup> catalog_lookup_;
  std::unique_ptr<TimeSweep> times_;
  std::unique_ptr<PeerCancels> peer_cancels_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Siblings> siblings_;
  std::unique_ptr<Balancer> balancer_;
  std::unique_ptr<Sleepers> sleepers_;
  std::vector<std::unique_ptr<ClientSession>> sessions_;  // by slot; null: free, or it sleeps
  std::vector<int> free_slots_;
  // Slots of clients that began elsewhere, by what they know as their process: not unique, since a place that one leaves is
  // taken by another.
  std::multimap<std::uint32_t, int> moved_here_;
  std::vector<ClientSession*> parked_;
  std::vector<std::unique_ptr<CancelRequest>> last_cancels_;
  std::size_t session_count_ = 0;
  std::uint64_t session_numbers_ = 0;
  StateImages images_;
  StatementRegistry statements_;
  std::string message_room_;
  std::uint64_t served_ = 0;
  Monotonic last_activity_;

  SignalEvent on_term_, on_int_, on_hup_, on_usr1_;
  FdEvent on_wake_;
  Timer tick_;
  Timer park_timer_;
  Timer sleep_timer_;
  bool sleep_armed_ = false;
  bool draining_ = false;
  Stop stopping_ = Stop::None;
  Monotonic may_exit_at_{};  // what is being closed is waited for till then
};

// A connecting socket to a numeric address or a socket directory; invalid with errno set if that fails at once.
UniqueFd connect_socket(std::string_view host, int port);

}  // namespace weir::child
