#include "child/listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "child/backend_cache.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/log.h"
#include "common/base/stream.h"

namespace weir::child {
namespace {

constexpr Milliseconds kPause{10};
constexpr Milliseconds kExhaustedPause{200};  // a session that ends in the meantime ends the pause too

std::string peer_text(const sockaddr_storage& address, int& port) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    port = ntohs(v4.sin_port);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return text;
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    port = ntohs(v6.sin6_port);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return text;
  }
  port = 0;
  return "[local]";
}

}  // namespace

Listener::Listener(Worker& worker) : worker_(worker) {
  retry_.set(worker.loop(), [this] {
    if (stopped_) return;
    overdue_ = true;
    accepting_ = true;
    for (auto& event : events_) event->arm();
  });
}

void Listener::start() {
  stopped_ = false;
  auto& sockets = *worker_.context().sockets;
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    auto event = std::make_unique<FdEvent>();
    event->watch_read(worker_.loop(), sockets[i].fd.get(), [this, i] { accept_from(i); });
    events_.push_back(std::move(event));
  }
  accepting_ = true;
}

void Listener::stop() {
  stopped_ = true;
  retry_.disarm();
  events_.clear();
  // As long as one process has a socket open the kernel takes clients in whom nobody will ever hear.
  for (auto& socket : *worker_.context().sockets) socket.fd.reset();
}

bool Listener::may_accept() const {
  bool sibling_has_room = false;
  const double mean = worker_.rows().siblings_mean(sibling_has_room);
  if (worker_.backends().waiting() > 0 && sibling_has_room) return false;
  return static_cast<double>(worker_.session_count()) <= mean;
}

void Listener::pause(Milliseconds time) {
  accepting_ = false;
  for (auto& event : events_) event->disarm();
  retry_.arm(time);
}

void Listener::exhausted(int error) {
  if (const auto failures = failures_.happened(worker_.loop().now())) {
    log::warning("cannot accept a client: {} ({} failed attempts since this was last said)", std::strerror(error), *failures);
  }
  pause(kExhaustedPause);
}

void Listener::reconsider() {
  if (stopped_ || accepting_ || !may_accept()) return;
  retry_.disarm();
  accepting_ = true;
  for (auto& event : events_) event->arm();
}

void Listener::accept_from(std::size_t index) {
  if (stopped_) return;
  if (!overdue_ && !may_accept()) return pause(kPause);
  overdue_ = false;
  auto& socket = worker_.context().sockets->at(index);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  UniqueFd fd(::accept4(socket.fd.get(), reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
      exhausted(errno);
    }
    return;
  }
  int port = 0;
  std::string peer = socket.is_unix ? "[local]" : peer_text(address, port);
  if (!socket.is_unix) set_tcp_options(fd.get());
  worker_.accepted(std::move(fd), socket.is_unix, std::move(peer), port);
}

}  // namespace weir::child
