// Processes that die, stand still and compete while they use the ledger.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/random.h"
#include "common/base/unique_fd.h"
#include "test/unit/ledger/support.h"
#include "test/unit/shmem/shared_object.h"

namespace weir::ledger {
namespace {

using detail::Step;
using shmem::Deadline;
using shmem::Fork;

// Where the process that sets it dies, or stands still.
Step the_step = Step::Locked;
void die_there(Step step) {
  if (step == the_step) shmem::die();
}
void stop_there(Step step) {
  if (step == the_step) raise(SIGSTOP);
}

std::int64_t now_ms() { return monotonic_milliseconds(monotonic_now()); }

// A process that dies at STEP while it does WORK in slot 1.
template <typename Work>
void die_at(Ledger& ledger, Step step, Work work) {
  Fork process([&] {
    the_step = step;
    LedgerTest::hook(ledger, die_there);
    work();
  });
  ASSERT_TRUE(process.was_killed()) << "step " << static_cast<int>(step) << " was not come by";
}

TEST(LedgerProcesses, who_dies_with_the_mutex_leaves_sums_that_are_made_right) {
  for (const Step step : {Step::Locked, Step::NameWritten, Step::RowFilled, Step::RowHeld, Step::Summed}) {
    SCOPED_TRACE(static_cast<int>(step));
    SharedLedger ledger({4, 16});
    Ask ask{.limits = limits(2)};
    ASSERT_EQ(ask.of(*ledger, 0).outcome, Outcome::Done);
    Ask doomed = ask;
    if (step == Step::NameWritten) doomed.user = "new";
    die_at(*ledger, step, [&] { doomed.of(*ledger, 1); });
    const bool took = step == Step::RowHeld || step == Step::Summed;
    // The next one repairs before it decides.
    EXPECT_EQ(ask.of(*ledger, 2).outcome, took ? Outcome::Refused : Outcome::Done);
    EXPECT_EQ(ledger->audit(), "");
    Wakes wakes;
    EXPECT_EQ(ledger->reclaim(1, 10, wakes), Outcome::Done);
    EXPECT_EQ(ledger->orphans().size(), took ? 1U : 0U);
    for (const Orphan& orphan : ledger->orphans()) ledger->free_orphan(orphan.slot, orphan.lease, 11);
    EXPECT_EQ(ledger->leased_on(0), took ? 1 : 2);
    EXPECT_EQ(ledger->audit(), "");
  }
}

TEST(LedgerProcesses, what_was_given_back_before_a_death_is_free) {
  for (const Step step : {Step::Locked, Step::Settling}) {
    SharedLedger ledger({4, 16});
    const Ask ask{.limits = limits(1)};
    die_at(*ledger, step, [&] {
      LedgerTest::hook(*ledger, nullptr);
      const auto lease = ask.of(*ledger, 1);
      LedgerTest::hook(*ledger, die_there);
      ledger->give_back(1, lease.lease, 5);
    });
    EXPECT_EQ(ask.of(*ledger, 2).outcome, Outcome::Done) << static_cast<int>(step);
    EXPECT_EQ(ledger->audit(), "");
  }
}

TEST(LedgerProcesses, a_taker_that_dies_leaves_one_too_many_never_one_too_few) {
  SharedLedger ledger({4, 16});
  const Ask ask{.limits = limits(1)};
  const auto held = ask.of(*ledger, 0);
  ledger->hand_over(0, held.lease, 2);
  die_at(*ledger, Step::Adopting, [&] { ledger->adopt(1, 0, held.lease, {"d", "u", 0}, -1, 3); });
  EXPECT_EQ(ledger->audit(), "") << "whoever looks has repaired";
  EXPECT_EQ(ledger->leased_on(0), 2);
  EXPECT_EQ(ask.of(*ledger, 2).outcome, Outcome::Refused);
  EXPECT_FALSE(ledger->adopted(0, held.lease));
  Wakes wakes;
  EXPECT_EQ(ledger->reclaim(1, 10, wakes), Outcome::Done);
  for (const Orphan& orphan : ledger->orphans()) ledger->free_orphan(orphan.slot, orphan.lease, 11);
  ledger->begin_closing(0, held.lease, 12);
  ledger->give_back(0, held.lease, 13);
  EXPECT_EQ(ledger->leased_on(0), 0);
  EXPECT_EQ(ledger->audit(), "");
}

TEST(LedgerProcesses, a_limit_half_set_is_none) {
  SharedLedger ledger({4, 16});
  const std::uint64_t before = ledger->overrides_epoch();
  Override user{OverrideKind::User, "", "u", {}};
  user.limits.pool_size = 1;
  die_at(*ledger, Step::OverrideHalf, [&] { ledger->set_override(user); });
  std::vector<Override> all;
  std::uint64_t epoch = 0;
  ASSERT_TRUE(ledger->read_overrides(all, epoch));
  EXPECT_TRUE(all.empty());
  EXPECT_NE(epoch, before) << "whoever has an older list reads again";
}

TEST(LedgerProcesses, a_stopped_holder_blocks_nobody_and_is_found) {
  SharedLedger ledger({4, 16});
  const Ask ask{.limits = limits(2)};
  const auto mine = ask.of(*ledger, 0);
  const auto other = ask.of(*ledger, 0);
  Fork stopped([&] {
    the_step = Step::Locked;
    LedgerTest::hook(*ledger, stop_there);
    ask.of(*ledger, 1);
  });
  int status = 0;
  ASSERT_EQ(waitpid(stopped.pid(), &status, WUNTRACED), stopped.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(ask.of(*ledger, 2).outcome, Outcome::Busy);
  // What a child has goes on: to a client and back, and even away.
  ledger->mark_idle(0, mine.lease, 5);
  ledger->mark_in_use(0, mine.lease, 6);
  ledger->begin_closing(0, other.lease, 7);
  EXPECT_EQ(ledger->give_back(0, other.lease, 8).count, 0);
  std::vector<CallIn> calls;
  EXPECT_FALSE(ledger->call_ins(0, 9, calls));
  Wakes wakes;
  EXPECT_EQ(ledger->reclaim(3, 9, wakes), Outcome::Busy);
  EXPECT_EQ(ledger->set_override({OverrideKind::User, "", "u", {.pool_size = 1}}), Outcome::Busy);
  EXPECT_EQ(ledger->stuck_holder(now_ms() + 2000, 1000), stopped.pid());
  EXPECT_EQ(ledger->stuck_holder(now_ms(), 1'000'000), 0) << "not for so long yet";
  kill(stopped.pid(), SIGKILL);
  ASSERT_TRUE(stopped.was_killed());
  EXPECT_EQ(ask.once(*ledger, 2).outcome, Outcome::Stale) << "its successor trusts no limits";
  EXPECT_EQ(ask.of(*ledger, 2).outcome, Outcome::Done) << "and has settled what was returned";
  EXPECT_EQ(ledger->stuck_holder(now_ms() + 5000, 1000), 0);
  EXPECT_EQ(ledger->audit(), "");
}

// ---- many processes, a server that counts for itself, and a parent that kills and reclaims ----

constexpr int kChildren = 6;
constexpr int kUsers = 3;

// The server side of a connection: who made it, and for which user.
struct Hello {
  std::int32_t slot;
  std::int32_t user;
};

Limits hammer_limits() { return limits(3, 5, 4, 5); }

// A child: takes, keeps, gives, closes and gives back, at random. Each connection is a socket that the server (the parent) counts;
// it is given back when the server has closed its end.
class Hammer {
 public:
  Hammer(Ledger& ledger, int slot, int server, std::uint64_t seed) : ledger_(ledger), slot_(slot), server_(server), random_(seed) {}

  [[noreturn]] void run() {
    while (true) {
      for (int user = 0; user < kUsers; ++user) {
        if (wait_[static_cast<std::size_t>(user)] >= 0 || random_.next() % 4 == 0) take(user);
      }
      std::erase_if(connections_, [&](Connection& connection) { return handle(connection); });
      if (random_.next() % 5 == 0) answer();
      usleep(static_cast<useconds_t>(50 + random_.next() % 500));  // the machine may be small
    }
  }

 private:
  struct Connection {
    LeaseId lease;
    UniqueFd fd;
    bool closing = false;
  };

  void take(int user) {
    Ask ask{.user = std::to_string(user), .limits = hammer_limits(), .since = now_ms(), .wait = wait_[static_cast<std::size_t>(user)]};
    ask.may_wait = random_.next() % 2 == 0;
    const auto result = ask.of(ledger_, slot_, now_ms());
    wait_[static_cast<std::size_t>(user)] = result.wait;
    if (result.outcome != Outcome::Done) return;
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) _exit(3);
    UniqueFd mine(pair[0]);
    const UniqueFd theirs(pair[1]);
    connect(user, theirs.get());
    connections_.push_back({result.lease, std::move(mine)});
  }

  // "Connects": the server gets the other end, with the name.
  void connect(int user, int fd) const {
    Hello hello{slot_, user};
    iovec part{&hello, sizeof hello};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (sendmsg(server_, &message, 0) < 0) _exit(4);
  }

  // True: it is gone.
  bool handle(Connection& connection) {
    if (!connection.closing) {
      if (random_.next() % 3 == 0) ledger_.mark_idle(slot_, connection.lease, now_ms());
      if (random_.next() % 3 == 0) ledger_.mark_in_use(slot_, connection.lease, now_ms());
      if (random_.next() % 8 != 0) return false;
      close(connection);
    }
    char byte = 0;
    if (recv(connection.fd.get(), &byte, 1, MSG_DONTWAIT) != 0) return false;
    ledger_.give_back(slot_, connection.lease, now_ms());
    return true;
  }

  void close(Connection& connection) {
    ledger_.begin_closing(slot_, connection.lease, now_ms());
    shutdown(connection.fd.get(), SHUT_WR);
    connection.closing = true;
  }

  void answer() {
    std::vector<CallIn> calls;
    if (!ledger_.call_ins(slot_, now_ms(), calls)) return;
    for (Connection& connection : connections_) {
      if (!connection.closing && !calls.empty() && calls.front().lease == connection.lease) close(connection);
    }
    for (WaitId& wait : wait_) {
      if (random_.next() % 20 == 0) ledger_.stop_waiting(slot_, std::exchange(wait, -1));
    }
  }

  Ledger& ledger_;
  int slot_;
  int server_;
  Random random_;
  std::vector<Connection> connections_;
  std::array<WaitId, kUsers> wait_{-1, -1, -1};
};

// Counts its connections, and knows by itself when there are too many.
class CountingServer {
 public:
  CountingServer() {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair.data()) != 0) std::abort();
    inbox_ = UniqueFd(pair[0]);
    door_ = UniqueFd(pair[1]);
  }
  int door() const { return door_.get(); }
  // A forked child: the server's ends are not its own, and must not keep connections open.
  void leave() {
    connections_.clear();
    inbox_.reset();
  }

  // One look at everything. A connection that ended is closed before a new one is let in: it may be given back only after that.
  void turn() {
    while (true) {
      drop_ended();
      if (!accept_one()) return;
    }
  }
  // For a newcomer, a millisecond at most: ends are looked for in any case.
  void wait() const {
    pollfd newcomer{inbox_.get(), POLLIN, 0};
    poll(&newcomer, 1, 1);
  }
  bool has_of(int slot) const {
    for (const auto& connection : connections_) {
      if (connection.hello.slot == slot) return true;
    }
    return false;
  }
  int total = 0;
  int most = 0;
  bool over = false;

 private:
  struct Connection {
    UniqueFd fd;
    Hello hello;
  };

  void drop_ended() {
    std::erase_if(connections_, [](const Connection& connection) {
      char byte = 0;
      return recv(connection.fd.get(), &byte, 1, MSG_DONTWAIT) == 0;
    });
  }

  bool accept_one() {
    Hello hello{};
    iovec part{&hello, sizeof hello};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(inbox_.get(), &message, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof hello)) return false;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    connections_.push_back({UniqueFd(fd), hello});
    ++total;
    check(hello);
    return true;
  }

  void check(const Hello& newest) {
    const auto all = static_cast<std::int32_t>(connections_.size());
    std::int32_t of_user = 0;
    for (const auto& connection : connections_) of_user += connection.hello.user == newest.user ? 1 : 0;
    most = std::max(most, static_cast<int>(all));
    over = over || all > hammer_limits().database || of_user > hammer_limits().pool_size;
  }

  UniqueFd inbox_;
  UniqueFd door_;
  std::vector<Connection> connections_;
};

TEST(LedgerProcesses, no_sample_is_over_a_limit_while_children_compete_and_are_killed) {
  SharedLedger ledger({kChildren, 32});
  CountingServer server;
  std::array<std::unique_ptr<Fork>, kChildren> children;
  std::uint64_t seed = 1;
  const auto start = [&](int slot) {
    children[static_cast<std::size_t>(slot)] = std::make_unique<Fork>([&] {
      server.leave();
      Hammer(*ledger, slot, server.door(), ++seed * 7919).run();
    });
    ++seed;
  };
  for (int slot = 0; slot < kChildren; ++slot) start(slot);
  Random random(99);
  const std::int64_t end = now_ms() + 2000;
  const Deadline too_long;
  std::int64_t next_kill = now_ms() + 20;
  int kills = 0;
  const auto seen_enough = [&] { return now_ms() >= end && kills > 10 && server.total > 100 && server.most >= hammer_limits().database; };
  while (!seen_enough() && !server.over && !too_long.over()) {
    server.wait();
    server.turn();
    ASSERT_LE(ledger->leased_on(0), hammer_limits().node + 1) << "but for the one in flight";
    if (now_ms() < next_kill) continue;
    next_kill = now_ms() + 30 + static_cast<std::int64_t>(random.next() % 100);
    const int slot = static_cast<int>(random.next() % kChildren);
    kill(children[static_cast<std::size_t>(slot)]->pid(), SIGKILL);
    children[static_cast<std::size_t>(slot)]->wait();
    ++kills;
    // As the parent does it: the leases become orphans, and are freed when the server has none of its connections any more.
    Wakes wakes;
    const Deadline deadline;
    while (ledger->reclaim(slot, now_ms(), wakes) != Outcome::Done && !deadline.over()) server.turn();
    do server.turn();
    while (server.has_of(slot) && !deadline.over());
    for (const Orphan& orphan : ledger->orphans()) ledger->free_orphan(orphan.slot, orphan.lease, now_ms());
    start(slot);
  }
  EXPECT_FALSE(server.over);
  EXPECT_GT(kills, 10);
  EXPECT_GT(server.total, 100);
  EXPECT_EQ(server.most, hammer_limits().database) << "the limit was reached";
  for (auto& child : children) child.reset();
  for (int slot = 0; slot < kChildren; ++slot) {
    Wakes wakes;
    ASSERT_EQ(ledger->reclaim(slot, now_ms(), wakes), Outcome::Done);
  }
  for (const Orphan& orphan : ledger->orphans()) ledger->free_orphan(orphan.slot, orphan.lease, now_ms());
  EXPECT_EQ(ledger->leased_on(0), 0) << "nothing is lost";
  EXPECT_EQ(ledger->audit(), "");
}

}  // namespace
}  // namespace weir::ledger
