#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>

#include "common/base/unique_fd.h"
#include "test/support/process.h"

namespace weir::test {
namespace {

bool can_bind(int port) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

} // namespace

// Below the ports that the kernel gives to outgoing connections. A lock file keeps a port from
// other test processes from the choice until its server has bound it.
int reserve_port() {
  static const std::string folder = "/tmp/pgweir-test-ports-" + std::to_string(getuid());
  std::filesystem::create_directories(folder);
  constexpr int kFirst = 21000;
  constexpr int kCount = 9000;
  static int next = static_cast<int>(getpid() * 7919L % kCount);
  for (int tries = 0; tries < kCount; ++tries) {
    const int port = kFirst + next;
    next = (next + 1) % kCount;
    UniqueFd lock(
        open((folder + "/" + std::to_string(port)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.valid() || flock(lock.get(), LOCK_EX | LOCK_NB) != 0 || !can_bind(port))
      continue;
    (void)lock.release(); // held until this process ends
    return port;
  }
  throw std::runtime_error("no free port");
}

} // namespace weir::test
