// Stands between pgweir and one server and changes what passes: a server that fails where no statement makes a real one
// fail. Bytes are passed on as they come; a text that is split between two reads is not found.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
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
  // New connections go there from now on.
  void lead_to(int server_port) { server_port_ = server_port; }
  // From now on whatever the server sends in one go with TEXT in it gets MORE behind it, DELAY later; CUT: and then the
  // connection ends. Of TEXT empty: nothing is added.
  void add_behind(std::string text, std::string more, std::chrono::milliseconds delay = {}, bool cut = false);
  // How often TEXT was met, and all of it was sent.
  int added() const { return added_; }
  // How often FROM was found since.
  int changed() const { return changed_; }

private:
  using Clock = std::chrono::steady_clock;
  struct Pair {
    UniqueFd client;
    UniqueFd server;
    std::optional<Clock::time_point> due; // when more_ is sent to the client
  };
  void run();
  bool pass(Pair& pair, bool to_server);
  bool send_due(Pair& pair);

  int port_;
  std::atomic<int> server_port_;
  UniqueFd listener_;
  UniqueFd wake_read_;
  UniqueFd wake_write_;
  std::mutex mutex_;
  std::pair<std::string, std::string> change_;
  std::string met_;
  std::string more_;
  std::chrono::milliseconds delay_{};
  bool cut_ = false;
  std::atomic<int> changed_ = 0;
  std::atomic<int> added_ = 0;
  std::thread thread_;
};

} // namespace weir::test
