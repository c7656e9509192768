#include "child/census.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "child/client_session.h"
#include "child/session_snapshot.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/admin/console_command.h"
#include "common/config/config.h"

namespace weir::child {
namespace {

using admin::PoolCount;
using admin::SocketState;

bool wants(std::uint32_t wanted, admin::Asked what) { return (wanted & static_cast<std::uint32_t>(what)) != 0; }

// Numbers that no two sockets of all children have at a time.
std::uint64_t client_number(Worker& worker, int session) {
  return static_cast<std::uint64_t>(worker.context().slot + 1) << 32U | static_cast<std::uint64_t>(session + 1);
}
std::uint64_t server_number(Worker& worker, const Backend& backend) {
  return static_cast<std::uint64_t>(worker.context().slot + 1) << 32U | 0x80000000U | static_cast<std::uint64_t>(backend.row + 1);
}

std::int64_t epoch_of(Monotonic moment) {
  if (moment == Monotonic{}) return 0;
  return epoch_seconds(wall_now() - std::chrono::duration_cast<Wall::duration>(monotonic_now() - moment));
}

void name_address(const sockaddr_storage& address, std::string& text, std::int32_t& port) {
  char buffer[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, buffer, sizeof buffer);
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, buffer, sizeof buffer);
    port = ntohs(v6.sin6_port);
  }
  text = address.ss_family == AF_UNIX ? "unix" : buffer;
}

// Both ends of a socket; of a Unix socket PORT and the pid of the other process.
void name_ends(int fd, std::int32_t port, admin::SocketFacts& facts) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  facts.port = facts.local_port = port;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) name_address(address, facts.address, facts.port);
  size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) name_address(address, facts.local_address, facts.local_port);
  ucred peer{};
  size = sizeof peer;
  if (facts.address == "unix" && facts.remote_pid == 0 && ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) facts.remote_pid = peer.pid;
}

std::string_view replication_text(const BackendKey& key) {
  if (key.replication.empty()) return "none";
  return key.replication == "database" ? "logical" : "physical";
}

class Taker {
 public:
  Taker(Worker& worker, admin::Census& into) : worker_(worker), into_(into) {
    for (const auto& session : worker.sessions()) {
      if (session == nullptr) continue;
      for (const auto& backend : session->held()) holders_.emplace(backend.get(), session.get());
    }
  }

  void count_pools() {
    for (const auto& session : worker_.sessions()) {
      if (session != nullptr) count(*session);
    }
    worker_.sleepers().for_each([this](int, const Sleepers::Asleep& asleep) {
      if (const auto snapshot = decode_snapshot(as_bytes(asleep.bytes()))) ++pool(snapshot->database, snapshot->user).count(PoolCount::ClActive);
    });
    for (const Backend* backend : worker_.rows().backends()) {
      if (backend != nullptr) count(*backend);
    }
    worker_.backends().each_closing([this](const std::string& database, const std::string& user, int closing) {
      pool(database, user).count(PoolCount::SvClosing) += closing;
    });
    for (auto& [key, pool] : pools_) into_.pools.push_back(std::move(pool));
  }

  void list_clients() {
    for (const auto& session : worker_.sessions()) {
      if (session == nullptr || session->state() == ClientState::Startup || session->state() == ClientState::Closing) continue;
      admin::SocketFacts facts = session->facts();
      facts.self = client_number(worker_, session->slot());
      facts.child = getpid();
      if (const Backend* backend = session->linked()) {
        facts.link = backend->row >= 0 ? server_number(worker_, *backend) : 0;
        facts.node = backend->node();
      }
      name_ends(session->fd(), static_cast<std::int32_t>(worker_.config().port), facts);
      into_.clients.push_back(std::move(facts));
    }
    worker_.sleepers().for_each([this](int slot, const Sleepers::Asleep& asleep) { list_asleep(slot, asleep); });
  }

  void list_servers() {
    for (const Backend* backend : worker_.rows().backends()) {
      if (backend != nullptr && backend->state() != BackendState::Closing) list(*backend);
    }
  }

 private:
  void list_asleep(int slot, const Sleepers::Asleep& asleep) {
    const auto snapshot = decode_snapshot(as_bytes(asleep.bytes()));
    if (!snapshot) return;
    admin::SocketFacts facts;
    facts.database = snapshot->database;
    facts.user = snapshot->user;
    facts.replication = "none";
    facts.state = SocketState::Idle;
    facts.connected_at = snapshot->connected_epoch;
    facts.requested_at = epoch_of(asleep.active_at);
    facts.application_name = snapshot->application_name.substr(0, 63);
    facts.prepared_statements = static_cast<std::int32_t>(snapshot->statements.size());
    facts.id = static_cast<std::int32_t>(snapshot->cancel_pid);
    facts.self = client_number(worker_, slot);
    facts.child = getpid();
    name_ends(asleep.socket.get(), static_cast<std::int32_t>(worker_.config().port), facts);
    into_.clients.push_back(std::move(facts));
  }

  admin::PoolFacts& pool(const std::string& database, const std::string& user) {
    admin::PoolFacts& facts = pools_[{database, user}];
    facts.database = database;
    facts.user = user;
    return facts;
  }

  void count(const ClientSession& session) {
    if (session.state() == ClientState::Closing) return;
    if (session.state() == ClientState::Startup) {
      ++into_.logins;
      return;
    }
    admin::PoolFacts& facts = pool(session.identity().database, session.identity().user);
    ++facts.count(session.waits() ? PoolCount::ClWaiting : PoolCount::ClActive);
    facts.longest_wait_us = std::max(facts.longest_wait_us, session.waited_us());
    if (!session.cancelling()) return;
    ++facts.count(PoolCount::ClActiveCancelReq);
    ++facts.count(PoolCount::SvActiveCancel);
  }

  void count(const Backend& backend) {
    if (backend.state() == BackendState::Closing) return;
    admin::PoolFacts& facts = pool(backend.key().database, backend.key().user);
    switch (state_of(backend)) {
      case SocketState::BeingCanceled: ++facts.count(PoolCount::SvBeingCanceled); break;
      case SocketState::Idle: ++facts.count(PoolCount::SvIdle); break;
      case SocketState::Used: ++facts.count(PoolCount::SvUsed); break;
      case SocketState::Tested: ++facts.count(PoolCount::SvTested); break;
      case SocketState::Login: ++facts.count(PoolCount::SvLogin); break;
      default: ++facts.count(PoolCount::SvActive); break;
    }
  }

  SocketState state_of(const Backend& backend) const {
    switch (backend.state()) {
      case BackendState::Connecting:
      case BackendState::Authenticating: return SocketState::Login;
      case BackendState::Idle: return SocketState::Idle;
      case BackendState::Resetting: return SocketState::Tested;
      default: break;
    }
    const ClientSession* holder = holder_of(backend);
    return holder != nullptr && holder->linked() == &backend && holder->cancelling() && holder->answered() ? SocketState::BeingCanceled : SocketState::Active;
  }

  const ClientSession* holder_of(const Backend& backend) const {
    const auto it = holders_.find(&backend);
    return it != holders_.end() ? it->second : nullptr;
  }

  void list(const Backend& backend) {
    admin::SocketFacts facts;
    facts.database = backend.key().database;
    facts.user = backend.key().user;
    facts.replication = replication_text(backend.key());
    facts.state = state_of(backend);
    facts.connected_at = epoch_of(backend.connected_at);
    facts.close_needed = backend.tainted;
    facts.self = server_number(worker_, backend);
    facts.remote_pid = backend.pid;
    facts.prepared_statements = static_cast<std::int32_t>(backend.prepared.size() + backend.shared.size());
    facts.id = static_cast<std::int32_t>((static_cast<std::uint32_t>(worker_.context().slot) << 20U | 0x80000U | static_cast<std::uint32_t>(backend.row)) + 1);
    facts.child = getpid();
    facts.node = backend.node();
    facts.requested_at = epoch_of(backend.released_at);
    if (const ClientSession* holder = holder_of(backend)) {
      facts.link = client_number(worker_, holder->slot());
      const admin::SocketFacts client = holder->facts();
      facts.requested_at = client.requested_at;
      facts.application_name = client.application_name;
    }
    const shmem::Node& node = worker_.nodes().nodes.at(static_cast<std::size_t>(backend.node()));
    name_ends(backend.fd(), node.port, facts);
    into_.servers.push_back(std::move(facts));
  }

  Worker& worker_;
  admin::Census& into_;
  std::unordered_map<const Backend*, const ClientSession*> holders_;
  std::map<std::pair<std::string, std::string>, admin::PoolFacts> pools_;
};

}  // namespace

void take_census(Worker& worker, std::uint32_t wanted, admin::Census& into) {
  Taker taker(worker, into);
  if (wants(wanted, admin::Asked::Pools)) taker.count_pools();
  if (wants(wanted, admin::Asked::Clients)) taker.list_clients();
  if (wants(wanted, admin::Asked::Servers)) taker.list_servers();
}

}  // namespace weir::child
