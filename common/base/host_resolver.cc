#include "common/base/host_resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <map>
#include <mutex>
#include <thread>

#include "common/base/clock.h"

namespace weir {

struct HostResolver::Shared {
  struct Entry {
    std::string address;
    Monotonic asked{};
    bool running = false;
  };
  std::mutex mutex;
  std::map<std::string, Entry> entries;
};

HostResolver::HostResolver(EventLoop& loop) : loop_(loop), shared_(std::make_shared<Shared>()) {}
HostResolver::~HostResolver() = default;

std::string HostResolver::address(const std::string& host) {
  in6_addr scratch;
  if (host.empty() || host.front() == '/' || inet_pton(AF_INET, host.c_str(), &scratch) == 1 || inet_pton(AF_INET6, host.c_str(), &scratch) == 1) return host;
  if (host == "localhost") return "127.0.0.1";
  const std::lock_guard lock(shared_->mutex);
  Shared::Entry& entry = shared_->entries[host];
  if (!entry.running && (entry.asked == Monotonic{} || loop_.now() - entry.asked > std::chrono::seconds(10))) {
    entry.running = true;
    entry.asked = loop_.now();
    std::thread([shared = shared_, host] {
      addrinfo hints{};
      hints.ai_socktype = SOCK_STREAM;
      addrinfo* found = nullptr;
      char text[INET6_ADDRSTRLEN] = {};
      if (getaddrinfo(host.c_str(), nullptr, &hints, &found) == 0 && found != nullptr) {
        getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
        freeaddrinfo(found);
      }
      const std::lock_guard guard(shared->mutex);
      Shared::Entry& mine = shared->entries[host];
      mine.running = false;
      if (text[0] != '\0') mine.address = text;  // a failed look-up does not forget the last good answer
    }).detach();
  }
  return entry.address;
}

}  // namespace weir
