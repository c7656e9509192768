#include "child/siblings.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/base/log.h"

namespace weir::child {
namespace {

// At one turn of the loop.
constexpr int kAtOnce = 16;

// One is expected; others are closed, and none leaks.
constexpr std::size_t kMostDescriptors = 8;

struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> room{};
};

UniqueFd descriptor_of(msghdr& message) {
  UniqueFd last;
  std::size_t count = 0;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= one->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(one) + at, sizeof number);
      last = UniqueFd(number);
      ++count;
    }
  }
  if (count != 1 || (message.msg_flags & MSG_CTRUNC) != 0) last.reset();
  return last;
}

}  // namespace

void Siblings::start(EventLoop& loop) {
  fd_ = context_.parcels->at(static_cast<std::size_t>(context_.slot)).receive.get();
  event_.watch_read(loop, fd_, [this] { receive(); });
}

bool Siblings::send(int child, Kind kind, std::string_view bytes, int fd) {
  if (bytes.size() >= kMaxBytes || child < 0 || static_cast<std::size_t>(child) >= context_.parcels->size()) return false;
  auto tag = static_cast<char>(kind);
  std::array<iovec, 2> parts{{{&tag, 1}, {const_cast<char*>(bytes.data()), bytes.size()}}};  // sendmsg does not write there
  Control control{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.room.data();
  message.msg_controllen = CMSG_SPACE(sizeof fd);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return ::sendmsg(context_.parcels->at(static_cast<std::size_t>(child)).send.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

void Siblings::receive() {
  const auto room = std::make_unique<std::array<std::byte, kMaxBytes>>();
  for (int i = 0; i < kAtOnce; ++i) {
    iovec part{room->data(), room->size()};
    Control control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room.data();
    message.msg_controllen = control.room.size();
    const ssize_t got = ::recvmsg(fd_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return;
    UniqueFd fd = descriptor_of(message);
    const Bytes bytes = Bytes(*room).first(static_cast<std::size_t>(got));
    const auto taker = got > 0 ? takers_.find(static_cast<Kind>(bytes[0])) : takers_.end();
    if ((message.msg_flags & MSG_TRUNC) != 0 || taker == takers_.end()) {
      log::error("a message from another child is not understood");
      continue;
    }
    taker->second(bytes.subspan(1), std::move(fd));
  }
}

}  // namespace weir::child
