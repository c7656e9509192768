#include "child/backend.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "child/leases.h"
#include "child/shared_rows.h"
#include "child/worker.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/base/sqlstate.h"
#include "common/wire/encode.h"
#include "common/wire/frame.h"

namespace weir::child {
namespace {

// Fills ADDRESS from a numeric address or a socket directory; its size, 0 if it is neither.
socklen_t socket_address(std::string_view host, int port, sockaddr_storage& address) {
  address = {};
  const std::string text(host);
  if (text.empty() || text[0] == '/') {
    auto& local = reinterpret_cast<sockaddr_un&>(address);
    const std::string path = fmt::format("{}/.s.PGSQL.{}", text.empty() ? "/tmp" : text, port);
    if (path.size() >= sizeof local.sun_path) return 0;
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, path.c_str(), path.size() + 1);
    return static_cast<socklen_t>(sizeof local);
  }
  auto& v4 = reinterpret_cast<sockaddr_in&>(address);
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(static_cast<std::uint16_t>(port));
    return sizeof v4;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(static_cast<std::uint16_t>(port));
    return sizeof v6;
  }
  return 0;
}

// The moves that BackendState may make; everything may become Closing.
bool legal(BackendState from, BackendState to) {
  using enum BackendState;
  if (to == Closing) return true;
  switch (from) {
    case Connecting: return to == Authenticating;
    case Authenticating: return to == Idle || to == Busy;
    case Idle: return to == Busy;
    case Busy: return to == Resetting || to == Idle;
    case Resetting: return to == Idle || to == Busy;
    case Closing: return false;
  }
  return false;
}

}  // namespace

bool only_unasked(Bytes bytes) {
  while (!bytes.empty()) {
    const char tag = static_cast<char>(bytes.front());
    if (tag != 'N' && tag != 'S' && tag != 'A') return false;
    const wire::FrameHeader header = wire::peek_frame(wire::Direction::FromServer, bytes);
    if (header.status == wire::FrameStatus::Violation) return false;
    if (header.status == wire::FrameStatus::NeedMore || header.total() > bytes.size()) return true;
    bytes = bytes.subspan(header.total());
  }
  return true;
}

UniqueFd connect_socket(std::string_view host, int port) {
  sockaddr_storage address{};
  const socklen_t size = socket_address(host, port, address);
  if (size == 0) {
    errno = EADDRNOTAVAIL;
    return {};
  }
  UniqueFd fd(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return {};
  if (address.ss_family != AF_UNIX) set_tcp_options(fd.get());
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 && errno != EINPROGRESS) return {};
  return fd;
}

Backend::Backend(Worker& worker, int node, BackendKey key)
    : connected_at(worker.loop().now()), released_at(connected_at), worker_(worker), node_(node), key_(std::move(key)) {}

Backend::~Backend() { close(); }

bool Backend::connect(std::string_view address, int port) {
  UniqueFd fd = connect_socket(address, port);
  if (!fd.valid()) return false;
  stream_ = std::make_unique<Stream>(worker_.loop(), std::move(fd), *this);
  stream_->await_connect();
  return true;
}

void Backend::take_over(UniqueFd fd) {
  WEIR_CHECK(stream_ == nullptr && state_ == BackendState::Connecting);
  stream_ = std::make_unique<Stream>(worker_.loop(), std::move(fd), *this);
  state_ = BackendState::Busy;
  worker_.register_backend(*this);
}

void Backend::leave_to_another() {
  WEIR_CHECK(lease < 0 && stream_ != nullptr);
  state_ = BackendState::Closing;
  std::unique_ptr<Stream> stream = std::move(stream_);
  worker_.forget_backend(*this);
  stream->close();
  worker_.loop().destroy_later(std::move(stream));
}

void Backend::set_state(BackendState state, bool quietly) {
  if (state == state_) return;
  WEIR_CHECK(legal(state_, state));
  state_ = state;
  if (quietly) {
    worker_.rows().note_lent(*this);
  } else {
    worker_.publish_backend(*this);
  }
}

bool Backend::send(Bytes bytes) { return stream_ != nullptr && stream_->write(bytes); }

void Backend::close() {
  if (stream_ == nullptr) return;
  // In the middle of a message a Terminate would be taken for its rest; then, and after any other, the end of the stream
  // says the same.
  if (state_ == BackendState::Idle || (state_ == BackendState::Busy && lease < 0)) {
    std::string bye;
    wire::encode_terminate(bye);
    stream_->write(bye);
  }
  // Before its startup packet a server has begun nothing.
  let_go(state_ == BackendState::Connecting);
}

// OVER: the server has ended the connection.
void Backend::let_go(bool over) {
  state_ = BackendState::Closing;
  std::unique_ptr<Stream> stream = std::move(stream_);
  worker_.forget_backend(*this);
  if (lease >= 0 && !over) return worker_.leases().close(*this, std::move(stream));
  stream->close();
  worker_.loop().destroy_later(std::move(stream));
  worker_.leases().ended(*this);
}

void Backend::lost(Error error, bool by_server) {
  if (stream_ == nullptr) return;
  let_go(by_server);
  if (user_ != nullptr) user_->on_backend_lost(*this, error);
}

void Backend::on_readable() {
  std::span<std::byte> scratch = worker_.scratch();
  const std::size_t kept = left_over_.size();
  if (kept + Worker::kReadSize > scratch.size()) {  // no user holds back more than a message of bounded size
    return lost(make_error(sqlstate::kProtocolViolation, "the server sent a message that is too long here"));
  }
  if (kept > 0) std::memcpy(scratch.data(), left_over_.data(), kept);
  const Stream::ReadResult got = stream_->read(scratch.subspan(kept, Worker::kReadSize));
  if (got.outcome == Stream::Outcome::WouldBlock) return;
  if (got.outcome != Stream::Outcome::Data) {
    return lost(make_error(sqlstate::kConnectionFailure,
                           fmt::format("server closed the connection unexpectedly (node {})", node_)), true);
  }
  const Bytes bytes(scratch.data(), kept + got.count);
  const std::size_t taken = user_ != nullptr ? user_->on_backend_bytes(*this, bytes) : bytes.size();
  if (stream_ == nullptr) return;
  if (taken == bytes.size()) {
    if (kept > 0) left_over_ = {};
  } else {
    left_over_.assign(as_text(bytes.subspan(taken)));
  }
}

// Not into the worker's scratch: whoever calls may be in the middle of what was read there.
bool Backend::look() {
  std::array<std::byte, 4096> bytes;
  if (stream_ == nullptr) return false;
  const Stream::ReadResult got = stream_->read(bytes);
  if (got.outcome == Stream::Outcome::WouldBlock) return false;
  if (got.outcome == Stream::Outcome::Data) {
    left_over_.append(as_text(Bytes(bytes.data(), got.count)));
    poke();
  } else {
    lost(make_error(sqlstate::kConnectionFailure, fmt::format("server closed the connection unexpectedly (node {})", node_)), true);
  }
  return true;
}

void Backend::poke() {
  if (left_over_.empty() || user_ == nullptr || stream_ == nullptr) return;
  std::string bytes = std::exchange(left_over_, {});
  const std::size_t taken = user_->on_backend_bytes(*this, as_bytes(bytes));
  if (stream_ != nullptr && taken < bytes.size()) left_over_ = bytes.substr(taken) + left_over_;
}

void Backend::on_drained() {
  if (user_ != nullptr) user_->on_backend_drained(*this);
}

}  // namespace weir::child
