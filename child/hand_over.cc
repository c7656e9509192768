#include "child/hand_over.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "child/backend_cache.h"
#include "child/leases.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/process/role_context.h"

namespace weir::child {
namespace {

constexpr Milliseconds kBusyRetry{2};
constexpr Milliseconds kCheck{20};
constexpr std::size_t kParcelsAtOnce = 64;

bool send_with_descriptor(int socket, std::string_view bytes, int fd) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof fd)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

// The size of what came, -1 if nothing did, 0 if it is of no use. FD is what came with it, if exactly one did.
ssize_t receive_with_descriptor(int socket, std::span<std::byte> room, UniqueFd& fd) {
  iovec part{room.data(), room.size()};
  constexpr std::size_t kMostDescriptors = 8;  // one is expected; others are closed, and none leaks
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return -1;
  std::size_t count = 0;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= one->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(one) + at, sizeof number);
      fd = UniqueFd(number);
      ++count;
    }
  }
  const bool sound = count == 1 && (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return sound ? got : 0;
}

}  // namespace

HandOver::HandOver(Worker& worker) : worker_(worker) {
  timer_.set(worker.loop(), [this] {
    take_in();
    check();
  });
}

HandOver::~HandOver() = default;

void HandOver::start() {
  const auto& channels = *worker_.context().parcels;
  on_parcel_.watch_read(worker_.loop(), channels.at(static_cast<std::size_t>(worker_.context().slot)).receive.get(), [this] { receive(); });
}

// -------------------------------------------------------------------------------------------------------------- giving

bool HandOver::may_give(const Backend& backend) const {
  const bool named = backend.prepared.size() > (backend.prepared.contains(std::string_view()) ? 1U : 0U);
  return backend.alive() && backend.quiet() && backend.lease >= 0 && backend.pid > 0 && backend.state() == BackendState::Idle && backend.status == 'I' &&
         !backend.tainted && !named && backend.key().replication.empty() && backend.key().fixed.empty();
}

bool HandOver::give(std::unique_ptr<Backend>& backend, const ledger::CallIn& call) {
  const process::RoleContext& context = worker_.context();
  const auto to = static_cast<std::size_t>(call.waiter_child);
  if (!call.same_pool || call.waiter_child == context.slot || to >= context.parcels->size() || !may_give(*backend)) return false;
  Parcel parcel;
  parcel.giver = context.slot;
  parcel.lease = backend->lease;
  parcel.node = backend->node();
  parcel.database = backend->key().database;
  parcel.user = backend->key().user;
  parcel.backend_pid = backend->pid;
  parcel.cancel_key = backend->cancel_key;
  parcel.method = worker_.login_info(parcel.database, parcel.user).method;
  parcel.has_statements = !backend->shared.empty();
  parcel.has_drawn = backend->drawn_by != 0;
  parcel.connected_ms = monotonic_milliseconds(backend->connected_at);
  parcel.sent_ms = monotonic_milliseconds(worker_.loop().now());
  parcel.uses = backend->uses;
  parcel.parameters.assign(backend->parameters.begin(), backend->parameters.end());
  if (backend->image != nullptr) parcel.image = *backend->image;
  const std::string bytes = encode_parcel(parcel);
  if (bytes.size() > kMaxParcelBytes) return false;
  backend->set_user(nullptr);
  backend->pause_reading();
  worker_.leases().begin_handing(*backend);
  if (!send_with_descriptor((*context.parcels)[to].send.get(), bytes, backend->fd())) {
    worker_.leases().take_back(*backend);
    return false;
  }
  given_.push_back({std::move(backend), worker_.loop().now()});
  if (!timer_.armed()) timer_.arm(kCheck);
  return true;
}

void HandOver::check() {
  for (std::size_t i = 0; i < given_.size();) {
    Given& one = given_[i];
    const bool over = worker_.loop().now() - one.at >= kPatience;
    // Taken back, nobody can adopt it any more; if that fails, somebody just has.
    if (!worker_.leases().is_adopted(*one.backend) && !(over && worker_.leases().take_back(*one.backend))) {
      ++i;
      continue;
    }
    std::unique_ptr<Backend> backend = std::move(one.backend);
    given_.erase(given_.begin() + static_cast<std::ptrdiff_t>(i));
    if (backend->lease < 0) backend->leave_to_another();
    worker_.backends().handed_away(std::move(backend));
  }
  if (!given_.empty() && !timer_.armed()) timer_.arm(kCheck);
}

// -------------------------------------------------------------------------------------------------------------- taking

void HandOver::receive() {
  const int socket = worker_.context().parcels->at(static_cast<std::size_t>(worker_.context().slot)).receive.get();
  for (std::size_t i = 0; i < kParcelsAtOnce; ++i) {
    UniqueFd fd;
    const std::span<std::byte> room = worker_.scratch().first(kMaxParcelBytes);
    const ssize_t got = receive_with_descriptor(socket, room, fd);
    if (got < 0) break;
    auto parcel = decode_parcel(Bytes(room).first(static_cast<std::size_t>(got)));
    // What is refused here its giver closes after a while.
    if (!parcel || worker_.draining() || !worker_.node_accepts(parcel->node)) continue;
    arrived_.push_back({std::move(*parcel), std::move(fd)});
  }
  take_in();
}

void HandOver::take_in() {
  while (!arrived_.empty()) {
    // By the clock itself: this process may just have been stopped.
    const std::int64_t age = monotonic_milliseconds(monotonic_now()) - arrived_.front().parcel.sent_ms;
    if (age >= 0 && age < kPatience.count() && !adopt(arrived_.front())) return timer_.arm(kBusyRetry);
    arrived_.pop_front();
  }
}

bool HandOver::adopt(Arrived& arrived) {
  Parcel& parcel = arrived.parcel;
  auto backend = std::make_unique<Backend>(worker_, parcel.node, BackendKey{parcel.database, parcel.user, {}, {}});
  for (const auto& [name, value] : parcel.parameters) {
    if (!backend->parameters.note(name, value)) return true;
  }
  switch (worker_.leases().adopt(parcel.giver, parcel.lease, worker_.backends().group_for(*backend), backend->lease)) {
    case Leases::Answer::Wait: return false;
    case Leases::Answer::NoRoom: return true;
    case Leases::Answer::Granted: break;
  }
  worker_.wake_child(parcel.giver);
  backend->pid = parcel.backend_pid;
  backend->cancel_key = std::move(parcel.cancel_key);
  backend->connected_at = std::min(worker_.loop().now(), Monotonic(Milliseconds(std::min(parcel.connected_ms, monotonic_milliseconds(worker_.loop().now())))));
  backend->uses = parcel.uses;
  backend->drawn_by = parcel.has_drawn ? Backend::kSeveral : 0;
  backend->image = worker_.images().intern(std::move(parcel.image));
  backend->applied = backend->image != nullptr ? Backend::kAsImage : 0;
  backend->take_over(std::move(arrived.fd));
  worker_.leases().bind(*backend);
  worker_.learn_from_sibling(*backend, parcel.method);
  worker_.backends().take_in(std::move(backend), parcel.has_statements);
  return true;
}

}  // namespace weir::child
