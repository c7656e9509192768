#include "health/health_main.h"

#include <csignal>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include "common/auth/verifier.h"
#include "common/base/host_resolver.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/config/diff.h"
#include "common/config/loader.h"
#include "common/config/log_settings.h"
#include "common/config/userlist.h"
#include "common/shmem/mapping.h"
#include "health/judge.h"
#include "health/orphans.h"
#include "health/others.h"
#include "health/probe.h"
#include "health/replication.h"

namespace weir::health {
namespace {

constexpr std::chrono::seconds kPeriod{1};

class Health {
 public:
  explicit Health(process::RoleContext& context)
      : context_(context), config_(context.config), resolver_(loop_), replication_(loop_, context.mapping->observations()), orphans_(context) {}

  int run() {
    log::configure(config::log_settings(*config_));
    on_term_.watch(loop_, SIGTERM, [this] { loop_.stop(); });
    on_int_.watch(loop_, SIGINT, [this] { loop_.stop(); });
    on_hup_.watch(loop_, SIGHUP, [this] { reload(); });
    on_wake_.watch_read(loop_, context_.wakes->at(process::RoleContext::kHealthWake).fd(), [this] {
      context_.wakes->at(process::RoleContext::kHealthWake).drain();
      hints();
      look_after_orphans();
    });
    orphans_timer_.set(loop_, [this] { look_after_orphans(); });
    tick_.set(loop_, [this] { tick(); });
    tick();
    if (context_.mapping->status().config_generation.load() != context_.config_generation) reload();
    loop_.run();
    return 0;
  }

 private:
  struct Watched {
    std::unique_ptr<Probe> probe;
    NodeHealth health;
    shmem::Observation last;
    std::uint64_t suspicions = 0;
    Others others;
  };

  void reload() {
    const config::LoadOutcome outcome = config::reload(*config_);
    if (outcome.config == nullptr) return;
    config_ = std::make_shared<const config::Config>(config::keep_startup_parameters(*config_, *outcome.config));
    log::configure(config::log_settings(*config_));
    tick();
  }

  void tick() {
    context_.mapping->status().health_beat.fetch_add(1, std::memory_order_relaxed);
    tick_.arm(kPeriod);
    if (context_.mapping->node_table().epoch() != nodes_seen_.epoch) context_.mapping->node_table().read(nodes_seen_);
    replication_.tick(*config_, nodes_seen_.primary, monotonic_now());
    for (std::size_t id = 0; id < config_->backends.size(); ++id) {
      ask_if_there(static_cast<int>(id));
    }
    look_after_orphans();
  }

  void look_after_orphans() {
    if (orphans_timer_.armed()) return;
    const std::vector<int> nodes = orphans_.nodes();
    for (const int id : nodes) {
      // One that does not answer is asked as often as ever: failures in a row are counted.
      const auto index = static_cast<std::size_t>(id);
      if (index < nodes_.size() && nodes_[index].last.answer == shmem::Answer::Ok) ask_if_there(id);
    }
    if (!nodes.empty()) orphans_timer_.arm(Orphans::kPause);
  }

  // A child had trouble with a node: it is looked at now and not in a second.
  void hints() {
    for (std::size_t id = 0; id < nodes_.size(); ++id) {
      const std::uint64_t count = context_.mapping->suspicions().count(static_cast<int>(id));
      if (count == nodes_[id].suspicions) continue;
      nodes_[id].suspicions = count;
      ask_if_there(static_cast<int>(id));
    }
  }

  void ask_if_there(int id) {
    const auto index = static_cast<std::size_t>(id);
    if (id >= 0 && index < config_->backends.size() && config_->backends[index].port != 0) ask(id);
  }

  void ask(int id) {
    const auto index = static_cast<std::size_t>(id);
    if (nodes_.size() <= index) nodes_.resize(index + 1);
    Watched& node = nodes_[index];
    if (node.probe == nullptr) node.probe = std::make_unique<Probe>(loop_, [this, id](const ProbeAnswer& answer) { answered(id, answer); });
    const config::BackendConfig& backend = config_->backends[index];
    ProbeTarget target;
    target.host = backend.hostname;
    target.address = backend.hostname.empty() ? "/tmp" : resolver_.address(backend.hostname);
    target.port = static_cast<int>(backend.port);
    const bool sr = !config_->sr_check_user.empty();
    target.user = sr ? config_->sr_check_user : config_->health_check_user;
    target.password = password(target.user, sr ? config_->sr_check_password : config_->health_check_password);
    target.database = sr ? config_->sr_check_database : config_->health_check_database;
    if (backend.connect_timeout > 0) target.connect_timeout = Milliseconds(backend.connect_timeout);
    if (backend.health_check_timeout > 0) target.query_timeout = std::chrono::seconds(backend.health_check_timeout);
    if (target.user.empty() && !warned_) {
      warned_ = true;
      log::warning("neither sr_check_user nor health_check_user is set: roles of the nodes cannot be found out");
    }
    if (target.address.empty()) {
      ProbeAnswer answer;
      answer.answer = shmem::Answer::Unresolved;
      return answered(id, answer);
    }
    target.replication = replication_.wants_rows(id);
    target.pids = orphans_.pids(id);
    target.end = orphans_.overdue(id);
    node.last.address.assign(target.address);
    node.probe->ask(target);
  }

  std::string password(const std::string& user, const std::string& own) const {
    if (!own.empty()) return clear_text(own, "the configuration");
    std::ifstream file(config_->resolve_path(config_->pool_passwd));
    if (!file || config_->pool_passwd.empty()) return {};
    std::ostringstream text;
    text << file.rdbuf();
    for (const auto& [name, secret] : config::parse_userlist(text.str()).users) {
      if (name == user) return clear_text(secret, config_->pool_passwd);
    }
    return {};
  }

  // libpq needs the password itself; an md5 hash it takes nowhere, and the server's refusal says so.
  std::string clear_text(const std::string& stored, std::string_view where) const {
    const auto secret = auth::Secret::parse(stored, context_.password_key);
    if (secret && secret->kind() == auth::Secret::Kind::Plain) return secret->plain();
    if (!std::exchange(warned_secret_, true)) {
      log::warning("the password of the checks in {} cannot be used: {}", where, secret ? "it is a hash" : secret.error().one_line());
    }
    return {};
  }

  void answered(int id, const ProbeAnswer& answer) {
    orphans_.answered(id, answer);
    Watched& node = nodes_[static_cast<std::size_t>(id)];
    const NodeHealth before = node.health;
    node.health = judge(before, answer.answer, static_cast<int>(config_->backends[static_cast<std::size_t>(id)].health_check_max_retries));
    shmem::Observation now = node.last;
    ++now.checks;
    if (answer.answer != shmem::Answer::Ok) ++now.failures;
    now.answer = answer.answer;
    now.up = node.health.up;
    std::string text = answer_text(answer.answer);
    if (answer.answer != shmem::Answer::Ok && !answer.text.empty()) text += ": " + answer.text;
    now.text.assign(text);
    if (answer.answer == shmem::Answer::Ok) {
      now.in_recovery = static_cast<std::int8_t>(answer.in_recovery);
      now.lsn = answer.lsn;
      now.max_connections = answer.max_connections;
      node.others.saw(answer.clients, context_.ledger->leased_on(id));
      now.reserved_connections = answer.reserved_connections + node.others.count();
      now.observed_at = epoch_seconds(wall_now());
    }
    const bool ask_primary = replication_.answered(*config_, id, answer);
    now.replication_state.assign(replication_.row(id).state);
    now.sync_state.assign(replication_.row(id).sync_state);
    const bool changed = now.up != node.last.up || now.in_recovery != node.last.in_recovery || now.answer != node.last.answer ||
                         now.address.view() != node.last.address.view() || node.last.checks == 0;
    if (changed && (node.last.checks > 0 || !now.up)) {
      log::print(now.up ? log::Level::Log : log::Level::Warning, {.client = {}, .database = {}, .user = {}, .application = {}, .node = id}, "health: node {} is {}{}{}", id,
                 !now.up ? "not usable" : now.answer == shmem::Answer::Silent ? "in doubt" : "usable", text.empty() ? "" : ": ", text);
    }
    node.last = now;
    context_.mapping->observations().publish(id, now);
    if (changed) context_.wakes->at(process::RoleContext::kParentWake).notify();
    // When this turn is over: the probe whose answer this is may be the primary's own.
    if (ask_primary) loop_.defer([this, primary = nodes_seen_.primary] { ask_if_there(primary); });
  }

  process::RoleContext& context_;
  EventLoop loop_;
  std::shared_ptr<const config::Config> config_;
  HostResolver resolver_;
  Replication replication_;
  Orphans orphans_;
  shmem::NodeView nodes_seen_;
  std::vector<Watched> nodes_;
  SignalEvent on_term_, on_int_, on_hup_;
  FdEvent on_wake_;
  Timer tick_;
  Timer orphans_timer_;
  bool warned_ = false;
  mutable bool warned_secret_ = false;
};

}  // namespace

int health_main(process::RoleContext& context) {
  log::set_process_name("health");
  std::signal(SIGPIPE, SIG_IGN);
  return Health(context).run();
}

}  // namespace weir::health
