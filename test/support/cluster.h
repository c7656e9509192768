// A PostgreSQL primary (node 0) and two streaming standbys (nodes 1, 2) on 127.0.0.1.
//
// One cluster is shared by the tests of a ctest run (started and stopped by ctest fixtures); a test
// that breaks a node makes a cluster of its own, a copy that starts in well under a second. Both
// hold the objects of objects.sql.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "test/support/process.h"

namespace weir::test {

inline constexpr int kNodes = 3;

// Folder of PostgreSQL's programs.
const std::string& postgres_bin();

class Cluster {
public:
  // What is alike in all tests of a run: attaches to the shared cluster, or makes one for this
  // process.
  static Cluster& shared();
  // One of the test's own, started, with empty synchronous_standby_names.
  Cluster();
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  int port(int node) const { return ports_.at(static_cast<std::size_t>(node)); }
  std::string socket_folder() const { return folder_; }
  // For libpq, directly to the node. The role "app" owns the objects; "postgres" is the superuser.
  std::string conninfo(int node, const std::string& user = "app",
                       const std::string& database = "app") const;

  // --- only for clusters of one's own
  void start(int node);           // until it answers
  void launch(int node);          // does not wait
  void stop(int node);            // fast shutdown, until it is gone
  void kill_hard(int node);       // kill -9 of the whole server: machine gone
  void kill_postmaster(int node); // kill -9 of the postmaster alone
  void freeze(int node);          // SIGSTOP to all of it
  void thaw(int node);
  void promote(int node);
  bool answers(int node) const;
  std::string log(int node) const { return read_file(folder_ + "/log" + std::to_string(node)); }

  // Both standbys have replayed what the primary has written.
  void wait_replayed() const;
  void wait_streaming(int standbys = kNodes - 1) const;

  // For the programs that ctest's fixtures run: makes the template and starts the shared cluster;
  // stops it.
  static int start_shared();
  static int stop_shared();

private:
  struct Attached {};
  explicit Cluster(Attached) {}
  void copy_template(const std::string& from);
  std::vector<std::string> server_command(int node) const;

  std::string folder_;
  std::string template_; // that this object made and removes, else empty
  std::array<int, kNodes> ports_{};
  std::array<ChildProcess, kNodes> servers_;
  bool synchronous_ = false;
  bool owner_ = false;
};

} // namespace weir::test
