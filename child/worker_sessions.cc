// The sessions of a child: accepted, asleep, parked, ended. See worker.h.
#include <algorithm>
#include <utility>

#include "child/balancer.h"
#include "child/client_login.h"
#include "child/client_session.h"
#include "child/listener.h"
#include "child/session_snapshot.h"
#include "child/shared_rows.h"
#include "child/siblings.h"
#include "child/sleepers.h"
#include "child/worker.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/config/config.h"
#include "common/shmem/mapping.h"

namespace weir::child {
namespace {

constexpr Milliseconds kParkTick{250};
// Idle sessions become snapshots after kSleepAfter; if more than kAwake are idle, after kSleepSoon.
constexpr Milliseconds kSleepSoon{100};
constexpr Milliseconds kSleepAfter{1000};
constexpr std::size_t kAwake = 128;
// A client that has said something within that time is moved with its load.
constexpr std::chrono::seconds kActive{1};
// A session of which the snapshot has more bytes stays as it is.
constexpr std::size_t kLargest = 16U << 10U;

}  // namespace

int Worker::take_slot() {
  int slot = static_cast<int>(sessions_.size());
  if (!free_slots_.empty()) {
    slot = free_slots_.back();
    free_slots_.pop_back();
  } else {
    sessions_.emplace_back();
  }
  ++session_count_;
  rows_->set_clients(session_count_);
  return slot;
}

void Worker::free_slot(int slot) {
  rows_->forget_session(slot);
  free_slots_.push_back(slot);
  --session_count_;
  rows_->set_clients(session_count_);
  last_activity_ = loop_.now();
  listener_->reconsider();
  maybe_exit();
}

void Worker::accepted(UniqueFd fd, bool, std::string peer, int peer_port) {
  const int slot = take_slot();
  ++served_;
  rows_->count_served();
  sessions_[static_cast<std::size_t>(slot)] = std::make_unique<ClientSession>(*this, slot, std::move(fd), std::move(peer), peer_port);
}

void Worker::session_ended(ClientSession& session) {
  auto& slot = sessions_[static_cast<std::size_t>(session.slot())];
  if (slot.get() != &session) return;
  unpark(session);
  forget_moved(session);
  loop_.destroy_later(std::move(slot));
  free_slot(session.slot());
}

void Worker::may_sleep_soon() {
  if (sleep_armed_) return;
  sleep_armed_ = true;
  sleep_timer_.arm(kSleepSoon);
}

void Worker::put_to_sleep() {
  sleep_armed_ = false;
  const Monotonic now = loop_.now();
  balancer_->look(now);
  const auto may = [&](const std::unique_ptr<ClientSession>& session) { return session != nullptr && !session->is_too_large() && session->idle_for(now, kSleepSoon) && session->can_sleep(); };
  const auto idle = static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), may));
  const Milliseconds after = idle > kAwake ? kSleepSoon : kSleepAfter;
  for (auto& session : sessions_) {
    if (session == nullptr) continue;
    if (!session->keeps_its_set() && !session->is_too_large()) may_sleep_soon();
    if (!session->idle_for(now, after) || !may(session)) continue;
    const std::optional<std::string> snapshot = session->snapshot(ClientSession::For::ThisProcess);
    if (!snapshot || snapshot->size() > kLargest) {
      session->note_too_large();
      continue;
    }
    Sleepers::Asleep asleep{session->leave(), std::make_unique<char[]>(snapshot->size()), snapshot->size(), session->active_at(), session->idle_until()};
    std::copy(snapshot->begin(), snapshot->end(), asleep.snapshot.get());
    unpark(*session);
    const int slot = session->slot();
    loop_.destroy_later(std::move(session));
    if (!sleepers_->add(slot, asleep)) restore(slot, std::move(asleep));
  }
  rows_->set_asleep(sleepers_->count());
}

void Worker::wake_sleeper(int slot) {
  Sleepers::Asleep asleep = sleepers_->take(slot);
  if (!asleep.valid()) return;
  restore(slot, std::move(asleep)).wake();
  rows_->set_asleep(sleepers_->count());
  may_sleep_soon();
}

void Worker::wake_all_sleepers() {
  for (std::size_t slot = 0; sleepers_->count() > 0 && slot < sessions_.size(); ++slot) {
    if (Sleepers::Asleep asleep = sleepers_->take(static_cast<int>(slot)); asleep.valid()) restore(static_cast<int>(slot), std::move(asleep));
  }
}

ClientSession& Worker::restore(int slot, Sleepers::Asleep asleep) {
  std::optional<SessionSnapshot> snapshot = decode_snapshot(as_bytes(asleep.bytes()));
  WEIR_CHECK(snapshot.has_value());  // as this process has made it
  auto& session = sessions_[static_cast<std::size_t>(slot)];
  session = std::make_unique<ClientSession>(*this, slot, std::move(asleep.socket), std::move(*snapshot), asleep.active_at);
  return *session;
}

Monotonic Worker::check_sleepers(Monotonic now) {
  std::vector<int> over;
  Monotonic next = Monotonic::max();
  sleepers_->for_each([&](int slot, const Sleepers::Asleep& asleep) {
    if (asleep.until <= now) over.push_back(slot);
    next = std::min(next, asleep.until > now ? asleep.until : Monotonic::max());
  });
  for (const int slot : over) restore(slot, sleepers_->take(slot)).check_times(now);
  return next;
}

// -------------------------------------------------------------------------------------- from one child to another

void Worker::move_soon(const ClientSession& session) {
  // Not here: the session is in the middle of its work.
  loop_.defer([this, slot = session.slot(), key = session.cancel_key()] {
    ClientSession* still = session_at(slot);
    if (still != nullptr && still->cancel_key() == key && still->move_to() >= 0) move(*still, still->move_to());
  });
}

void Worker::give_clients(int child, int thousandths) {
  std::vector<ClientSession*> active;
  for (auto& session : sessions_) {
    if (session == nullptr) continue;
    session->should_move(-1);
    if (session->may_move() && loop_.now() - session->active_at() < kActive) active.push_back(session.get());
  }
  if (child < 0) return;
  const std::size_t count = (active.size() * static_cast<std::size_t>(thousandths) + 999) / 1000;
  for (std::size_t i = 0; i < std::min(count, active.size()); ++i) {
    active[i]->should_move(child);
    move(*active[i], child);
  }
}

bool Worker::move(ClientSession& session, int child) {
  if (stopping_ != Stop::None || !session.can_sleep()) return false;
  const std::optional<std::string> snapshot = session.snapshot(ClientSession::For::Another);
  if (!snapshot) return false;
  const int slot = session.slot();
  if (!siblings_->send(child, Siblings::Kind::Client, *snapshot, session.socket())) return false;
  unpark(session);
  forget_moved(session);
  session.leave();
  rows_->count_moved();
  loop_.destroy_later(std::move(sessions_[static_cast<std::size_t>(slot)]));
  free_slot(slot);
  return true;
}

// This child ends, and its clients go on: those that are idle with the others, in turn. The rest follows when it is.
void Worker::move_idle_clients() {
  if (stopping_ != Stop::None) return;
  std::vector<int> others;
  for (int slot = 0; slot < context_.mapping->children(); ++slot) {
    if (slot != context_.slot && context_.mapping->child_row(slot).running()) others.push_back(slot);
  }
  if (others.empty()) return;
  wake_all_sleepers();
  std::size_t next = 0;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    ClientSession* session = session_at(static_cast<int>(i));
    if (session == nullptr || !session->may_move() || !session->can_sleep()) continue;
    move(*session, others[next++ % others.size()]);
  }
  rows_->set_asleep(sleepers_->count());
}

void Worker::forget_moved(const ClientSession& session) {
  for (auto [it, end] = moved_here_.equal_range(session.cancel_key().pid); it != end; ++it) {
    if (it->second != session.slot()) continue;
    moved_here_.erase(it);
    return;
  }
}

void Worker::adopt_client(Bytes bytes, UniqueFd socket) {
  std::optional<SessionSnapshot> snapshot = decode_snapshot(bytes);
  if (!snapshot || !socket.valid()) {
    log::error("a client that came from another child is not understood, and is cut off");
    return;
  }
  snapshot->number = 0;
  const int slot = take_slot();
  const std::uint32_t pid = snapshot->cancel_pid;
  auto& session = sessions_[static_cast<std::size_t>(slot)];
  session = std::make_unique<ClientSession>(*this, slot, std::move(socket), std::move(*snapshot), loop_.now());
  moved_here_.emplace(pid, slot);
  rows_->publish_session(*session);
  if (stopping_ == Stop::Fast) return session->shut_down();
  may_sleep_soon();
}

ClientSession* Worker::session_at(int slot) {
  return slot >= 0 && static_cast<std::size_t>(slot) < sessions_.size() ? sessions_[static_cast<std::size_t>(slot)].get() : nullptr;
}

void Worker::park(ClientSession& session) {
  if (std::find(parked_.begin(), parked_.end(), &session) == parked_.end()) parked_.push_back(&session);
  if (!park_timer_.armed()) park_timer_.arm(kParkTick);
}

void Worker::unpark(ClientSession& session) { std::erase(parked_, &session); }

void Worker::wake_parked_soon() {
  if (parked_.empty()) return;
  loop_.defer([this] { wake_parked(); });
}

void Worker::wake_parked() {
  const std::vector<ClientSession*> waiting = parked_;
  for (ClientSession* session : waiting) {
    if (std::find(parked_.begin(), parked_.end(), session) != parked_.end()) session->resume_parked();
  }
  if (!parked_.empty() && !park_timer_.armed()) park_timer_.arm(kParkTick);
}

}  // namespace weir::child
