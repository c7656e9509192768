// A running pgweir in front of a cluster: writes its configuration into a folder of its own, starts
// it in the foreground, waits until it is ready, and when it is stopped makes sure that nothing is
// left behind.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/support/cluster.h"
#include "test/support/connection.h"
#include "test/support/process.h"
#include "test/support/wait.h"

namespace weir::test {

// A line of log_per_node_statement: a Query or an Execute, with the reason of its routing at the
// end of the text.
struct NodeStatement {
  int node = -1;
  int backend_pid = 0;
  std::string text;
};

// Parameter → value as it is written after "name = "; text values need their quotes. An empty value
// drops the default.
using Settings = std::map<std::string, std::string>;

class Pgweir {
public:
  // Defaults: the three nodes with weights 0, 1, 1 (reads go to standbys alone), two children,
  // log_per_node_statement.
  explicit Pgweir(const Cluster& cluster, const Settings& changes = {});
  ~Pgweir();
  Pgweir(const Pgweir&) = delete;
  Pgweir& operator=(const Pgweir&) = delete;

  // Not started yet: for tests of the start itself.
  struct Unstarted {};
  Pgweir(const Cluster& cluster, const Settings& changes, Unstarted);
  // Starts the process without waiting.
  void launch();
  // Until the pid file is there. False if the process ended or did not get ready.
  bool wait_ready(std::chrono::milliseconds patience = kPatience);
  // Until it is ready and has seen every node of the cluster that answers.
  void start();

  int port() const { return port_; }
  const std::string& folder() const { return folder_; }
  std::string socket_path() const;
  std::string config_file() const { return folder_ + "/pgweir.conf"; }
  std::string pid_file() const { return folder_ + "/pgweir.pid"; }
  const std::string& binary() const { return binary_; }
  std::string conninfo(const std::string& user = "app", const std::string& database = "app") const;
  std::string socket_conninfo(const std::string& user = "app",
                              const std::string& database = "app") const;

  // --- configuration
  void set(const std::string& name,
           const std::string& value); // in the file; takes effect by reload() or start
  void add_file(const std::string& name,
                const std::string& text) const; // beside the configuration, mode 600
  void reload();

  // --- processes
  pid_t pid() const { return process_.pid(); }
  bool running() { return process_.running(); }
  std::vector<pid_t> processes() const { return processes_of(binary_); }
  // Those whose title holds WORD: "child", "health".
  std::vector<pid_t> processes_named(const std::string& word) const;
  void signal(int number) { process_.signal(number); }
  // Status as waitpid gives it.
  std::optional<int> wait_end() { return process_.wait(); }
  // SIGNAL to the parent, waits for the end, expects exit 0 and that nothing is left behind.
  void stop(int number = SIGINT);
  void expect_nothing_left() const;

  // --- log
  std::string log() const { return read_file(folder_ + "/log"); }
  bool logged(const std::string& text) const { return log().find(text) != std::string::npos; }
  std::size_t log_size() const { return log().size(); }
  // What ran with MARK in its text (which must stand in its first line), Parse left out.
  std::vector<NodeStatement> statements(const std::string& mark) const;
  // Nodes on which statements with MARK ran, in order.
  std::vector<int> nodes_of(const std::string& mark) const;
  // Runs SQL with a mark of its own in a trailing comment; the node that it last ran on, -1 if none
  // was logged.
  int node_of(Connection& connection, const std::string& sql);
  // Repeats SQL until it runs on a standby: catalogue facts are looked up when a name is first
  // seen.
  bool reaches_standby(Connection& connection, const std::string& sql);

private:
  void write_config() const;
  void expect_clean_log() const;

  const Cluster& cluster_;
  std::string folder_;
  std::string binary_;
  int port_ = 0;
  Settings settings_;
  ChildProcess process_;
  bool launched_ = false;
};

} // namespace weir::test
