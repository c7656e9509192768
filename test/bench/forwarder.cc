// What ./bench divides by: a TCP forwarder that knows no protocol. One process, level-triggered
// epoll, one recv and one send for each readable event, nothing else: what any proxy that moves
// bytes through its own memory has to pay.
//   bench_forwarder LISTEN_PORT TARGET_PORT      both on 127.0.0.1
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

struct Link;

// One of the two sockets of a link. UNSENT is what its kernel buffer had no room for; while there
// is some, the other side is not read, so that it never holds more than one read.
struct Side {
  int fd = -1;
  Link* link = nullptr;
  Side* other = nullptr;
  std::vector<char> unsent;
  std::size_t sent = 0; // of unsent
};

struct Link {
  Side client;
  Side server;
  bool open = true;
  Link() {
    client.link = server.link = this;
    client.other = &server;
    server.other = &client;
  }
  ~Link() {
    close(client.fd);
    close(server.fd);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
};

bool would_block() {
  return errno == EAGAIN || errno == EINTR;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Forwarder {
public:
  Forwarder(std::uint16_t listen_port, std::uint16_t target_port) : target_(loopback(target_port)) {
    const sockaddr_in address = loopback(listen_port);
    const int on = 1;
    if (setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 1024) != 0 || !watch(EPOLL_CTL_ADD, listener_, EPOLLIN, nullptr))
      listening_ = false;
  }

  bool listening() const { return listening_; }

  [[noreturn]] void run() {
    std::array<epoll_event, 128> events{};
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i)
        handle(events[static_cast<std::size_t>(i)]);
      // Only now: a later event of the same batch may have named the link's other side.
      for (Link* link : ended_)
        links_.erase(link);
      ended_.clear();
    }
  }

private:
  bool watch(int operation, int fd, std::uint32_t events, Side* side) const {
    epoll_event event{};
    event.events = events;
    event.data.ptr = side;
    return epoll_ctl(epoll_, operation, fd, &event) == 0;
  }

  void rewatch(Side& side) const {
    const bool may_read = side.other->unsent.empty();
    const bool wants_room = !side.unsent.empty();
    watch(EPOLL_CTL_MOD, side.fd, (may_read ? EPOLLIN : 0U) | (wants_room ? EPOLLOUT : 0U), &side);
  }

  void handle(const epoll_event& event) {
    auto* side = static_cast<Side*>(event.data.ptr);
    if (side == nullptr)
      return accept_one();
    if (side->link->open && (event.events & EPOLLOUT) != 0 && !side->unsent.empty())
      flush(*side);
    if (side->link->open && side->other->unsent.empty() &&
        (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
      forward(*side);
    else if (side->link->open && (event.events & (EPOLLHUP | EPOLLERR)) != 0)
      end(*side->link);
  }

  void accept_one() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0)
      return;
    auto link = std::make_unique<Link>();
    link->client.fd = client;
    link->server.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Blocking, and made non-blocking after it: on loopback the handshake is done when connect
    // returns.
    if (connect(link->server.fd, reinterpret_cast<const sockaddr*>(&target_), sizeof target_) != 0)
      return;
    const int on = 1;
    for (Side* side : {&link->client, &link->server}) {
      setsockopt(side->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (!watch(EPOLL_CTL_ADD, side->fd, EPOLLIN, side))
        return;
    }
    Link* key = link.get();
    links_.emplace(key, std::move(link));
  }

  void forward(Side& from) {
    const ssize_t got = recv(from.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && would_block())
      return;
    if (got <= 0)
      return end(*from.link);
    const std::span<const char> bytes(buffer_.data(), static_cast<std::size_t>(got));
    Side& to = *from.other;
    const std::optional<std::size_t> sent = send_some(to, bytes);
    if (!sent)
      return end(*from.link);
    if (*sent == bytes.size())
      return;
    to.unsent.assign(bytes.begin() + static_cast<std::ptrdiff_t>(*sent), bytes.end());
    to.sent = 0;
    rewatch(from);
    rewatch(to);
  }

  void flush(Side& to) {
    const std::optional<std::size_t> sent = send_some(to, std::span(to.unsent).subspan(to.sent));
    if (!sent)
      return end(*to.link);
    to.sent += *sent;
    if (to.sent < to.unsent.size())
      return;
    to.unsent.clear();
    rewatch(to);
    rewatch(*to.other);
  }

  // Bytes sent, 0 if there is no room; nothing if the connection is gone.
  static std::optional<std::size_t> send_some(const Side& to, std::span<const char> bytes) {
    const ssize_t sent = send(to.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0)
      return static_cast<std::size_t>(sent);
    if (would_block())
      return 0;
    return std::nullopt;
  }

  // Nothing is read while something is unsent, so at an end of file all that came before has been
  // sent.
  void end(Link& link) {
    link.open = false;
    ended_.push_back(&link);
  }

  sockaddr_in target_;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  int listener_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  bool listening_ = true;
  std::array<char, std::size_t{64} << 10U> buffer_{};
  std::unordered_map<Link*, std::unique_ptr<Link>> links_;
  std::vector<Link*> ended_;
};

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0)
    return std::nullopt;
  return port;
}

} // namespace

int main(int argc, char** argv) {
  const auto from = argc == 3 ? port_of(argv[1]) : std::nullopt;
  const auto to = argc == 3 ? port_of(argv[2]) : std::nullopt;
  if (!from || !to) {
    std::fputs("usage: bench_forwarder LISTEN_PORT TARGET_PORT\n", stderr);
    return 2;
  }
  const auto forwarder = std::make_unique<Forwarder>(*from, *to);
  if (!forwarder->listening()) {
    std::perror("bench_forwarder: cannot listen");
    return 1;
  }
  forwarder->run();
}
