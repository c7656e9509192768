// One non-blocking stream socket: a persistent read event, writes at once, and asks for writability only after a short
// write. What could not be written is kept and sent when the peer takes it; the owner looks at pending() and stops
// reading the other side when it grows (back-pressure).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "common/base/bytes.h"
#include "common/base/event.h"
#include "common/base/unique_fd.h"

namespace weir {

// Who is told of a stream's events. A handler may destroy the stream only through EventLoop::destroy_later.
class StreamHandler {
 public:
  virtual void on_readable() = 0;
  // All that was kept has been written, or a connect has finished (ask connect_error()).
  virtual void on_drained() = 0;

 protected:
  ~StreamHandler() = default;
};

class Stream {
 public:
  enum class Outcome { Data, WouldBlock, Closed, Failed };
  struct ReadResult {
    Outcome outcome = Outcome::WouldBlock;
    std::size_t count = 0;
  };

  // Takes a connected or connecting socket.
  Stream(EventLoop& loop, UniqueFd fd, StreamHandler& handler);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void set_handler(StreamHandler& handler) { handler_ = &handler; }
  // Calls on_drained once the socket is writable: how the end of a connect is noticed.
  void await_connect();
  // The error of a connect that has ended; 0 if it succeeded.
  int connect_error() const;

  ReadResult read(std::span<std::byte> into);
  // False if the connection is gone; later writes are then swallowed and a read will say so.
  bool write(Bytes bytes);
  bool write(std::string_view text) { return write(as_bytes(text)); }

  // Between cork and uncork writes are gathered and leave in one system call.
  void cork() { corked_ = true; }
  bool uncork();
  // A write has failed: the peer will read nothing any more.
  bool broken() const { return broken_; }

  std::size_t pending() const { return out_.size() - out_sent_; }
  void pause_reading();
  void resume_reading();
  bool reading() const { return reading_; }
  int fd() const { return fd_.get(); }
  // Reads and forgets what has arrived (bounded): closing a socket with unread input resets the connection.
  void discard_input();
  // Stops all events and closes the socket.
  void close();
  // ... and leaves it open: it is the caller's. Nothing may be pending.
  UniqueFd release();

 private:
  void flush();
  void keep(Bytes bytes);

  EventLoop* loop_;
  StreamHandler* handler_;
  UniqueFd fd_;
  FdEvent read_event_;
  FdEvent write_event_;
  std::string out_;  // not yet written: [out_sent_, size)
  std::size_t out_sent_ = 0;
  bool reading_ = false;
  bool corked_ = false;
  bool write_armed_ = false;
  bool broken_ = false;
};

// Sets the options that every TCP connection of pgweir has: no delay, keepalive.
void set_tcp_options(int fd);

}  // namespace weir
