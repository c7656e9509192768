#include "health/delay_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

namespace weir::health {
namespace {

constexpr std::size_t kMaxOutput = 64U << 10U;
constexpr std::chrono::milliseconds kLook{20};
constexpr double kMostMilliseconds = 1e12;  // some thirty years

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\'";
    out += c;
  }
  return out + "'";
}

std::int64_t microseconds_of(std::string_view word) {
  double value = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool number = error == std::errc() && end == word.data() + word.size() && std::isfinite(value);
  if (!number || value < 0 || value > kMostMilliseconds) return -1;
  return static_cast<std::int64_t>(std::llround(value * 1000));
}

}  // namespace

std::vector<int> delay_command_nodes(const config::Config& config, int primary) {
  std::vector<int> nodes;
  for (std::size_t id = 0; id < config.backends.size(); ++id) {
    if (config.backends[id].port != 0 && static_cast<int>(id) != primary) nodes.push_back(static_cast<int>(id));
  }
  return nodes;
}

std::string delay_command_line(const config::Config& config, const std::vector<int>& nodes) {
  std::string line = config.replication_delay_source_cmd;
  for (const int node : nodes) {
    const config::BackendConfig& backend = config.backends.at(static_cast<std::size_t>(node));
    line += ' ' + quoted(fmt::format("{}:{}", backend.hostname, backend.port));
  }
  return line;
}

std::optional<std::vector<std::int64_t>> parse_delays(std::string_view output, std::size_t count) {
  std::vector<std::int64_t> delays;
  std::size_t at = 0;
  while (at < output.size()) {
    if (is_blank(output[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < output.size() && !is_blank(output[end])) ++end;
    if (delays.size() == count) return std::nullopt;
    delays.push_back(microseconds_of(output.substr(at, end - at)));
    at = end;
  }
  return delays.size() == count ? std::optional(std::move(delays)) : std::nullopt;
}

DelayCommand::~DelayCommand() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, WNOHANG);
}

void DelayCommand::start(const std::string& line, std::chrono::seconds timeout, Done done) {
  if (running()) return;
  done_ = std::move(done);
  output_.clear();
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return finish(std::nullopt, fmt::format("no pipe: {}", std::strerror(errno)));
  out_ = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  fcntl(out_.get(), F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigfillset(&all);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = line;
  std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
  const int error = posix_spawn(&pid_, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    out_ = UniqueFd();
    return finish(std::nullopt, fmt::format("it cannot be started: {}", std::strerror(error)));
  }
  readable_.watch_read(loop_, out_.get(), [this] { on_output(); });
  look_.set(loop_, [this] { look(); });
  deadline_.set(loop_, [this, timeout] { give_up(fmt::format("it took longer than {} s and was killed", timeout.count())); });
  deadline_.arm(timeout);
}

void DelayCommand::on_output() {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(out_.get(), buffer.data(), buffer.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0) {
    output_.append(buffer.data(), static_cast<std::size_t>(count));
    if (output_.size() > kMaxOutput) give_up("it printed too much and was killed");
    return;
  }
  readable_.release();
  look();
}

void DelayCommand::look() {
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return look_.arm(kLook);
  pid_ = -1;
  readable_.release();
  deadline_.release();
  out_ = UniqueFd();
  if (!done_) return;  // it was given up
  if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return finish(std::move(output_), {});
  finish(std::nullopt, ended > 0 && WIFEXITED(status) ? fmt::format("it ended with status {}", WEXITSTATUS(status)) : std::string("it was ended by a signal"));
}

// Whoever it has started goes with it. Its end is awaited, since only then it is gone.
void DelayCommand::give_up(std::string problem) {
  kill(-pid_, SIGKILL);
  readable_.disarm();
  deadline_.disarm();
  look_.arm(kLook);
  finish(std::nullopt, problem);
}

void DelayCommand::finish(std::optional<std::string> output, const std::string& problem) {
  if (const Done done = std::exchange(done_, nullptr)) done(std::move(output), problem);
}

}  // namespace weir::health
