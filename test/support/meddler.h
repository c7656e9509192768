// Stands between pgweir and one server and changes what passes: a server that fails where no statement makes a real one
// fail. Bytes are passed on as they come; a text that is split between two reads is not found.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/unique_fd.h"

namespace weir::test {

class Meddler {
public:
  // Forwards to 127.0.0.1:SERVER_PORT from its own port.
  explicit Meddler(int server_port);
  ~Meddler();
  Meddler(const Meddler&) = delete;
  Meddler& operator=(const Meddler&) = delete;

  int port() const { return port_; }
  // From now on FROM becomes TO in what goes to the server; of the same length. Empty: nothing is changed.
  void change(std::string from, std::string to);
  // How often FROM was found since.
  int changed() const { return changed_; }

private:
  struct Pair {
    UniqueFd client;
    UniqueFd server;
  };
  void run();
  bool pass(int from, int to, bool to_server);

  int port_;
  int server_port_;
  UniqueFd listener_;
  UniqueFd wake_read_;
  UniqueFd wake_write_;
  std::mutex mutex_;
  std::pair<std::string, std::string> change_;
  std::atomic<int> changed_ = 0;
  std::thread thread_;
};

} // namespace weir::test
