#include "parent/server.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/base/sqlstate.h"
#include "common/config/diff.h"
#include "common/config/loader.h"
#include "common/config/log_settings.h"
#include "parent/pid_file.h"
#include "parent/sd_notify.h"

namespace weir::parent {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr int kMaxSessions = 65536;
constexpr int kMaxBackends = 4096;  // of a child

}  // namespace

Server::Server(std::shared_ptr<const config::Config> config, int ready_pipe, std::string password_key)
    : config_(std::move(config)), ready_pipe_(ready_pipe) {
  context_.password_key = std::move(password_key);
  context_.salt_seed = std::to_string(secure_random_u64()) + std::to_string(secure_random_u64());
}

std::string Server::pid_file() const { return config_->resolve_path(config_->pid_file_name); }

Status Server::prepare() {
  log::configure(config::log_settings(*config_));
  bool any = false;
  for (const config::BackendConfig& backend : config_->backends) any = any || backend.port != 0;
  if (!any) return fail(make_fatal(sqlstate::kInvalidParameterValue, fmt::format("{}: there is no backend node: set backend_hostname0 and backend_port0", config_->file)));
  if (const pid_t pid = running_pid(pid_file(), true); pid != 0) {
    return fail(make_fatal(sqlstate::kInternalError, fmt::format("pid file \"{}\" found, is another pgweir ({}) running?", pid_file(), pid)));
  }
  WEIR_TRY(pid_file_possible(pid_file()));
  WEIR_TRY(sockets_.open(*config_));
  shmem::MappingPlan plan;
  plan.children = 2 * static_cast<int>(config_->num_init_children);  // a child that drains has its successor beside it
  plan.sessions_per_child = static_cast<int>(std::min<std::int64_t>(config_->max_client_conn > 0 ? config_->max_client_conn + 64 : kMaxSessions, kMaxSessions));
  plan.backends_per_child = kMaxBackends;
  const ledger::LedgerPlan leases{plan.children, kMaxBackends};
  plan.ledger_bytes = ledger::Ledger::bytes(leases);
  plan.recent_writes = static_cast<std::size_t>(config_->track_table_mutation_table_size);
  auto mapping = shmem::Mapping::create(plan);
  if (!mapping) return fail(mapping.error());
  mapping_ = std::move(*mapping);
  ledger_ = std::make_unique<ledger::Ledger>(ledger::Ledger::create(mapping_->ledger_region(), leases));
  mapping_->status().started_at = epoch_seconds(wall_now());
  mapping_->status().parent_pid = getpid();
  wakes_ = std::vector<Wake>(process::RoleContext::kFirstChildWake + static_cast<std::size_t>(plan.children));
  for (int slot = 0; slot < plan.children; ++slot) {
    int pair[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0) {
      return fail(make_fatal(sqlstate::kInternalError, fmt::format("could not create a socket for child processes: {}", std::strerror(errno))));
    }
    parcels_.push_back({UniqueFd(pair[0]), UniqueFd(pair[1])});
  }
  context_.config = config_;
  context_.mapping = mapping_.get();
  context_.ledger = ledger_.get();
  context_.sockets = &sockets_.sockets();
  context_.wakes = &wakes_;
  context_.parcels = &parcels_;
  nodes_ = std::make_unique<NodeTableWriter>(*mapping_);
  supervisor_ = std::make_unique<Supervisor>(loop_, context_);
  return {};
}

int Server::run() {
  log::set_process_name("main");
  watch_signals();
  nodes_->update(*config_);
  supervisor_->start();
  on_wake_.watch_read(loop_, wakes_[process::RoleContext::kParentWake].fd(), [this] { on_wake(); });
  tick_.set(loop_, [this] { tick(); });
  tick_.arm(kTick);
  loop_.run();
  sockets_.unlink_files();
  if (ready_) ::unlink(pid_file().c_str());
  log::info("pgweir has stopped");
  return exit_code_;
}

void Server::watch_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  on_chld_.watch(loop_, SIGCHLD, [this] { supervisor_->reap(); });
  on_term_.watch(loop_, SIGTERM, [this] { stop(StopMode::Smart); });
  on_int_.watch(loop_, SIGINT, [this] { stop(StopMode::Fast); });
  on_quit_.watch(loop_, SIGQUIT, [this] { stop(StopMode::Immediate); });
  on_hup_.watch(loop_, SIGHUP, [this] { reload(); });
  on_usr1_.watch(loop_, SIGUSR1, [this] { supervisor_->signal_all(SIGUSR1); });
  on_usr2_.watch(loop_, SIGUSR2, [] { log::warning("SIGUSR2: an upgrade without a stop comes later"); });
}

void Server::on_wake() {
  wakes_[process::RoleContext::kParentWake].drain();
  for (int slot = 0; slot < mapping_->children(); ++slot) {
    while (const auto request = mapping_->requests(slot).pop()) {
      if (request->kind == shmem::Request::Kind::NodeSeen) nodes_->seen(request->node);
    }
  }
  if (nodes_->update(*config_)) nodes_changed();
  supervisor_->replace_draining();
  announce_ready();
}

void Server::tick() {
  tick_.arm(kTick);
  if (nodes_->update(*config_)) nodes_changed();
  supervisor_->replace_draining();
  supervisor_->watch_health();
  supervisor_->watch_ledger();
  announce_ready();
  if (ready_ && !nodes_->any_usable() && ++waits_ == 3) log::warning("no node can be used: clients wait for the first one");
  if (nodes_->any_usable()) waits_ = 0;
}

void Server::nodes_changed() {
  for (std::size_t i = process::RoleContext::kFirstChildWake; i < wakes_.size(); ++i) wakes_[i].notify();
}

void Server::announce_ready() {
  if (ready_ || !supervisor_->ready()) return;
  ready_ = true;
  if (const Status written = write_pid_file(pid_file(), getpid()); !written) {
    log::error("{}", written.error().one_line());
    if (ready_pipe_ >= 0) {
      const std::string text = written.error().one_line();
      [[maybe_unused]] auto n = ::write(ready_pipe_, text.data(), text.size());
    }
    ready_ = false;
    exit_code_ = 1;
    return stop(StopMode::Immediate);
  }
  sd_notify("READY=1");
  log::info("pgweir successfully started. version 0.1.0");
  if (ready_pipe_ >= 0) {
    [[maybe_unused]] auto n = ::write(ready_pipe_, "", 1);
    ::close(ready_pipe_);
    ready_pipe_ = -1;
  }
}

void Server::stop(StopMode mode) {
  sd_notify("STOPPING=1");
  log::info("stopping ({})", mode == StopMode::Smart ? "smart: waiting for clients to leave" : mode == StopMode::Fast ? "fast" : "immediate");
  sockets_.unlink_files();
  for (auto& socket : sockets_.sockets()) socket.fd.reset();
  supervisor_->stop(mode);
}

void Server::reload() {
  const config::LoadOutcome outcome = config::reload(*config_);
  if (outcome.config == nullptr) {
    for (const config::ConfError& error : outcome.errors) log::error("{}:{}: {}", error.file, error.line, error.message);
    log::error("reload: the configuration has errors, nothing is changed");
    return;
  }
  if (const auto error = config::nothing_to_serve(*outcome.config)) {
    log::error("{}: {}", error->file, error->message);
    log::error("reload: nothing is changed");
    return;
  }
  for (const config::Change& change : config::diff(*config_, *outcome.config)) {
    if (change.needs_restart) {
      log::warning("reload: {} stays \"{}\": a change to \"{}\" needs a restart", change.name, change.before, change.after);
    } else {
      log::info("reload: {} is \"{}\" now, was \"{}\"", change.name, change.after, change.before);
    }
  }
  for (const std::string& notice : outcome.notices) log::info("{}", notice);
  config_ = std::make_shared<const config::Config>(config::keep_startup_parameters(*config_, *outcome.config));
  context_.config = config_;
  log::configure(config::log_settings(*config_));
  context_.config_generation = mapping_->status().config_generation.fetch_add(1) + 1;
  supervisor_->signal_all(SIGHUP);
  if (nodes_->update(*config_)) nodes_changed();
  log::info("reload: done");
}

}  // namespace weir::parent
