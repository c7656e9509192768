// Starting, watching and ending processes, and what /proc tells of them.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::test {

// The operating system's user that servers and pgweir run as: "postgres" if the tests run as root,
// which PostgreSQL refuses to; otherwise the user at hand.
struct RunAs {
  uid_t uid;
  gid_t gid;
  bool other; // not the user of this process
};
const RunAs& run_as();
// Hands a file or folder to that user.
void give_to_server_user(const std::string& path);

struct SpawnOptions {
  std::vector<std::string> argv;                  // argv[0] is a path
  std::map<std::string, std::string> environment; // beside the inherited one
  std::string folder = "/";
  std::string output; // standard output and error are appended there; empty: inherited
  bool as_server_user = true;
  int death_signal = SIGKILL; // sent to it when this process dies; 0: it stays
};

// A process started by the test. Killed by the destructor if it still runs.
class ChildProcess {
public:
  ChildProcess() = default;
  explicit ChildProcess(const SpawnOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool started() const { return pid_ > 0; }
  // Reaps it if it has ended.
  bool running();
  // Status as waitpid gives it; nullopt while it runs.
  std::optional<int> status();
  // Waits for the end; nullopt if it did not come.
  std::optional<int> wait();
  void signal(int number) const;
  void kill_and_reap();

private:
  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct Output {
  int code = -1;   // exit code, or 128 + signal
  std::string out; // standard output and error together
};
// Runs a program to its end.
Output run(const SpawnOptions& options);

std::vector<pid_t> all_processes();
// The pids whose executable is this very path.
std::vector<pid_t> processes_of(const std::string& executable);
// PID and all that descends from it.
std::vector<pid_t> process_tree(pid_t pid);
bool process_exists(pid_t pid); // zombies do not count
std::string command_line(pid_t pid);
// Private memory of a process in KiB: RssAnon of /proc/PID/status.
long anonymous_memory_kib(pid_t pid);
// User and system time used so far, in clock ticks.
long cpu_ticks(pid_t pid);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

// A TCP port on 127.0.0.1 that nobody uses, kept from other test processes until this one ends.
int reserve_port();

// A new folder under the folder of all tests, which the server user owns. Short, for the sake of
// socket paths.
std::string make_folder(const std::string& name);
void remove_folder(const std::string& path);

} // namespace weir::test
