#include "parent/supervisor.h"

#include <bsd/unistd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "child/child_main.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/ledger/ledger.h"
#include "common/process/entry.h"
#include "common/shmem/mapping.h"
#include "health/health_main.h"

namespace weir::parent {
namespace {

constexpr std::chrono::seconds kGrace{15};
constexpr std::chrono::seconds kHealthSilence{15};
constexpr std::chrono::milliseconds kLedgerRetry{5};
constexpr std::int64_t kLedgerHeldMs = 1000;

}  // namespace

Supervisor::Supervisor(EventLoop& loop, process::RoleContext& context) : loop_(loop), context_(context) {}

void Supervisor::start() {
  auto health = std::make_unique<Slot>();
  health->title = "health";
  slots_.push_back(std::move(health));
  for (int i = 0; i < context_.mapping->children(); ++i) {
    auto slot = std::make_unique<Slot>();
    slot->title = "child " + std::to_string(i);
    slot->child = i;
    slots_.push_back(std::move(slot));
  }
  wanted_children_ = static_cast<int>(context_.config->num_init_children);
  for (auto& slot : slots_) {
    if (slot->child < wanted_children_) spawn(*slot);
  }
}

Supervisor::Slot* Supervisor::spare() {
  for (auto& slot : slots_) {
    const bool waits = slot->timer != nullptr && slot->timer->armed();
    if (slot->child >= 0 && slot->pid == 0 && !waits) return slot.get();
  }
  return nullptr;
}

void Supervisor::replace_draining() {
  if (stopping_ != StopMode::None) return;
  for (auto& slot : slots_) {
    if (slot->child < 0 || slot->pid == 0 || slot->replaced) continue;
    if (context_.mapping->child_row(slot->child).state != shmem::ChildState::Draining) continue;
    Slot* next = spare();
    if (next == nullptr) return;  // when one of those that drain has ended
    slot->replaced = true;
    spawn(*next);
  }
}

void Supervisor::spawn(Slot& slot) {
  if (stopping_ != StopMode::None) return;
  if (!reclaim(slot)) return spawn_later(slot, kLedgerRetry);
  const pid_t parent = getpid();
  slot.started = monotonic_now();
  // Before the fork: the child may be running, and have said so, before this process goes on.
  if (slot.child >= 0) context_.mapping->child_row(slot.child).state = shmem::ChildState::Starting;
  const pid_t pid = ::fork();
  if (pid == 0) run(slot, parent);
  if (pid < 0) {
    log::error("cannot fork {}: {}", slot.title, std::strerror(errno));
    return spawn_later(slot, std::chrono::seconds(1));
  }
  slot.pid = pid;
}

void Supervisor::run(const Slot& slot, pid_t parent) {
  if (!process::enter_child(&loop_, parent)) _exit(0);
  setproctitle("-pgweir: %s", slot.title.c_str());
  process::RoleContext context = context_;
  context.slot = slot.child;
  int code = 1;
  if (slot.child >= 0) {
    code = child::child_main(context);
  } else {
    // Health has no business with clients.
    for (auto& socket : *context.sockets) socket.fd.reset();
    code = health::health_main(context);
  }
  // No destructors of the parent's objects in a child: they would act on what the parent still uses.
  _exit(code);
}

void Supervisor::reap() {
  int status = 0;
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
    for (auto& slot : slots_) {
      if (slot->pid == pid) ended(*slot, status);
    }
  }
  if (stopping_ != StopMode::None && all_gone()) loop_.stop();
}

void Supervisor::ended(Slot& slot, int status) {
  const pid_t pid = slot.pid;
  slot.pid = 0;
  if (slot.child >= 0) {
    context_.mapping->reset_child(slot.child);
    slot.has_leases = true;
    reclaim(slot);
  }
  if (std::exchange(slot.replaced, false) || stopping_ != StopMode::None) return;
  const bool asked = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const auto lived = std::chrono::duration_cast<std::chrono::milliseconds>(monotonic_now() - slot.started);
  if (!asked) {
    if (WIFSIGNALED(status)) {
      log::warning("{} (pid {}) was ended by signal {} ({}), replacing it", slot.title, pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else {
      log::warning("{} (pid {}) ended with exit code {}, replacing it", slot.title, pid, WEXITSTATUS(status));
    }
  }
  const auto delay = respawn_delay(slot.history, lived);
  if (delay.count() == 0) return spawn(slot);
  log::warning("{} dies as soon as it is started: next try in {} ms", slot.title, delay.count());
  spawn_later(slot, delay);
}

void Supervisor::spawn_later(Slot& slot, std::chrono::milliseconds delay) {
  if (slot.timer == nullptr) slot.timer = std::make_unique<Timer>();
  slot.timer->set(loop_, [this, &slot] { spawn(slot); });
  slot.timer->arm(delay);
}

// What the last process of SLOT held belongs to nobody: health finds out when the servers have ended it.
bool Supervisor::reclaim(Slot& slot) {
  if (!slot.has_leases) return true;
  ledger::Wakes wakes;
  if (context_.ledger->reclaim(slot.child, monotonic_milliseconds(monotonic_now()), wakes) != ledger::Outcome::Done) return false;
  slot.has_leases = false;
  for (int i = 0; i < wakes.count; ++i) context_.wakes->at(process::RoleContext::kFirstChildWake + static_cast<std::size_t>(wakes.children[i])).notify();
  context_.wakes->at(process::RoleContext::kHealthWake).notify();
  return true;
}

void Supervisor::watch_ledger() {
  for (auto& slot : slots_) {
    if (slot->pid == 0) reclaim(*slot);
  }
  const pid_t holder = context_.ledger->stuck_holder(monotonic_milliseconds(monotonic_now()), kLedgerHeldMs);
  if (holder == 0) return;
  for (auto& slot : slots_) {
    if (slot->pid != holder) continue;
    log::warning("{} (pid {}) stands still while all others need the account of connections: it is killed and replaced", slot->title, holder);
    ::kill(holder, SIGKILL);
  }
}

void Supervisor::watch_health() {
  const std::uint64_t beat = context_.mapping->status().health_beat.load(std::memory_order_relaxed);
  const Monotonic now = monotonic_now();
  Slot& health = *slots_.front();
  if (beat != health_beat_ || health.pid == 0 || stopping_ != StopMode::None || health_beat_at_ == Monotonic{}) {
    health_beat_ = beat;
    health_beat_at_ = now;
    return;
  }
  if (now - health_beat_at_ < kHealthSilence) return;
  log::warning("health (pid {}) has shown no sign of life for {} s: it is killed and replaced", health.pid, kHealthSilence.count());
  health_beat_at_ = now;
  ::kill(health.pid, SIGKILL);
}

void Supervisor::signal_all(int signal) {
  for (auto& slot : slots_) {
    if (slot->pid > 0) ::kill(slot->pid, signal);
  }
}

void Supervisor::stop(StopMode mode) {
  if (mode <= stopping_) return;
  stopping_ = mode;
  const int signal = mode == StopMode::Smart ? SIGTERM : mode == StopMode::Fast ? SIGINT : SIGKILL;
  for (auto& slot : slots_) {
    if (slot->timer != nullptr) slot->timer->disarm();
    // Health goes on while clients do; it ends with the last child.
    if (slot->pid > 0 && (slot->child >= 0 || mode == StopMode::Immediate)) ::kill(slot->pid, signal);
  }
  if (mode == StopMode::Fast) {
    grace_.set(loop_, [this] {
      log::warning("some processes did not end within {} s: they are killed", kGrace.count());
      stop(StopMode::Immediate);
    });
    grace_.arm(kGrace);
  }
  if (all_gone()) loop_.stop();
}

bool Supervisor::all_gone() const {
  for (const auto& slot : slots_) {
    if (slot->child >= 0 && slot->pid > 0) return false;
  }
  for (const auto& slot : slots_) {
    if (slot->child < 0 && slot->pid > 0) ::kill(slot->pid, SIGKILL);
  }
  return true;
}

bool Supervisor::ready() const {
  int running = 0;
  for (const auto& slot : slots_) {
    if (slot->child >= 0 && context_.mapping->child_row(slot->child).state == shmem::ChildState::Running) ++running;
  }
  return running >= wanted_children_;
}

}  // namespace weir::parent
