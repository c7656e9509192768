// replication_delay_source_cmd: a program that tells how far the standbys are behind, in place of asking the servers. It
// gets "host:port" of each standby in the order of the nodes, the primary left out, and prints as many numbers of
// milliseconds in the same order (whole or with a fraction; -1: that standby is down), separated by blanks.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/event.h"
#include "common/base/unique_fd.h"
#include "common/config/config.h"

namespace weir::health {

// The configured nodes but PRIMARY. Pure.
std::vector<int> delay_command_nodes(const config::Config& config, int primary);
// For the shell: the command as it is configured, and the quoted arguments. Pure.
std::string delay_command_line(const config::Config& config, const std::vector<int>& nodes);
// Microseconds, one for each of COUNT nodes; -1: that one is not known. Nothing if OUTPUT does not hold as many words.
// What is no number, or is no time that can be, makes its own node unknown. Pure.
std::optional<std::vector<std::int64_t>> parse_delays(std::string_view output, std::size_t count);

// Runs one command at a time, without ever waiting for it.
class DelayCommand {
 public:
  // OUTPUT of a command that ended with status 0, else nothing and what was wrong.
  using Done = std::function<void(std::optional<std::string> output, const std::string& problem)>;
  explicit DelayCommand(EventLoop& loop) : loop_(loop) {}
  ~DelayCommand();
  DelayCommand(const DelayCommand&) = delete;
  DelayCommand& operator=(const DelayCommand&) = delete;

  // Until the last one has ended, killed or not, the next cannot be started.
  bool running() const { return pid_ > 0; }
  // By /bin/sh, in a process group of its own, which is killed after TIMEOUT.
  void start(const std::string& line, std::chrono::seconds timeout, Done done);

 private:
  void on_output();
  void look();  // has it ended?
  void give_up(std::string problem);
  void finish(std::optional<std::string> output, const std::string& problem);

  EventLoop& loop_;
  pid_t pid_ = -1;
  UniqueFd out_;
  FdEvent readable_;
  Timer deadline_;
  Timer look_;
  std::string output_;
  Done done_;
};

}  // namespace weir::health
