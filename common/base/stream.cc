#include "common/base/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace weir {

Stream::Stream(EventLoop& loop, UniqueFd fd, StreamHandler& handler)
    : loop_(&loop), handler_(&handler), fd_(std::move(fd)) {
  read_event_.watch_read(loop, fd_.get(), [this] { handler_->on_readable(); });
  reading_ = true;
}

void Stream::await_connect() {
  pause_reading();
  if (!write_event_.assigned()) write_event_.watch_write(*loop_, fd_.get(), [this] { flush(); });
  write_event_.arm();
  write_armed_ = true;
}

int Stream::connect_error() const {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

Stream::ReadResult Stream::read(std::span<std::byte> into) {
  const ssize_t got = ::recv(fd_.get(), into.data(), into.size(), 0);
  if (got > 0) return {Outcome::Data, static_cast<std::size_t>(got)};
  if (got == 0) return {Outcome::Closed, 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {Outcome::WouldBlock, 0};
  return {Outcome::Failed, 0};
}

bool Stream::write(Bytes bytes) {
  if (broken_ || !fd_.valid()) return false;
  if (corked_ || pending() > 0) {
    keep(bytes);
    return true;
  }
  const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::size_t done = 0;
  if (sent >= 0) {
    done = static_cast<std::size_t>(sent);
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    broken_ = true;
    return false;
  }
  if (done < bytes.size()) {
    keep(bytes.subspan(done));
    if (!write_event_.assigned()) write_event_.watch_write(*loop_, fd_.get(), [this] { flush(); });
    write_event_.arm();
    write_armed_ = true;
  }
  return true;
}

bool Stream::uncork() {
  corked_ = false;
  if (pending() == 0 || write_armed_) return !broken_;
  std::string gathered = std::exchange(out_, {});
  const std::size_t from = std::exchange(out_sent_, 0);
  const bool alive = write(as_bytes(gathered).subspan(from));
  if (out_.empty() && gathered.capacity() <= 4096) {
    gathered.clear();
    out_ = std::move(gathered);  // the small buffer is kept for the next exchange
  }
  return alive;
}

void Stream::keep(Bytes bytes) { out_.append(as_text(bytes)); }

void Stream::flush() {
  if (corked_) return;
  while (pending() > 0) {
    const ssize_t sent = ::send(fd_.get(), out_.data() + out_sent_, pending(), MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return;
      broken_ = true;
      break;
    }
    out_sent_ += static_cast<std::size_t>(sent);
    if (out_sent_ > 65536 && out_sent_ * 2 > out_.size()) {
      out_.erase(0, out_sent_);
      out_sent_ = 0;
    }
  }
  write_event_.disarm();
  write_armed_ = false;
  if (out_.capacity() > 4096) {
    out_ = {};
  } else {
    out_.clear();
  }
  out_sent_ = 0;
  handler_->on_drained();
}

void Stream::pause_reading() {
  if (!reading_) return;
  read_event_.disarm();
  reading_ = false;
}

void Stream::resume_reading() {
  if (reading_ || !fd_.valid()) return;
  read_event_.arm();
  reading_ = true;
}

void Stream::discard_input() {
  std::array<std::byte, 4096> bytes;
  for (int i = 0; i < 64 && fd_.valid(); ++i) {
    if (::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) break;
  }
}

void Stream::close() {
  read_event_.release();
  write_event_.release();
  reading_ = false;
  fd_.reset();
}

UniqueFd Stream::release() {
  UniqueFd fd = std::move(fd_);
  close();
  return fd;
}

void set_tcp_options(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace weir
