#include "parent/listen_sockets.h"

#include <fmt/format.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "common/base/sqlstate.h"

namespace weir::parent {
namespace {

tl::unexpected<Error> cannot(const std::string& where, const char* why) {
  return fail(make_fatal(sqlstate::kConnectionFailure, fmt::format("cannot listen on {}: {}", where, why)));
}

// Somebody answers on the socket file.
bool answers(const sockaddr_un& address) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

ListenSockets::~ListenSockets() = default;

Status ListenSockets::open(const config::Config& config) {
  const int backlog = static_cast<int>(std::clamp<std::int64_t>(config.listen_backlog_multiplier * config.num_init_children, 128, 10000));
  for (const std::string& host : config.listen_addresses) WEIR_TRY(open_tcp(host, static_cast<int>(config.port), backlog));
  for (const std::string& directory : config.unix_socket_directories) WEIR_TRY(open_unix(directory, config, backlog));
  return {};
}

Status ListenSockets::open_tcp(const std::string& host, int port, int backlog) {
  const std::string where = fmt::format("{} port {}", host, port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int result = getaddrinfo(host == "*" ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (result != 0) return cannot(where, gai_strerror(result));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  int made = 0;
  int last_error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    UniqueFd fd(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!fd.valid()) {  // a machine without IPv6
      last_error = errno;
      continue;
    }
    const int on = 1;
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->ai_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(fd.get(), address->ai_addr, address->ai_addrlen) != 0 || ::listen(fd.get(), backlog) != 0) {
      last_error = errno;
      if (last_error == EADDRNOTAVAIL && address->ai_family == AF_INET6) continue;
      return cannot(where, std::strerror(last_error));
    }
    sockets_.push_back({std::move(fd), false});
    ++made;
  }
  return made > 0 ? Status() : Status(cannot(where, std::strerror(last_error)));
}

Status ListenSockets::open_unix(const std::string& directory, const config::Config& config, int backlog) {
  const std::string path = fmt::format("{}/.s.PGSQL.{}", directory, config.port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return cannot(path, "the name is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return cannot(path, "there is a file of that name which is no socket");
    if (answers(address)) return cannot(path, "another server listens there");
    ::unlink(path.c_str());  // left behind by a process that was killed
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid() || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return cannot(path, std::strerror(errno));
  files_.push_back(path);
  if (!config.unix_socket_group.empty()) {
    const group* entry = getgrnam(config.unix_socket_group.c_str());
    if (entry == nullptr) return cannot(path, fmt::format("there is no group \"{}\"", config.unix_socket_group).c_str());
    if (::chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) return cannot(path, std::strerror(errno));
  }
  if (::chmod(path.c_str(), static_cast<mode_t>(config.unix_socket_permissions)) != 0) return cannot(path, std::strerror(errno));
  if (::listen(fd.get(), backlog) != 0) return cannot(path, std::strerror(errno));
  sockets_.push_back({std::move(fd), true});
  return {};
}

void ListenSockets::unlink_files() {
  for (const std::string& file : files_) ::unlink(file.c_str());
  files_.clear();
}

}  // namespace weir::parent
