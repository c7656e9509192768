#include "child/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>

#include "child/backend_cache.h"
#include "child/balancer.h"
#include "child/cancel.h"
#include "child/catalog_lookup.h"
#include "child/client_login.h"
#include "child/client_session.h"
#include "child/hand_over.h"
#include "child/leases.h"
#include "child/listener.h"
#include "child/peer_cancels.h"
#include "child/resolver.h"
#include "child/session_snapshot.h"
#include "child/shared_rows.h"
#include "child/siblings.h"
#include "child/sleepers.h"
#include "child/survey.h"
#include "child/time_sweep.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/config/diff.h"
#include "common/config/effective.h"
#include "common/config/loader.h"
#include "common/config/log_settings.h"
#include "common/config/userlist.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kAvoid{5};
constexpr std::chrono::seconds kBetweenRecalls{1};
constexpr std::chrono::seconds kEnding{2};

}  // namespace

Worker::Worker(process::RoleContext& context)
    : context_(context),
      config_(context.config),
      random_(secure_random_u64()),
      scratch_(std::make_unique<std::byte[]>(kScratchSize)),
      keys_(context.salt_seed),
      statements_(secure_random_u32()),
      last_activity_(monotonic_now()) {
  rows_ = std::make_unique<SharedRows>(context_);
  resolver_ = std::make_unique<Resolver>(*this);
  leases_ = std::make_unique<Leases>(*this);
  hand_over_ = std::make_unique<HandOver>(*this);
  backends_ = std::make_unique<BackendCache>(*this);
  survey_ = std::make_unique<Survey>(*this);
  catalog_lookup_ = std::make_unique<CatalogLookup>(*this);
  times_ = std::make_unique<TimeSweep>(*this);
  peer_cancels_ = std::make_unique<PeerCancels>(*this);
  listener_ = std::make_unique<Listener>(*this);
  sleepers_ = std::make_unique<Sleepers>(loop_, [this](int slot) { wake_sleeper(slot); });
  siblings_ = std::make_unique<Siblings>(context_);
  siblings_->take(Siblings::Kind::Client, [this](Bytes bytes, UniqueFd socket) { adopt_client(bytes, std::move(socket)); });
  balancer_ = std::make_unique<Balancer>(*this);
  sleep_timer_.set(loop_, [this] { put_to_sleep(); });
  apply_config();
}

Worker::~Worker() { leases_->forget_groups(); }

int Worker::run() {
  watch_signals();
  if (context_.mapping->status().config_generation.load() != context_.config_generation) reload();
  refresh_nodes();
  on_wake_.watch_read(loop_, context_.wakes->at(process::RoleContext::kFirstChildWake + static_cast<std::size_t>(context_.slot)).fd(), [this] { on_wake(); });
  tick_.set(loop_, [this] { tick(); });
  tick_.arm(kTick);
  park_timer_.set(loop_, [this] { wake_parked(); });
  siblings_->start(loop_);
  hand_over_->start();
  listener_->start();
  rows_->started();
  context_.wakes->at(process::RoleContext::kParentWake).notify();
  loop_.run();
  return 0;
}

void Worker::watch_signals() {
  on_term_.watch(loop_, SIGTERM, [this] { stop(Stop::Smart); });
  on_int_.watch(loop_, SIGINT, [this] { stop(Stop::Fast); });
  on_hup_.watch(loop_, SIGHUP, [this] { reload(); });
  on_usr1_.watch(loop_, SIGUSR1, [] {});  // logs go to descriptors that need no reopening
}

// ------------------------------------------------------------------------------------------------------- configuration

void Worker::apply_config() {
  log::configure(config::log_settings(*config_));
  if (auto policy = lb::compile_policy(*config_)) {
    policy_ = std::move(*policy);
  } else {
    log::error("the routing settings are not used: {}", policy.error().one_line());
  }
  lends_ = config::lends_connections(*config_);
  reset_queries_ = config_->reset_query_list;
  load_secrets();
  resolver_->forget();
  for (auto& [pair, info] : logins_) info->limits = time_limits(*config_, pair.first, pair.second);
  leases_->limits_changed();
}

void Worker::load_secrets() {
  secrets_.clear();
  const std::string path = config_->resolve_path(config_->pool_passwd);
  if (path.empty()) return;
  std::ifstream file(path);
  if (!file) return;  // rule 28: only an error once something needs it
  std::ostringstream text;
  text << file.rdbuf();
  const config::UserList list = config::parse_userlist(text.str());
  for (const auto& error : list.errors) log::warning("{}:{}: {}", path, error.line, error.message);
  for (const auto& [user, text_of_secret] : list.users) {
    if (auto secret = auth::Secret::parse(text_of_secret, context_.password_key)) {
      secrets_.insert_or_assign(user, std::move(*secret));
    } else {
      secrets_.erase(user);
      log::warning("{}: the secret of user \"{}\" cannot be used: {}", path, user, secret.error().one_line());
    }
  }
}

std::optional<auth::Secret> Worker::secret_of(const std::string& user) const {
  const auto it = secrets_.find(user);
  if (it == secrets_.end()) return std::nullopt;
  return it->second;
}

void Worker::reload() {
  const config::LoadOutcome outcome = config::reload(*config_);
  if (outcome.config == nullptr) {
    log::error("reload: the configuration has errors, the old one stays in effect");  // the parent lists them
    return;
  }
  const std::shared_ptr<const config::Config> before = config_;
  config_ = std::make_shared<const config::Config>(config::keep_startup_parameters(*config_, *outcome.config));
  apply_config();
  backends_->config_changed(*before);
  wake_all_sleepers();  // their times may have changed
  may_sleep_soon();
  for (auto& session : sessions_) {
    if (session != nullptr) session->config_changed();
  }
  times_->expect(loop_.now());
  refresh_nodes();
}

// --------------------------------------------------------------------------------------------------------------- nodes

void Worker::on_wake() {
  context_.wakes->at(process::RoleContext::kFirstChildWake + static_cast<std::size_t>(context_.slot)).drain();
  drain_cancels();
  obey_recalls();
  hand_over_->check();
  backends_->obey_ledger();
  survey_->on_wake();
  if (context_.mapping->node_table().epoch() != nodes_.epoch) refresh_nodes();
}

void Worker::refresh_nodes() {
  const int old_primary = nodes_.primary;
  const auto old = std::make_unique<shmem::NodeView>(nodes_);
  for (int i = 0; i < 100 && !context_.mapping->node_table().read(nodes_); ++i) {
  }
  bool grown = false;
  for (int id = 0; id < nodes_.count; ++id) {
    const auto index = static_cast<std::size_t>(id);
    const bool was = id < old->count && old->nodes[index].usable();
    if (was && !node_accepts(id)) backends_->drop_node(id);
    if (was || !node_accepts(id)) continue;
    grown = old->count > 0;
    avoid_until_[index] = {};
    backends_->node_is_back(id);
  }
  const auto nodes = std::span(nodes_.nodes).first(static_cast<std::size_t>(nodes_.count));
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const shmem::Node& node) { return node.usable(); });
  if (any) no_node_since_.reset();
  if (!any && !no_node_since_) no_node_since_ = loop_.now();
  if (nodes_.primary != old_primary) {
    // What the last one said may not have been replayed on another. While there is none, what is known still holds.
    if (nodes_.primary >= 0 && last_primary_ >= 0 && nodes_.primary != last_primary_) resolver_->catalog_changed();
    if (nodes_.primary >= 0) last_primary_ = nodes_.primary;
    catalog_lookup_->reconnect();
  }
  for (auto& session : sessions_) {
    if (session != nullptr) session->nodes_changed(grown);
  }
  wake_parked();
}

bool Worker::nothing_reachable() const {
  // At the start health has not looked at any yet.
  return no_node_since_ && loop_.now() - *no_node_since_ >= std::chrono::seconds(std::max<std::int64_t>(config_->server_login_retry, 1));
}

void Worker::avoid(int node) { avoid_until_.at(static_cast<std::size_t>(node)) = loop_.now() + kAvoid; }

lb::NodeSet Worker::avoided() const {
  lb::NodeSet nodes;
  for (int id = 0; id < nodes_.count; ++id) {
    if (avoid_until_[static_cast<std::size_t>(id)] > loop_.now()) nodes.set(static_cast<std::size_t>(id));
  }
  return nodes;
}

std::span<const shmem::ReplicationDelay> Worker::delays() {
  const auto count = static_cast<std::size_t>(nodes_.count);
  if (policy_.delay_limit().set() || policy_.write_keeps() == lb::WriteKeeps::RecentTables) {
    for (std::size_t id = 0; id < count; ++id) context_.mapping->observations().read_delay(static_cast<int>(id), delays_[id]);
  }
  return {delays_.data(), count};
}

const lb::NodeLoads* Worker::loads() {
  if (policy_.algorithm() == lb::Algorithm::Weighted) return nullptr;
  if (loads_at_ != loop_.now()) {  // once a turn of the loop
    loads_at_ = loop_.now();
    rows_->read_loads(nodes_.count, loads_);
  }
  return &loads_;
}

bool Worker::node_accepts(int node) const {
  return node >= 0 && node < nodes_.count && nodes_.nodes[static_cast<std::size_t>(node)].usable();
}

std::int64_t Worker::connect_timeout(int node) const {
  if (node >= 0 && static_cast<std::size_t>(node) < config_->backends.size()) return config_->backends[static_cast<std::size_t>(node)].connect_timeout;
  return config_->connect_timeout;
}

void Worker::suspect(int node) {
  context_.mapping->suspicions().add(node);
  context_.wakes->at(process::RoleContext::kHealthWake).notify();
}

void Worker::recall_idle(int node) {
  Monotonic& last = recalled_.at(static_cast<std::size_t>(node));
  if (last != Monotonic{} && loop_.now() - last < kBetweenRecalls) return;
  last = loop_.now();
  context_.mapping->idle_recalls().add(node);
  for (int slot = 0; slot < context_.mapping->children(); ++slot) {
    if (context_.mapping->child_row(slot).pid != 0) wake_child(slot);
  }
}

void Worker::wake_child(int slot) { context_.wakes->at(process::RoleContext::kFirstChildWake + static_cast<std::size_t>(slot)).notify(); }

void Worker::limits_were_set() {
  leases_->sweep();
  for (int slot = 0; slot < context_.mapping->children(); ++slot) {
    if (context_.mapping->child_row(slot).pid != 0) wake_child(slot);
  }
}

void Worker::obey_recalls() {
  for (int node = 0; node < nodes_.count; ++node) {
    const std::uint64_t count = context_.mapping->idle_recalls().count(node);
    if (std::exchange(recalls_seen_[static_cast<std::size_t>(node)], count) != count) backends_->drop_node(node);
  }
}

// ------------------------------------------------------------------------------------------------------------- logins

LoginInfo& Worker::login_info(const std::string& database, const std::string& user) {
  auto& slot = logins_[{database, user}];
  if (slot == nullptr) {
    slot = std::make_unique<LoginInfo>();
    slot->limits = time_limits(*config_, database, user);
  }
  return *slot;
}

void Worker::learn_login(Backend& backend, auth::AskedMethod method) {
  LoginInfo& info = login_info(backend.key().database, backend.key().user);
  const bool primary = backend.node() == nodes_.primary;
  if (info.from_primary && !primary) return;
  if (!backend.key().replication.empty() || !backend.key().fixed.empty()) {  // its parameters are its client's own
    info.method = method;
    return;
  }
  info.method = method;
  info.from_primary = primary;
  learn_parameters(info, {backend.parameters.begin(), backend.parameters.end()});
}

void Worker::learn_parameters(LoginInfo& info, ParameterList parameters) {
  std::sort(parameters.begin(), parameters.end());
  if (parameters == info.parameters) return;
  if (!info.parameters.empty()) {
    wake_all_sleepers();
    may_sleep_soon();
    for (auto& session : sessions_) {
      if (session != nullptr) session->keep_told(info);
    }
  }
  info.parameters = std::move(parameters);
}

std::uint64_t Worker::login_changes() const { return context_.mapping->status().login_changes.load(std::memory_order_acquire); }

void Worker::count_login_change() { context_.mapping->status().login_changes.fetch_add(1, std::memory_order_acq_rel); }

void Worker::login_has_changed(LoginInfo& info, const std::string& database, const std::string& user, std::uint64_t change) {
  info.defaults_known = false;
  info.startup_sets.clear();
  info.oldest_change = std::max(info.oldest_change, change);
  backends_->login_has_changed(database, user, change);
}

void Worker::learn_from_sibling(Backend& backend, auth::AskedMethod method) {
  const LoginInfo& info = login_info(backend.key().database, backend.key().user);
  if (!info.ready() && method != auth::AskedMethod::Unknown && backend.applied == 0) learn_login(backend, method);
}

// ------------------------------------------------------------------------------------------------------------- cancels

CancelKey Worker::new_cancel_key(int slot) const {
  const auto peer_id = static_cast<int>(config_->peer_id);
  return peer_id > 0 ? peer_key(secure_random_u64(), peer_id) : local_key(context_.slot, slot, secure_random_u32());
}

void Worker::route_cancel(CancelKey key, const std::function<void()>& over) {
  const auto peer_id = static_cast<int>(config_->peer_id);
  const CancelRoute route = route_of(key, peer_id, config_->settings.peers);
  switch (route.kind) {
    case CancelRoute::Kind::Peer: return peer_cancels_->forward(route.peer, route.key, over);
    case CancelRoute::Kind::NoSuchPeer: log::print(log::Level::Log, {}, "a cancel request for peer {} is lost: [peers] has no such line", route.peer); return over();
    case CancelRoute::Kind::NoHopsLeft: log::print(log::Level::Log, {}, "a cancel request for peer {} is lost: it was handed on too often", route.peer); return over();
    case CancelRoute::Kind::Own: break;
  }
  const shmem::CancelNote note{key.pid, key.secret, monotonic_milliseconds(monotonic_now())};
  const auto children = static_cast<std::uint32_t>(context_.mapping->children());
  const std::uint32_t owner = (key.pid - 1) >> 20U;
  // With peers a key does not tell the child.
  for (std::uint32_t child = 0; child < children; ++child) {
    if (peer_id == 0 && (child != owner || key.pid == 0)) continue;
    if (context_.mapping->cancel_mailbox(static_cast<int>(child)).post(note)) wake_child(static_cast<int>(child));
  }
  over();
}

void Worker::drain_cancels() {
  for (const shmem::CancelNote& note : context_.mapping->cancel_mailbox(context_.slot).drain()) {
    if (ClientSession* session = client_of(note)) {
      session->cancel(note.received_ms);
    } else if (!note.passed_on && config_->peer_id == 0) {
      pass_cancel_on(note);
    }
  }
}

ClientSession* Worker::client_of(const shmem::CancelNote& note) {
  const CancelKey key{note.pid, note.secret};
  if (config_->peer_id != 0) {  // such a key tells no place
    const auto it = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& session) { return session != nullptr && is_same_client(session->cancel_key(), key); });
    return it != sessions_.end() ? it->get() : nullptr;
  }
  const auto in = [&](int slot) {
    ClientSession* session = session_at(slot);
    return session != nullptr && session->cancel_key() == key ? session : nullptr;
  };
  if (ClientSession* session = in(static_cast<int>((note.pid - 1) & 0xfffffU))) return session;
  for (auto [it, end] = moved_here_.equal_range(note.pid); it != end; ++it) {
    if (ClientSession* session = in(it->second)) return session;
  }
  return nullptr;
}

// The client may have been moved to another child: nobody knows to which.
void Worker::pass_cancel_on(shmem::CancelNote note) {
  note.passed_on = true;
  for (int child = 0; child < context_.mapping->children(); ++child) {
    if (child != context_.slot && context_.mapping->cancel_mailbox(child).post(note)) wake_child(child);
  }
}

void Worker::cancel_before_exit(int node, std::int32_t pid, std::string_view key) {
  std::size_t index = 0;
  while (index < last_cancels_.size() && last_cancels_[index] != nullptr) ++index;
  if (index == last_cancels_.size()) last_cancels_.emplace_back();
  auto request = CancelRequest::start(*this, node, pid, key, [this, index](bool) {
    loop_.destroy_later(std::move(last_cancels_[index]));
    maybe_exit();
  });
  last_cancels_[index] = std::move(request);
}

// ---------------------------------------------------------------------------------------------------------------- rows

void Worker::register_backend(Backend& backend) { rows_->register_backend(backend); }
void Worker::publish_backend(Backend& backend) { rows_->publish_backend(backend); }
void Worker::forget_backend(Backend& backend) { rows_->forget_backend(backend); }
void Worker::publish_waiting(std::size_t waiting) { rows_->set_waiting(waiting); }

// ----------------------------------------------------------------------------------------------------------------- end

void Worker::stop(Stop how) {
  if (how == Stop::Fast || stopping_ == Stop::None) stopping_ = how;
  draining_ = true;
  listener_->stop();
  rows_->draining();
  if (how == Stop::Fast) {
    wake_all_sleepers();
    for (auto& session : sessions_) {
      if (session != nullptr) session->shut_down();
    }
  }
  maybe_exit();
}

void Worker::maybe_exit() {
  const bool told = std::all_of(last_cancels_.begin(), last_cancels_.end(), [](const auto& request) { return request == nullptr; });
  if (draining_ && session_count_ == 0 && told) {
    backends_->drop_idle();
    // What the servers have not ended when this process goes, health has to find out.
    if (may_exit_at_ == Monotonic{}) may_exit_at_ = loop_.now() + kEnding;
    if (leases_->ending() > 0 && stopping_ == Stop::None && loop_.now() < may_exit_at_) return;
    loop_.stop();
  }
}

void Worker::tick() {
  tick_.arm(kTick);
  const Monotonic now = loop_.now();
  rows_->publish_old_rows();
  backends_->sweep(now);
  leases_->sweep();
  survey_->sweep();
  context_.mapping->databases(context_.slot).turn(monotonic_milliseconds(now), config_->stats_period * 1000);
  catalog_lookup_->sweep(now);
  if (context_.mapping->node_table().epoch() != nodes_.epoch) refresh_nodes();
  balancer_->look(now);
  if (draining_) {
    move_idle_clients();
    return maybe_exit();
  }
  // Both drain this child and never cut a client; the parent puts another in its place.
  const bool many = config_->child_max_connections > 0 && served_ >= static_cast<std::uint64_t>(config_->child_max_connections);
  const bool old = config_->child_life_time > 0 && served_ > 0 && session_count_ == 0 && now - last_activity_ >= std::chrono::seconds(config_->child_life_time);
  if (many) log::info("child exiting, {} connections reached", served_);
  if (many || old) {
    draining_ = true;
    listener_->stop();
    rows_->draining();
    context_.wakes->at(process::RoleContext::kParentWake).notify();
    maybe_exit();
  }
}

}  // namespace weir::child
