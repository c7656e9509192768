#include "test/support/meddler.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "test/support/process.h"

namespace weir::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// What is written goes at once: with Nagle's delay it would wait for the other side's next message, and come just behind it.
void send_at_once(const UniqueFd& fd) {
  const int one = 1;
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

bool write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = send(fd, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

} // namespace

Meddler::Meddler(int server_port)
    : port_(reserve_port()), server_port_(server_port), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int one = 1;
  setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const sockaddr_in address = loopback(port_);
  int wake[2];
  if (bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_.get(), 64) != 0 || pipe2(wake, O_CLOEXEC) != 0)
    throw std::runtime_error("the meddler cannot listen");
  wake_read_.reset(wake[0]);
  wake_write_.reset(wake[1]);
  thread_ = std::thread([this] { run(); });
}

Meddler::~Meddler() {
  wake_write_.reset();
  thread_.join();
}

void Meddler::change(std::string from, std::string to) {
  if (from.size() != to.size()) throw std::invalid_argument("a change of length would break the messages");
  const std::lock_guard lock(mutex_);
  changed_ = 0;
  change_ = {std::move(from), std::move(to)};
}

void Meddler::add_behind(std::string text, std::string more, std::chrono::milliseconds delay, bool cut) {
  const std::lock_guard lock(mutex_);
  added_ = 0;
  met_ = std::move(text);
  more_ = std::move(more);
  delay_ = delay;
  cut_ = cut;
}

bool Meddler::pass(Pair& pair, bool to_server) {
  std::string bytes(1U << 16U, '\0');
  const ssize_t count = recv(to_server ? pair.client.get() : pair.server.get(), bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  bytes.resize(static_cast<std::size_t>(count));
  bool meets = false;
  {
    const std::lock_guard lock(mutex_);
    const auto& [old_text, new_text] = change_;
    for (std::size_t at = 0; to_server && !old_text.empty() && (at = bytes.find(old_text, at)) != std::string::npos; at += old_text.size()) {
      bytes.replace(at, old_text.size(), new_text);
      ++changed_;
    }
    meets = !to_server && !met_.empty() && bytes.find(met_) != std::string::npos;
    if (meets && delay_ == std::chrono::milliseconds{} && !cut_) {
      bytes += more_;  // in one write
      ++added_;
      meets = false;
    }
    if (meets) pair.due = Clock::now() + delay_;
  }
  return write_all(to_server ? pair.server.get() : pair.client.get(), bytes);
}

bool Meddler::send_due(Pair& pair) {
  if (!pair.due || *pair.due > Clock::now()) return true;
  pair.due.reset();
  const std::lock_guard lock(mutex_);
  const bool open = write_all(pair.client.get(), more_) && !cut_;
  ++added_;
  return open;
}

void Meddler::run() {
  std::vector<Pair> pairs;
  for (;;) {
    std::vector<pollfd> polled{{wake_read_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    int timeout = -1;
    for (const Pair& pair : pairs) {
      polled.push_back({pair.client.get(), POLLIN, 0});
      polled.push_back({pair.server.get(), POLLIN, 0});
      if (pair.due) timeout = 1;
    }
    if (poll(polled.data(), polled.size(), timeout) < 0) continue;
    if (polled[0].revents != 0) return;
    for (std::size_t i = pairs.size(); i-- > 0;) {
      const bool open = (polled[2 + 2 * i].revents == 0 || pass(pairs[i], true)) && (polled[3 + 2 * i].revents == 0 || pass(pairs[i], false)) && send_due(pairs[i]);
      if (!open) pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (polled[1].revents == 0) continue;
    Pair pair{UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), {}};
    send_at_once(pair.client);
    send_at_once(pair.server);
    const sockaddr_in address = loopback(server_port_);
    if (connect(pair.server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) pairs.push_back(std::move(pair));
  }
}

} // namespace weir::test
